// What the page calls things: operations, types, times. The words and signs of operations are those of the terminal.

/** The colour family of an operation; never the only sign of it. */
export type Tone = "add" | "change" | "replace" | "remove" | "read" | "same";

export interface OpWords {
    /** One or two characters, as in the terminal. */
    sign: string;
    plan: string;
    doing: string;
    done: string;
    failed: string;
    tone: Tone;
}

function words(sign: string, plan: string, doing: string, done: string, tone: Tone): OpWords {
    return { sign, plan, doing, done, failed: `failed to ${plan}`, tone };
}

const OPS: { [op: string]: OpWords } = {
    same: { sign: "=", plan: "unchanged", doing: "checking", done: "unchanged", failed: "failed", tone: "same" },
    create: words("+", "create", "creating", "created", "add"),
    update: words("~", "update", "updating", "updated", "change"),
    delete: words("-", "delete", "deleting", "deleted", "remove"),
    "delete-with": words("-", "delete with owner", "deleting with owner", "deleted with owner", "remove"),
    retain: words("<", "retain", "retaining", "retained", "remove"),
    replace: words("+-", "replace", "replacing", "replaced", "replace"),
    "create-replacement": words("++", "create replacement", "creating replacement", "replacement created", "replace"),
    "delete-replaced": words("--", "delete original", "deleting original", "original deleted", "replace"),
    "retain-replaced": words("<<", "retain original", "retaining original", "original retained", "replace"),
    read: words(">", "read", "reading", "read", "read"),
    "read-replacement": words(">>", "read replacement", "reading replacement", "replacement read", "replace"),
    refresh: words("~", "refresh", "refreshing", "refreshed", "read"),
    discard: words("<", "discard", "discarding", "discarded", "remove"),
    "discard-replaced": words("<<", "discard original", "discarding original", "original discarded", "replace"),
    "remove-pending-replace": words("-", "forget", "forgetting", "forgotten", "remove"),
    import: words("=", "import", "importing", "imported", "add"),
    "import-replacement": words("=>", "import replacement", "importing replacement", "replacement imported", "replace"),
};

/** The words for an operation; one that the page does not know is called what the data calls it. */
export function opWords(op: string): OpWords {
    return Object.hasOwn(OPS, op)
        ? (OPS[op] as OpWords)
        : { sign: "·", plan: op, doing: op, done: op, failed: `failed: ${op}`, tone: "same" };
}

/** The steps of one replacement are one operation for whoever looks for it: `replace`. */
export function family(op: string): string {
    return opWords(op).tone === "replace" ? "replace" : op;
}

/** The order in which operations are listed: what destroys first, what changes nothing last. */
const ORDER = [
    "delete",
    "delete-with",
    "remove-pending-replace",
    "replace",
    "update",
    "create",
    "import",
    "retain",
    "discard",
    "read",
    "refresh",
    "same",
];

export function byWeight(a: string, b: string): number {
    const place = (op: string) => (ORDER.indexOf(op) + ORDER.length + 1) % (ORDER.length + 1);
    return place(a) - place(b);
}

const KINDS: { [kind: string]: [string, string] } = {
    update: ["Update", "Preview of an update"],
    preview: ["Preview", "Preview"],
    refresh: ["Refresh", "Preview of a refresh"],
    destroy: ["Destroy", "Preview of a destroy"],
    import: ["Import", "Preview of an import"],
};

/** What a run is called: `Update`, `Preview of a destroy`. */
export function runName(kind: string, dryRun: boolean): string {
    return KINDS[kind]?.[dryRun ? 1 : 0] ?? kind;
}

const PROVIDER = "pulumi:providers:";
const NAMELESS = /^pulumi-(python|nodejs):dynamic:Resource$/;

/** The class of a type token: `Server` of `pulumi-python:dynamic/app:Server`. */
export function shortType(type: string): string {
    if (isProvider(type)) return `provider ${type.slice(PROVIDER.length)}`;
    // All dynamic resources whose class has no type of its own.
    if (NAMELESS.test(type)) return "dynamic Resource";
    return type.slice(type.lastIndexOf(":") + 1) || type;
}

/** The same of a resource: one that has no type of its own is called by the class of its provider, where that is known. */
export function typeOf(resource: { type: string; providerClass?: string } | undefined): string {
    if (!resource) return "";
    if (!NAMELESS.test(resource.type) || !resource.providerClass) return shortType(resource.type);
    const place = resource.providerClass;
    return `dynamic ${place.slice(place.lastIndexOf(":") + 1) || place}`;
}

/** Is it the resource of a package's provider? */
export function isProvider(type: string): boolean {
    return type.startsWith(PROVIDER);
}

const WAITS: ReadonlySet<string> = new Set(["permit", "disk", "dependency"]);

/** What an activity is called beside its resource: a method, or `waits for the journal`. */
export function activityWords({ kind, name }: { kind: string; name: string }): string {
    return WAITS.has(kind) ? `waits for ${name}` : name;
}

/** What it is called by itself: `create of db`, `db waits for the journal`. */
export function activityTitle(activity: { kind: string; name: string }, resource: string | undefined): string {
    const words = activityWords(activity);
    if (resource === undefined) return words;
    return WAITS.has(activity.kind) ? `${resource} ${words}` : `${words} of ${resource}`;
}

/** Milliseconds as `850 ms`, `1.4 s`, `41 s`, `2 min 5 s`, `3 h 10 min`. */
export function duration(ms: number): string {
    if (ms < 1) return ms > 0 ? "< 1 ms" : "0 ms";
    if (ms < 999.5) return `${Math.round(ms)} ms`;
    if (ms < 9950) return `${(ms / 1000).toFixed(1).replace(/\.0$/, "")} s`;
    const seconds = Math.round(ms / 1000);
    if (seconds < 60) return `${seconds} s`;
    if (seconds < 3600) return joined([Math.floor(seconds / 60), "min"], [seconds % 60, "s"]);
    const minutes = Math.round(seconds / 60);
    return joined([Math.floor(minutes / 60), "h"], [minutes % 60, "min"]);
}

/** The same of a time that goes on: in whole seconds, so that it does not flicker. */
export function ticking(ms: number): string {
    return ms < 1000 ? "0 s" : duration(Math.floor(ms / 1000) * 1000);
}

function joined(...parts: [number, string][]): string {
    return parts
        .filter(([count]) => count > 0)
        .map(([count, unit]) => `${count} ${unit}`)
        .join(" ");
}

/** RFC 3339 as `2026-11-20 10:02:31 UTC`; what is no time stays as it is. */
export function moment(text: string): string {
    const at = new Date(text);
    if (Number.isNaN(at.getTime())) return text;
    return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Milliseconds since the run began as `+12.345 s`. */
export function offset(ms: number): string {
    return `+${(ms / 1000).toFixed(3)} s`;
}

/** `1 call`, `5 calls`, `10,000 calls`. */
export function count(many: number, one: string, several = `${one}s`): string {
    return `${whole(many)} ${many === 1 ? one : several}`;
}

const digits = new Intl.NumberFormat("en");
export function whole(number: number): string {
    return digits.format(number);
}
