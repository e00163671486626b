// Inputs that no message can carry: values that contain themselves, for which the SDK would go on until the memory is full, and
// texts with half of a surrogate pair. The error names resource and property.
import * as path from "node:path";
import { replaceInSdk } from "./speed";

type Serialize = (label: string, props: Record<string, unknown>, ...more: unknown[]) => Promise<unknown>;

/** Has one copy of the SDK refuse such values. */
export function refuseUnsendable(root: string): void {
    const load = (name: string): Record<string, unknown> =>
        require(path.join(root, `${name}.js`)) as Record<string, unknown>;
    const rpc = load("runtime/rpc");
    for (const name of ["serializeProperties", "serializeResourceProperties"]) {
        const original = rpc[name];
        if (typeof original === "function") {
            replaceInSdk(rpc, name, naming(original as Serialize));
        }
    }
    const debuggable = load("runtime/debuggable");
    const original = debuggable.debuggablePromise;
    if (typeof original === "function") {
        replaceInSdk(debuggable, "debuggablePromise", (promise: unknown, text?: unknown) =>
            typeof text === "string" && text.startsWith(AWAITED) && promise instanceof Promise
                ? checked(promise, text)
                : (original as (...given: unknown[]) => unknown)(promise, text),
        );
    }
}

class Unsendable extends Error {
    constructor(
        readonly path: string,
        readonly reason: string,
    ) {
        super(`'${path}' ${reason}`);
    }
}

/** How the SDK's label begins of what it awaits in order to send it. */
const AWAITED = "serializeProperty.await(";
/** More outputs than anybody nests, one in the other. */
const ENDLESS = AWAITED + "Promise<".repeat(100);

async function checked(promise: Promise<unknown>, text: string): Promise<unknown> {
    const value = await promise;
    if (text.startsWith(ENDLESS)) {
        throw new Unsendable(placeOf(text).replace(/^(.{100}).*/s, "$1..."), ITSELF);
    }
    if (value !== null && (typeof value === "object" || typeof value === "string")) {
        check(value, () => placeOf(text));
    }
    return value;
}

// `label.property` of what the SDK calls `serializeProperty.await(Promise<label.property.id>)`.
function placeOf(text: string): string {
    return text
        .slice(AWAITED.length, -1)
        .replaceAll("Promise<", "")
        .replaceAll(/(\.id)?>/g, "");
}

function naming(original: Serialize): Serialize {
    return async (label, props, ...more) => {
        try {
            for (const key of Object.keys(props)) {
                check(props[key], () => `${label}.${key}`);
            }
            return await original(label, props, ...more);
        } catch (error) {
            if (!(error instanceof Unsendable)) {
                throw error;
            }
            const property = error.path.startsWith(`${label}.`) ? error.path.slice(label.length + 1) : error.path;
            throw new TypeError(`${ownerOf(label)}: property '${property}' ${error.reason}`);
        }
    };
}

// The SDK's labels are `resource:name[type]`, mostly.
function ownerOf(label: string): string {
    if (label.startsWith("monitor.registerResourceOutputs")) {
        return "outputs of the stack or a component";
    }
    const [, name, kind] = /^resource:(.*)\[(.*)\]$/s.exec(label) ?? [];
    return kind === undefined ? label : `${kind} resource '${name}'`;
}

const ITSELF =
    "contains itself: a value has to end somewhere; leave the circle out, or pass an id or a name in its place";
const SURROGATE =
    "holds half of a surrogate pair, which is no valid text; encode it (base64), or take whole characters";

function check(value: unknown, place: () => string): void {
    if (typeof value === "string" ? !value.isWellFormed() : value !== null && typeof value === "object") {
        new Search(place).look(value);
    }
}

const TOO_DEEP =
    "is nested too deeply: values may hold 100 levels of objects and lists; make it flatter, or pass it as a text (JSON)";
/** So deep it is looked through, which is more than any message can hold. */
const MAX_LEVELS = 1000;

/** Looks through one value, as the SDK would. */
class Search {
    readonly #above = new Set<object>();
    readonly #done = new Set<object>();
    // Where the search is, kept as it goes: a list for each member would cost more than looking at it.
    readonly #at: (string | number)[] = [];

    constructor(private readonly place: () => string) {}

    look(value: unknown): void {
        if (typeof value === "string") {
            if (!value.isWellFormed()) {
                throw new Unsendable(this.#path(), SURROGATE);
            }
            return;
        }
        if (value === null || typeof value !== "object" || this.#done.has(value) || isSentByItself(value)) {
            return;
        }
        if (this.#above.has(value)) {
            throw new Unsendable(this.#path(), ITSELF);
        }
        if (this.#above.size > MAX_LEVELS) {
            throw new Unsendable(this.place(), TOO_DEEP);
        }
        this.#above.add(value);
        for (const key of Object.keys(value)) {
            this.#at.push(Array.isArray(value) ? Number(key) : key);
            if (!key.isWellFormed()) {
                throw new Unsendable(this.#path(), `has a name that ${SURROGATE}`);
            }
            this.look((value as Record<string, unknown>)[key]);
            this.#at.pop();
        }
        this.#above.delete(value);
        this.#done.add(value);
    }

    #path(): string {
        return this.place() + this.#at.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    }
}

// Outputs and promises are awaited, and resources are named.
function isSentByItself(value: object): boolean {
    const marked = value as { __pulumiOutput?: unknown; __pulumiResource?: unknown };
    return value instanceof Promise || marked.__pulumiOutput === true || marked.__pulumiResource === true;
}
