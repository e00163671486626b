// Operations inside the caller's own process, with a program that is a function: for tests of providers and benches.
import * as fs from "node:fs";
import * as path from "node:path";
import { Bridge } from "./bridge";
import type { Bag } from "./convert";
import { ProviderRegistry } from "./registry";
import { Run } from "./run";
import { Sdk } from "./seams";

/** A stack in a directory of this machine. */
export interface StackOptions {
    /** Where the state is kept; without it, it begins empty and is forgotten with the operation. */
    directory?: string;
    /** Default: `project`. */
    project?: string;
    /** Default: `dev`. */
    stack?: string;
    /** Full keys (`project:key`) and values. */
    config?: Record<string, string>;
    /** Which of the keys are secret. */
    secretKeys?: string[];
    /** Encrypts secrets in the state; default: a text that everybody knows. */
    passphrase?: string;
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

/** What came of an operation. */
export interface Summary {
    outcome: "succeeded" | "failed" | "cancelled";
    /** Counts by kind of step, such as `{ create: 2 }`. */
    changes: Record<string, number>;
    steps: { op: string; urn: string; failed?: boolean }[];
    diagnostics: { urn: string | null; severity: string; message: string }[];
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

/** A row of the state, as Pulumi writes it. */
export type Row = { urn: string; type: string; id?: string; inputs?: Bag; outputs?: Bag } & Record<string, unknown>;

export { forgetProviders } from "./by-hand";

// A test file imports this module and the SDK: the earlier one wins.
Sdk.prepare(process.cwd());

type Program = () => unknown;
type Verb = "update" | "refresh" | "destroy";

const DEFAULTS = {
    project: "project",
    stack: "dev",
    config: {} as Record<string, string>,
    secretKeys: [] as string[],
    passphrase: "embedded",
    parallel: 16,
};

// 0 is the command line's.
let lastOperation = 0;

/** A stack whose operations run in this process. Several may run at once. */
export class EmbeddedStack {
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
    async run(verb: Verb, program: Program, options: OperationOptions = {}): Promise<Result> {
        const bridge = Bridge.get();
        const sdk = Sdk.load(process.cwd());
        const number = ++lastOperation;
        const stack = { ...DEFAULTS, ...this.options };
        const settings = { dryRun: false, ...stack, ...options, verb, program: { registry: number } };
        const registry = new ProviderRegistry(bridge.native, process.cwd());
        const run = new Run(bridge, registry, (_engine, _text, it) =>
            it.execute(sdk, { ...settings, organization: "organization" }, "program", program),
        );
        run.guardModuleBodies(stack.project, stack.stack);
        bridge.serve(number, run);
        try {
            const report = await bridge.runOperation(
                number,
                JSON.stringify({ ...settings, directory: stack.directory ?? null }),
            );
            return resultOf(bridge, JSON.parse(report));
        } finally {
            registry.close();
            bridge.stopServing(number);
        }
    }

    /** The rows of the state that are neither the stack nor a provider, by name. */
    resources(): Record<string, Row> {
        const { directory = "", project, stack } = { ...DEFAULTS, ...this.options };
        const file = path.join(directory, ".pulumi", "stacks", project, `${stack}.json`);
        const { checkpoint } = JSON.parse(fs.readFileSync(file, "utf8")) as {
            checkpoint: { latest?: { resources?: Row[] } };
        };
        const rows = checkpoint.latest?.resources ?? [];
        const shown = rows.filter(
            ({ type }) => type !== "pulumi:pulumi:Stack" && !type.startsWith("pulumi:providers:"),
        );
        return Object.fromEntries(shown.map((row) => [row.urn.slice(row.urn.lastIndexOf("::") + 2), row]));
    }
}

function resultOf(bridge: Bridge, report: Result & { error: number }): Result {
    const { error, ...result } = report;
    const original = bridge.errorOf(error);
    const empty = { outcome: "failed" as const, changes: {}, steps: [], diagnostics: [] };
    return { ...empty, ...result, ...(original === undefined ? {} : { thrown: { value: original.thrown } }) };
}
