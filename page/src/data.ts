// What a page shows: the contract between the engine, which writes this as JSON, and the page, which reads it.
//
// Every member that is absent means "none" or "not known". Texts are data of users: never markup. Nothing in here is a
// secret: the engine has put `{ "$": "secret" }` in the place of each.

/** A property value. A user's object that has the key `$` itself comes as `{ $: "object", members }`. */
export type PropertyValue =
    | null
    | boolean
    | number
    | string
    | PropertyValue[]
    | { [key: string]: PropertyValue }
    | Special;

/** What plain JSON cannot say. */
export type Special =
    | { $: "secret" }
    | { $: "unknown" }
    | { $: "asset" | "archive" | "resource" | "number"; text: string }
    | { $: "object"; members: { [key: string]: PropertyValue } };

export type Properties = { [key: string]: PropertyValue };

/** The whole document. */
export interface PageData {
    format: 1;
    /** The version of maloko that wrote it. */
    maloko: string;
    /** When it was written: RFC 3339 in UTC. */
    written: string;
    project: string;
    stack: string;
    /** What its secrets are encrypted with: `passphrase`, or scheme, host and path of a service's key. */
    secretsProvider?: string;
    /** The resources of the stack after the run, in the state's order, then those that the run removed (`gone`). */
    resources: Resource[];
    /** The stack's outputs. */
    outputs: Properties;
    /** Absent on a page of the stack alone. */
    run?: Run;
    /** Two states of the stack side by side. */
    comparison?: Comparison;
    /** Operations of the past, newest first. */
    history: HistoryItem[];
    /** Creates whose outcome is unknown. */
    unresolvedCreates: UnresolvedCreate[];
}

/** Indices are those of `PageData.resources`. */
export interface Resource {
    urn: string;
    name: string;
    /** The type token, such as `pulumi-python:dynamic/app:Server`. */
    type: string;
    id?: string;
    /** Has it a provider, so no component? */
    custom: boolean;
    parent?: number;
    /** What it depends on, with the properties by which it does; without properties: by `dependsOn` alone. */
    dependencies?: { on: number; properties: string[] }[];
    deletedWith?: number;
    replaceWith?: number[];
    /** The provider resource that serves it, of a package. */
    provider?: number;
    /** The class of the live object that serves it, such as `service:Servers`. */
    providerClass?: string;
    inputs?: Properties;
    outputs?: Properties;
    /** Options in words: `["protect", "true"]`, `["ignoreChanges", "tags, size"]`. */
    options?: [string, string][];
    /** Where the program made it: `__main__.py:12`. */
    source?: string;
    created?: string;
    modified?: string;
    /** The run removed it. */
    gone?: true;
    /** What is special about it. */
    marks?: ("protected" | "tainted" | "external" | "pendingDelete" | "pendingReplacement" | "unhealthy")[];
    initErrors?: string[];
    /** The operations of the past that changed it, newest first. */
    operations?: PastOperation[];
}

/** What an operation of the past did to a resource. */
export interface PastOperation {
    version: number;
    op: string;
    /** When the operation began: RFC 3339 in UTC. */
    at: string;
    failed?: true;
    /** The properties because of which it was a replacement. */
    keys?: string[];
    /** Absent where that is no longer known, or was too much for the page. */
    changes?: Change[];
}

export interface Run {
    kind: "update" | "preview" | "refresh" | "destroy" | "import";
    /** Would nothing have been changed? */
    dryRun: boolean;
    /** Its number in `PageData.history`, which has it if it is a run of the past. */
    version?: number;
    /** `unfinished`: it goes on, or its process was killed. */
    outcome: "succeeded" | "failed" | "cancelled" | "unfinished";
    /** RFC 3339 in UTC. */
    began: string;
    /** Milliseconds. */
    duration: number;
    /** What the user wrote about it (`--message`). */
    message?: string;
    /** Counts by operation. */
    changes: { [op: string]: number };
    steps: Step[];
    activities: Activity[];
    diagnostics: Diagnostic[];
    /** What the run's duration is made of, first to last. */
    criticalPath: PathItem[];
    /** The plan that was shown before: operations by resource. */
    plan?: { resource: number; op: string }[];
}

