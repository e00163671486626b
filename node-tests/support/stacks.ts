// Stacks whose program is given with each operation; the kit's have one program, and look at what they do. What the package shows
// to nobody is reached by its file.
import { loadAddon, type NativeStack } from "../node_modules/maloko/dist/native.js";
import { Sdk } from "../node_modules/maloko/dist/sdk/index.js";
import { operate, type Report } from "../node_modules/maloko/dist/testing/stack/operate.js";

export { forgetProviders } from "../node_modules/maloko/dist/providers/registered.js";

// A test file imports this module and the SDK: the earlier one wins.
Sdk.prepare(process.cwd());

export interface StackOptions {
    /** Where the state is kept; without it, in memory, for as long as this object lives. */
    directory?: string;
    project?: string;
    stack?: string;
    /** Keys and values; a key without a namespace is one of the project. */
    config?: Record<string, string>;
    /** Provider calls at a time. */
    parallel?: number;
}

export interface OperationOptions {
    updateChangedProviders?: boolean;
    /** Only say what would be done. */
    dryRun?: boolean;
}

/** How an operation ended; `thrown` is what the program or a provider threw: the very object. */
export type Result = Pick<Report, "outcome" | "changes" | "diagnostics" | "thrown"> & {
    steps: { op: string; urn: string }[];
};

type Program = () => unknown;

/** A resource of the state, as Pulumi writes it. */
type Row = { urn: string; type: string; id?: string; inputs?: any; outputs?: any } & Record<string, unknown>;

/** A stack whose operations run in this process. Several may run at once. */
export class Stack {
    readonly #options: StackOptions;
    readonly #names: { project: string; stack: string };
    readonly #native: NativeStack;

    constructor({ directory, project = "project", stack = "dev", ...options }: StackOptions = {}) {
        const { TestStack } = loadAddon();
        this.#options = options;
        this.#names = { project, stack };
        this.#native =
            directory === undefined ? new TestStack(project, stack) : TestStack.open(directory, project, stack);
    }

    /** Makes the world as the program says. Throws the very error object that failed it. */
    up(program: Program, options: OperationOptions = {}): Promise<Result> {
        return this.#checked("update", program, options);
    }

    /** Says what `up` would do. */
    preview(program: Program): Promise<Result> {
        return this.#checked("update", program, { dryRun: true });
    }

    /** Compares the state with the real objects. */
    refresh(program: Program): Promise<Result> {
        return this.#checked("refresh", program);
    }

    /** Deletes everything; the program runs for its live providers only. */
    destroy(program: Program): Promise<Result> {
        return this.#checked("destroy", program);
    }

    async #checked(...asked: Parameters<Stack["run"]>): Promise<Result> {
        const result = await this.run(...asked);
        if (result.outcome === "succeeded") {
            return result;
        }
        if (result.thrown !== undefined) {
            throw result.thrown.value;
        }
        const errors = result.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
        throw new Error(errors.join("\n") || `the operation ${result.outcome}`);
    }

    /** Does an operation and says how it ended, without throwing. */
    async run(
        verb: "update" | "refresh" | "destroy",
        program: Program,
        { dryRun = false, ...options }: OperationOptions = {},
    ): Promise<Result> {
        const { config = {}, ...settings } = this.#options;
        const entries = Object.entries(config).map(([key, value]) => [key, { value, secret: false }]);
        const order = {
            ...settings,
            ...options,
            verb: verb === "update" ? ("up" as const) : verb,
            preview: dryRun,
            time: "real" as const,
            config: Object.fromEntries(entries),
            references: {},
        };
        const place = { ...this.#names, directory: process.cwd(), providers: [], alive: false };
        const { steps, ...report } = await operate(this.#native, order, [], place, program).report;
        return { ...report, steps: steps.map(([op, urn]) => ({ op, urn })) };
    }

    /** The state as Pulumi's deployment (JSON), with secrets in plain text. */
    export(): string {
        return this.#native.export();
    }

    /** Replaces the state by an exported one, which may be another stack's. Throws for a document that is not sound. */
    restore(deployment: string): void {
        this.#native.restore(deployment, "the exported state");
    }

    /** The resources of the state that are neither the stack nor a provider, by name; with secrets in plain text. */
    resources(): Record<string, Row> {
        const { resources = [] } = (JSON.parse(this.export()) as { deployment: { resources?: Row[] } }).deployment;
        const shown = resources.filter(
            ({ type }) => type !== "pulumi:pulumi:Stack" && !type.startsWith("pulumi:providers:"),
        );
        return Object.fromEntries(
            shown.map((resource) => [resource.urn.slice(resource.urn.lastIndexOf("::") + 2), resource]),
        );
    }
}
