// Options of operations as flags of the command line.
import { UnsupportedError } from "./errors";
import { warnOnce } from "./warnings";

/** Options of `up` and `preview` beside the official ones. */
export interface ImportDifferencesOptions {
    /** Fail when an object of the option `import` is not as the program says, in place of updating it. */
    refuseImportDifferences?: boolean;
}

/** Where the program of an operation runs. */
export interface IsolationOptions {
    /** Run a local program in a process of its own, apart from the engine. An inline program cannot be. */
    isolated?: boolean;
}

/** Options of operations beside the official ones. */
export interface TelemetryOptions extends IsolationOptions {
    /** The address of an OpenTelemetry collector that takes traces of the operation. */
    otelTraces?: string;
}

/** Options of what works on a stack alone, beside the official ones. */
export interface LockOptions {
    /** How long to wait for a stack that somebody else works on, such as `90s` or `5m`. */
    lockTimeout?: string;
}

/** Any of the official options, and of ours. */
export type Options = object;

type Form = "switch" | "value" | "each";

// In the order in which they are put down. What is not here is either no flag, or below.
const FLAGS: Record<string, [flag: string, form: Form]> = {
    message: ["--message", "value"],
    expectNoChanges: ["--expect-no-changes", "switch"],
    refresh: ["--refresh", "switch"],
    diff: ["--diff", "switch"],
    clearPendingCreates: ["--clear-pending-creates", "switch"],
    replace: ["--replace", "each"],
    exclude: ["--exclude", "each"],
    target: ["--target", "each"],
    policyPacks: ["--policy-pack", "each"],
    policyPackConfigs: ["--policy-pack-config", "each"],
    excludeDependents: ["--exclude-dependents", "switch"],
    excludeProtected: ["--exclude-protected", "switch"],
    targetDependents: ["--target-dependents", "switch"],
    parallel: ["--parallel", "value"],
    plan: ["--plan", "value"],
    importFile: ["--import-file", "value"],
    refuseImportDifferences: ["--refuse-import-differences", "switch"],
    continueOnError: ["--continue-on-error", "switch"],
    debug: ["--debug", "switch"],
    color: ["--color", "value"],
    suppressOutputs: ["--suppress-outputs", "switch"],
    suppressProgress: ["--suppress-progress", "switch"],
    configFile: ["--config-file", "value"],
    isolated: ["--isolated", "switch"],
    otelTraces: ["--otel-traces", "value"],
    lockTimeout: ["--lock-timeout", "value"],
    page: ["--page", "value"],
};

// What only makes Pulumi's own processes tell more.
const WITHOUT_EFFECT: Record<string, string> = {
    logFlow: "there are no child processes to log",
    logVerbosity: "the engine keeps no log beside its events",
    logToStdErr: "the engine keeps no log beside its events",
    tracing: "give the address of an OpenTelemetry collector as `otelTraces`",
};

// What would change what is done.
const UNSUPPORTED: Record<string, string> = {
    converter: "converters are plugins of Pulumi's own engine; give `resources`",
    converterArgs: "converters are plugins of Pulumi's own engine; give `resources`",
    attachDebugger:
        "an inline program runs in this process: start it with `node --inspect-brk`; for a local program put `--inspect-brk` " +
        "into `runtime.options.nodeargs` of Pulumi.yaml",
};

// Verbs that understand few of them.
const FEW: Partial<Record<Verb, string[]>> = {
    rename: ["color", "configFile", "lockTimeout"],
    import: [
        "message",
        "diff",
        "color",
        "configFile",
        "suppressProgress",
        "isolated",
        "otelTraces",
        "lockTimeout",
        "page",
    ],
};

/** The verbs that take options. */
export type Verb = "up" | "preview" | "refresh" | "destroy" | "import" | "rename";

/** The flags for options. Those that cannot be served throw `UnsupportedError`, a text where a list is meant a TypeError. */
export function flagsOf(verb: Verb, options: Options): string[] {
    const given = new Map(Object.entries(options).filter(([, value]) => value !== undefined && value !== false));
    for (const [name, reason] of Object.entries(UNSUPPORTED)) {
        const value: unknown = given.get(name);
        if (value !== undefined && !(Array.isArray(value) && value.length === 0)) {
            throw new UnsupportedError(`the option \`${name}\``, reason);
        }
    }
    for (const [name, reason] of Object.entries(WITHOUT_EFFECT)) {
        if (given.get(name)) {
            warnOnce(`the option \`${name}\` has no effect: ${reason}`, "MALOKO_NO_EFFECT");
        }
    }
    const flags: string[] = [];
    for (const [name, [flag, form]] of Object.entries(FLAGS)) {
        const value: unknown = given.get(name);
        const understood = FEW[verb]?.includes(name) ?? (name !== "importFile" || verb === "preview");
        if (!understood || value === undefined || value === null || value === "" || value === 0) {
            continue;
        }
        if (form === "each") {
            if (!Array.isArray(value)) {
                const told = JSON.stringify(value);
                throw new TypeError(`\`${name}\` takes a list, not ${told}: write { ${name}: [${told}] }`);
            }
            for (const one of value as string[]) {
                flags.push(flag, one);
            }
        } else {
            // A preview writes the plan that an update follows.
            const named = name === "plan" && verb === "preview" ? "--save-plan" : flag;
            flags.push(...(form === "switch" ? [named] : [`${named}=${String(value)}`]));
        }
    }
    const { runProgram } = options as { runProgram?: boolean };
    if (runProgram !== undefined && (verb === "refresh" || verb === "destroy")) {
        flags.push(`--run-program=${runProgram}`);
    } else if (runProgram === false) {
        throw new UnsupportedError(
            "the option `runProgram`",
            "an update without the program would delete every resource",
        );
    }
    return flags;
}