/** One operation on one resource. Times are milliseconds since the run began. */
export interface Step {
    resource: number;
    /** `create`, `update`, `delete`, `replace`, `create-replacement`, `delete-replaced`, `same`, `read`, `refresh`, `import`... */
    op: string;
    status: "running" | "done" | "failed";
    began: number;
    ended?: number;
    /** The properties whose change makes it a replacement. */
    keys?: string[];
    changes?: Change[];
    /** The replacement of another resource that led to this one. */
    because?: Cause;
    /** A short note, such as `taint`. */
    note?: string;
}

/** Why a resource is replaced: because this other one is. */
export interface Cause {
    resource: number;
    kind: "property" | "replaceWith" | "deletedWith";
    /** For `property`. */
    property?: string;
}

/** A property that differs. */
export interface Change {
    /** `tags.team`, `ports[0]`. */
    path: string;
    kind: "add" | "delete" | "update";
    /** Is it a reason for a replacement? */
    replace?: true;
    old?: PropertyValue;
    new?: PropertyValue;
}

/** Something that took time. */
export interface Activity {
    /**
     * `call`: a method of a provider. `permit`: waiting for `--parallel` or the limit of a provider class. `disk`: waiting
     * until the journal is on the disk. `dependency`: waiting for what has to be done before, such as deletions. `pause`: waiting
     * before another attempt. `hook`: a hook or transform of the program. `plugin`: a plugin starts or is asked.
     */
    kind: "call" | "permit" | "disk" | "dependency" | "pause" | "hook" | "plugin";
    /** `create`, `diff`...; of others: what is waited for, in words. */
    name: string;
    resource?: number;
    /** Milliseconds since the run began. */
    began: number;
    /** Milliseconds; absent: it has not ended. */
    duration?: number;
    /** From 1; absent for the first. */
    attempt?: number;
    /** `unknown`: it was given up or cut off, and nobody knows what it did. */
    outcome?: "ok" | "failed" | "unknown";
    error?: string;
    /** Lines of the error's traceback. */
    traceback?: string;
}

/** A part of the critical path: an activity, or the time in which the program itself worked. */
export interface PathItem {
    /** Index of `Run.activities`. */
    activity?: number;
    /** Milliseconds since the run began, and how long. */
    began: number;
    duration: number;
    /** In words, such as `create of web-1` or `the program`. */
    text: string;
}

export interface Diagnostic {
    resource?: number;
    severity: "debug" | "info" | "output" | "warning" | "error";
    message: string;
    /** Milliseconds since the run began. */
    at: number;
}

/** How two states of a stack differ. Its steps are `create`, `update`, `delete`. */
export interface Comparison {
    /** What is compared, in words: `version 3 (2026-11-20 10:02)`. */
    from: string;
    to: string;
    steps: Step[];
}

export interface HistoryItem {
    version: number;
    kind: string;
    result: string;
    message?: string;
    /** RFC 3339 in UTC. */
    began: string;
    /** Milliseconds. */
    duration: number;
    changes: { [op: string]: number };
    /** Where and by whom: `maloko.user`, `git.head`... */
    environment?: { [key: string]: string };
}

export interface UnresolvedCreate {
    urn: string;
    name: string;
    type: string;
    inputs?: Properties;
    /** What is known of it, in words. */
    reason?: string;
    /** Since when: RFC 3339 in UTC. */
    since?: string;
}

/**
 * What a live page is sent. First `page`, the whole document; then `more`: members to put at their index (an index equal to
 * the length appends). The stream ends with the run, after a last `more` whose outcome is not `unfinished`.
 */
export interface More {
    resources?: [number, Resource][];
    outputs?: Properties;
    steps?: [number, Step][];
    activities?: [number, Activity][];
    diagnostics?: [number, Diagnostic][];
    run?: Partial<Pick<Run, "outcome" | "duration" | "changes" | "plan" | "criticalPath">>;
}
