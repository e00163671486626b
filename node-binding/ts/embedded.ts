// Operations inside the caller's own process, with a program that is a function: for tests of providers and benches.
import { Bridge, ProgramFailed } from "./bridge";
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
}

/** What came of an operation. */
export interface Summary {
    outcome: "succeeded" | "failed" | "cancelled";
    /** Counts by kind of step, such as `{ create: 2 }`. */
    changes: Record<string, number>;
    steps: { op: string; urn: string; failed?: boolean }[];
    diagnostics: { urn: string | null; severity: string; message: string }[];
}

/** An operation that failed without an error object of the program's or a provider's own. */
export class OperationFailed extends Error {
    constructor(
        message: string,
        readonly summary: Summary | undefined,
    ) {
        super(message);
        this.name = "OperationFailed";
    }
}

type Program = () => unknown;

// 0 is the command line's.
let lastOperation = 0;

/** A stack whose operations run in this process. Several may run at once. */
export class EmbeddedStack {
    constructor(private readonly options: StackOptions = {}) {}

    /** Makes the world as the program says. Throws the very error object that failed it. */
    up(program: Program, options: OperationOptions = {}): Promise<Summary> {
        return this.#operate("update", false, program, options);
    }

    /** Says what `up` would do. */
    preview(program: Program, options: OperationOptions = {}): Promise<Summary> {
        return this.#operate("update", true, program, options);
    }

    /** Compares the state with the real objects. */
    refresh(program: Program, options: OperationOptions = {}): Promise<Summary> {
        return this.#operate("refresh", false, program, options);
    }

    /** Deletes everything; the program runs for its live providers only. */
    destroy(program: Program, options: OperationOptions = {}): Promise<Summary> {
        return this.#operate("destroy", false, program, options);
    }

    async #operate(verb: string, dryRun: boolean, program: Program, operation: OperationOptions): Promise<Summary> {
        const bridge = Bridge.get();
        const sdk = Sdk.load(process.cwd());
        const number = ++lastOperation;
        const {
            directory,
            project = "project",
            stack = "dev",
            config = {},
            secretKeys = [],
            passphrase = "embedded",
            parallel = 16,
        } = this.options;
        const settings = { project, stack, organization: "organization", dryRun, config, secretKeys };
        const registry = new ProviderRegistry(bridge.native, process.cwd());
        const run = new Run(bridge, registry, (_engine, _text, it) => it.execute(sdk, settings, "program", program));
        bridge.serve(number, run);
        try {
            const report = JSON.parse(
                await bridge.runOperation(
                    number,
                    JSON.stringify({
                        verb,
                        dryRun,
                        directory: directory ?? null,
                        project,
                        stack,
                        passphrase,
                        config,
                        secretKeys,
                        parallel,
                        ...operation,
                        program: { registry: number },
                    }),
                ),
            ) as Summary & { error: number; fault?: string };
            return settle(bridge, report);
        } finally {
            registry.close();
            bridge.stopServing(number);
        }
    }
}

function settle(bridge: Bridge, report: Summary & { error: number; fault?: string }): Summary {
    const { fault, error, ...summary } = report;
    if (fault !== undefined) {
        throw new OperationFailed(fault, undefined);
    }
    if (summary.outcome === "succeeded") {
        return summary;
    }
    const original = bridge.errorOf(error);
    if (original !== undefined) {
        throw original.thrown instanceof ProgramFailed ? original.thrown.thrown : original.thrown;
    }
    const errors = summary.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    throw new OperationFailed(errors.join("\n") || `the operation ${summary.outcome}`, summary);
}
