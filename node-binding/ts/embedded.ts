// Operations inside the caller's own process, with a program that is a function: for tests of providers and benches.

import { loadAddon, type NativeStack } from "./native";
import { parseJson } from "./originals";
import { messageOf } from "./process/errors";
import type { Bag } from "./providers/conversion";
import { Sdk } from "./sdk";
import { type ConfigEntry, type Order, operate } from "./testing/stack/operate";

/** A stack in a directory of this machine. */
export interface StackOptions {
    /** Where the state is kept; without it, in memory, for as long as this object lives. */
    directory?: string;
    /** Each operation begins with an empty state, which is forgotten with it: nothing is journalled. */
    unkept?: boolean;
    /** Default: `project`. */
    project?: string;
    /** Default: `dev`. */
    stack?: string;
    /** Keys and values; a key without a namespace is one of the project. */
    config?: Record<string, string>;
    /** Which of the keys are secret. */
    secretKeys?: string[];
    /** Provider calls at a time; default 16. */
    parallel?: number;
}

/** How one operation is to be done. */
export interface OperationOptions {
    targets?: string[];
    replace?: string[];
    refresh?: boolean;
    continueOnError?: boolean;
    /** Update resources whose provider's source code has changed since it last made or changed them. */
    updateChangedProviders?: boolean;
    /** Only say what would be done. */
    dryRun?: boolean;
}

/** The outcome of an operation. */
export interface Summary {
    outcome: "succeeded" | "failed" | "cancelled";
    /** Counts by kind of step, such as `{ create: 2 }`. */
    changes: Record<string, number>;
    /** What was done, in order. */
    steps: { op: string; urn: string }[];
    /** `urn` is empty for what concerns the run as a whole. */
    diagnostics: { urn: string; severity: string; message: string }[];
}

/** A `Summary` with what was thrown, for callers that expect failures. */
export interface Result extends Summary {
    /** Why the operation could not be begun or ended. */
    fault?: string;
    /** What the program or a provider threw: the very object. */
    thrown?: { value: unknown };
}

/** An operation that failed without an error object of the program's or a provider's own. */
export class OperationFailed extends Error {
    constructor(
        message: string,
        readonly result: Result,
    ) {
        super(message);
        this.name = "OperationFailed";
    }
}

/** A resource of the state, as Pulumi writes it. */
export type Row = { urn: string; type: string; id?: string; inputs?: Bag; outputs?: Bag } & Record<string, unknown>;

export { forgetProviders } from "./providers/registered";

// A test file imports this module and the SDK: the earlier one wins.
Sdk.prepare(process.cwd());

type Program = () => unknown;
type Verb = "update" | "refresh" | "destroy";

const FAILED: Summary = { outcome: "failed", changes: {}, steps: [], diagnostics: [] };

/** A stack whose operations run in this process. Several may run at once. */
export class EmbeddedStack {
    #native: NativeStack | undefined;

    constructor(private readonly options: StackOptions = {}) {}

    /** Makes the world as the program says. Throws the very error object that failed it. */
    up(program: Program, options: OperationOptions = {}): Promise<Summary> {
        return this.#checked("update", program, options);
    }

    /** Says what `up` would do. */
    preview(program: Program, options: OperationOptions = {}): Promise<Summary> {
        return this.#checked("update", program, { ...options, dryRun: true });
    }

    /** Compares the state with the real objects. */
    refresh(program: Program, options: OperationOptions = {}): Promise<Summary> {
        return this.#checked("refresh", program, options);
    }

    /** Deletes everything; the program runs for its live providers only. */
    destroy(program: Program, options: OperationOptions = {}): Promise<Summary> {
        return this.#checked("destroy", program, options);
    }

    async #checked(verb: Verb, program: Program, options: OperationOptions): Promise<Summary> {
        const result = await this.run(verb, program, options);
        if (result.outcome === "succeeded" && result.fault === undefined) {
            return result;
        }
        if (result.thrown !== undefined) {
            throw result.thrown.value;
        }
        const errors = result.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
        throw new OperationFailed(result.fault ?? (errors.join("\n") || `the operation ${result.outcome}`), result);
    }

    /** Does an operation and says how it ended, without throwing. */
    async run(verb: Verb, program: Program, { dryRun = false, ...options }: OperationOptions = {}): Promise<Result> {
        const { unkept, parallel } = this.options;
        const order: Order = {
            ...options,
            verb: verb === "update" ? "up" : verb,
            preview: dryRun,
            time: "real",
            config: this.#config(),
            references: {},
            ...(parallel === undefined ? {} : { parallel }),
            ...(unkept ? { unkept } : {}),
        };
        const place = { ...this.#names, directory: process.cwd(), providers: [], alive: false };
        try {
            const { report } = operate(this.#stack(), order, [], place, program);
            const { outcome, changes, steps, diagnostics, thrown } = await report;
            return {
                outcome: outcome === "crashed" ? "failed" : outcome,
                changes,
                steps: steps.map(([op, urn]) => ({ op, urn })),
                diagnostics,
                ...(thrown === undefined ? {} : { thrown }),
            };
        } catch (error) {
            return { ...FAILED, fault: messageOf(error) };
        }
    }

    /** The state as Pulumi's deployment (JSON), with secrets in plain text. */
    export(): string {
        return this.#stack().export();
    }

    /** Replaces the state by an exported one, which may be another stack's. Throws for a document that is not sound. */
    restore(deployment: string): void {
        this.#stack().restore(deployment, "the exported state");
    }

    /** The resources of the state that are neither the stack nor a provider, by name; with secrets in plain text. */
    resources(): Record<string, Row> {
        const { deployment } = parseJson(this.#stack().export()) as { deployment: { resources?: Row[] } };
        const shown = (deployment.resources ?? []).filter(
            ({ type }) => type !== "pulumi:pulumi:Stack" && !type.startsWith("pulumi:providers:"),
        );
        return Object.fromEntries(
            shown.map((resource) => [resource.urn.slice(resource.urn.lastIndexOf("::") + 2), resource]),
        );
    }

    get #names(): { project: string; stack: string } {
        const { project = "project", stack = "dev" } = this.options;
        return { project, stack };
    }

    #stack(): NativeStack {
        const { TestStack: Native } = loadAddon();
        const { project, stack } = this.#names;
        const { directory } = this.options;
        this.#native ??= directory === undefined ? new Native(project, stack) : Native.open(directory, project, stack);
        return this.#native;
    }

    #config(): Record<string, ConfigEntry> {
        const { config = {}, secretKeys = [] } = this.options;
        const entries = Object.entries(config).map(([key, value]): [string, ConfigEntry] => [
            key,
            { value, secret: secretKeys.includes(key) },
        ]);
        return Object.fromEntries(entries);
    }
}
