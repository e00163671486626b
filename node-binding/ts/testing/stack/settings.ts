// What the stacks of a test take and give.
import { shownByRunners } from "../frames";
import type { Call } from "./calls";
import type { PackageStub } from "./packages";
import type { Action, Plan } from "./plan";
import type { PolicyOrFolder, Remediation, Violation } from "./policies";
import type { Inputs } from "./subject";

/** What a stack begins with. */
export interface StackSettings {
    /** Configuration; a key without a namespace is one of the project. What is no text is handed over as JSON. */
    config?: Record<string, unknown>;
    /** Configuration that is secret. */
    secrets?: Record<string, string>;
    /** Outputs of other stacks, by their names, for stack references. */
    references?: Record<string, Record<string, unknown>>;
    /** The properties of a class or a bare provider; a function gets them as its argument. */
    inputs?: Inputs;
    /** The resource's name, for a class or a bare provider. Default: `it`. */
    resource?: string;
    /** Default: `project`. */
    project?: string;
    /** The stack's name. Default: `dev`. */
    name?: string;
    /** Does `up` look whether the next plans are empty? Default: true. */
    settle?: boolean;
    /** Provider calls at a time; default 16. */
    parallel?: number;
    /** Whose time the engine goes by; default: the stack's own clock, which a test can advance. */
    time?: "virtual" | "real";
    /** What the providers talk to: nothing may be left in it at the end that no resource knows. */
    world?: object;
    /**
     * The providers talk to a real cloud. The stack is kept on disk, with its journal, in `.maloko-tests`: what a killed test
     * leaves is deleted before the next run of the same test, or by a sweep (MALOKO_SWEEP=1). The engine goes by the machine's clock.
     */
    realCloud?: boolean;
    /** So long (milliseconds) a program may wait for nothing that the engine does; default 2,000. */
    quiet?: number;
    /** Provider objects of resources that the program does not make any more, where the stack has not seen them made. */
    providers?: object[];
    /** What automatic names are drawn from; the same number gives the same names. */
    seed?: number;
    /**
     * What stands in for resources and functions of packages, by token (`random:index/randomPet:RandomPet`). Those that are not
     * named give their inputs back.
     */
    stubs?: Record<string, PackageStub>;
    /** Are resources of packages stubbed, or do their plugins run? Default: `stubs`, or the variable MALOKO_PLUGINS. */
    plugins?: "stubs" | "real";
    /**
     * What stubs go by: files of schemas, and folders of such files, relative to the working directory. Default: the variable
     * MALOKO_SCHEMAS, a list as PATH is one.
     */
    schemas?: readonly string[];
}

const SETTINGS: Record<keyof StackSettings, true> = {
    config: true,
    secrets: true,
    references: true,
    inputs: true,
    resource: true,
    project: true,
    name: true,
    settle: true,
    parallel: true,
    time: true,
    world: true,
    realCloud: true,
    quiet: true,
    providers: true,
    seed: true,
    stubs: true,
    plugins: true,
    schemas: true,
};

/** Throws a TypeError for a setting that there is not: a runner does not look at types. */
export function checkSettings(given: object): void {
    for (const name of Object.keys(given)) {
        if (!Object.hasOwn(SETTINGS, name)) {
            throw new TypeError(`a stack has no setting \`${name}\`: there are ${Object.keys(SETTINGS).join(", ")}`);
        }
    }
}

/** How an operation is to be done. */
export interface OperationOptions {
    /** URNs or patterns (`**::b`) to act on. */
    targets?: string[];
    /** URNs or patterns to leave alone. */
    excludes?: string[];
    /** URNs or patterns to replace. */
    replace?: string[];
    /** Compare with the real objects first. */
    refresh?: boolean;
    /** Go on with what does not depend on a failure. */
    continueOnError?: boolean;
    /** Update resources whose provider's code has changed. */
    updateChangedProviders?: boolean;
    /** Delete and replace protected resources, too. */
    ignoreProtect?: boolean;
    /** Provider calls at a time; default: as the stack's settings say. */
    parallel?: number;
}

/** How `preview` is to be done. */
export interface PreviewOptions extends OperationOptions {
    /** Policies that look at the resources. */
    policies?: PolicyOrFolder[];
    /** How they are configured, as in a file of `--policy-pack-config`. */
    policyConfig?: Record<string, unknown>;
}

/** How `up` is to be done. */
export interface UpOptions extends PreviewOptions {
    /** Look whether the next plans are empty; default: as the stack's settings say. */
    settle?: boolean;
}

/** What is compared when a resource is taken over. */
export interface ImportOptions {
    /** Properties (`etag`, or a path: `tags.a`) that may differ. */
    ignore?: string[];
}

/** The outcome of an operation. */
export interface Outcome {
    /** What was done, by resource. */
    plan: Plan;
    /** The stack's outputs. */
    outputs: Record<string, unknown>;
    /** Counts by action, such as `{ create: 2 }`; the stack itself counts. */
    changes: Record<string, number>;
    diagnostics: { severity: string; urn: string; message: string }[];
    /** What it took by the stack's own clock, in seconds. */
    seconds: number;
    /** What policies found. */
    violations: Violation[];
    /** What policies rewrote. */
    remediations: Remediation[];
}

/** What a test has a stack do. */
export type Verb = "preview" | "up" | "refresh" | "destroy" | "import";

/** An operation that has ended, whether it failed or not. */
export interface Run extends Outcome {
    verb: Verb;
    /** `crashed`: at a point that a test chose. */
    outcome: "succeeded" | "failed" | "cancelled" | "crashed";
    /** The first error in words; null when nothing failed. */
    error: string | null;
    /** The very object that the program or a provider method threw first; undefined where none did. */
    exception: unknown;
    /** What providers were asked. */
    calls: Call[];
    /** Op and URN of each step that was done. */
    steps: [op: string, urn: string][];
    /** The paths of those of the outputs that are secret. */
    secretOutputs: string[];
}

/** A resource in the state. */
export interface ResourceState {
    urn: string;
    name: string;
    type: string;
    id: string;
    custom: boolean;
    parent: string | null;
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown>;
    /** Paths of what is secret. */
    secret: string[];
    protect: boolean;
}

/** What a resource was in the course of a test: lists, in order. */
export interface History {
    /** Each id that it had, once: two of them mean that it was replaced. */
    ids: string[];
    /** What was done to it; `same` left out. */
    actions: Action[];
    /** Its outputs after each operation that changed them. */
    outputs: Record<string, unknown>[];
}

/** A clock that stands still until somebody waits for it, or a test moves it. */
export interface TestClock {
    /** Lets time pass for limits, retries and leases of the engine. */
    advance(time: { days?: number; hours?: number; minutes?: number; seconds?: number }): void;
    /** The seconds since the stack was made. */
    readonly elapsed: number;
}

/** An object that may exist. */
export interface UnresolvedCreate {
    urn: string;
    /** Why it is not known what its `create` did. */
    reason: string;
}

/** An operation that failed without an error object of the program's or a provider's own. */
export class OperationFailed extends Error {
    override readonly name = "OperationFailed";

    constructor(
        message: string,
        readonly outcome: Outcome,
    ) {
        super(message);
    }

    /** What a test runner shows of it besides its members. */
    toJSON(): object {
        return shownByRunners(this);
    }
}

/** A stack is not as a check wants it. */
export class CheckFailed extends Error {
    override readonly name: string = "CheckFailed";
}

/** The plan after an operation is not empty: the program, or a provider, never comes to rest. */
export class NeverSettles extends CheckFailed {
    override readonly name = "NeverSettles";
}
