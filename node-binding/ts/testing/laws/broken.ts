// How a law was broken, in the words of the engine's side; and comparing what a provider returned with what it should have.
import { loadAddon } from "../../native";
import { parseJson } from "../../process/originals";
import { isListed, show } from "../values";

type Bag = Record<string, unknown>;

/** What is wrong: where, what was expected, and what came. */
export interface Breach {
    /** Path of the property, or the method it is about. */
    at: string;
    expected: string;
    got: string;
    /** What the author of the provider can do. */
    advice?: string;
    cause?: unknown;
}

/** What became of a law, as `engine-kit/src/laws` takes it. */
export type Outcome = { outcome: string } & Bag;

/** A verdict in words. */
export function verdictText(law: string, title: string, provider: string, verdict: Outcome): string {
    return loadAddon().lawText(law, title, provider, JSON.stringify(plainJson(verdict)));
}

/** A law that does not hold. Its message has all of it, with the line that runs it again. */
export class LawBroken extends Error {
    override readonly name = "LawBroken";
    /** `L5`; for a lifecycle, `lifecycle`. */
    law = "";
    /** The inputs that show it, made as small as they can be. */
    inputs: unknown[] = [];

    constructor(readonly breach: Breach) {
        super(`${breach.at}: expected ${breach.expected}, found ${breach.got}`, { cause: breach.cause });
    }

    /** A law that could not be tried, because the provider refuses all inputs. */
    static untried(law: string, text: string, { message, cause }: Error): LawBroken {
        const at = { at: "inputs", expected: "some that the provider accepts", got: message, cause };
        return Object.assign(new LawBroken(at), { law, message: text });
    }

    /** Writes the message in full. */
    complete(law: string, title: string, provider: string, inputs: unknown[], again: string): this {
        const { at, expected, got, advice = "" } = this.breach;
        this.law = law;
        this.inputs = inputs;
        const words = { property: at, expected, found: got, advice };
        this.message = verdictText(law, title, provider, { outcome: "broken", words, inputs, again });
        return this;
    }
}

/** An error of the provider's own that nobody expected. */
export class Raised extends LawBroken {
    constructor(cause: unknown) {
        super({ at: "an error", expected: "none", got: errorText(cause), cause });
    }

    override complete(law: string, title: string, provider: string, inputs: unknown[], again: string): this {
        this.law = law;
        this.inputs = inputs;
        const raised = this.breach.got;
        this.message = verdictText(law, title, provider, { outcome: "broken", raised, inputs, again });
        return this;
    }
}

/** An example that says nothing; the message says what one would have to have. */
export class Discarded extends Error {
    override readonly name: string = "Discarded";
}

/** The provider refuses the inputs of an example. */
export class Refused extends Discarded {
    override readonly name = "Refused";
}

/** Breaks the law. */
export function breach(at: string, expected: string, got: string, cause?: unknown): never {
    throw new LawBroken({ at, expected, got, cause });
}

/** Breaks the law by what was found: `kind` and its members as `engine-kit/src/laws/finding.rs` has them, with the words. */
export function found(kind: string, members: Bag, cause?: unknown): never {
    const text = loadAddon().lawWords(JSON.stringify(plainJson({ kind, ...members })));
    const words = parseJson(text) as Record<"property" | "expected" | "found" | "advice", string>;
    throw new LawBroken({
        at: words.property,
        expected: words.expected,
        got: words.found,
        advice: words.advice,
        cause,
    });
}

/** An error as sentences have it. */
export function errorText(thrown: unknown): string {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : show(thrown);
}

/** A value as JSON has it; what JSON has not is shown as Node does. */
export function plainJson(value: unknown): unknown {
    if (Array.isArray(value)) {
        return value.map(plainJson);
    }
    if (value !== null && typeof value === "object") {
        const prototype: unknown = Object.getPrototypeOf(value);
        const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
        const members = Object.entries(value).filter(([, member]) => member !== undefined);
        return isPlain ? Object.fromEntries(members.map(([key, member]) => [key, plainJson(member)])) : show(value);
    }
    if (typeof value === "string") {
        return value.isWellFormed() ? value : JSON.stringify(value);
    }
    return typeof value === "number" && !Number.isFinite(value)
        ? String(value)
        : typeof value === "bigint"
          ? String(value)
          : value;
}

/** A value that stands at a path in one of two results, and not in the other. */
export interface Difference {
    path: string;
    expected: unknown;
    actual: unknown;
}

/** The first place at which two plain values differ, by the names of the properties; `same` compares two values that are no objects. */
export function firstDifference(
    expected: unknown,
    actual: unknown,
    ignored: readonly string[] = [],
    path = "",
    same: (expected: unknown, actual: unknown) => boolean = equal,
): Difference | undefined {
    if (Object.is(expected, actual) || isListed(path, ignored)) {
        return undefined;
    }
    const isObject = (value: unknown): value is Bag => value !== null && typeof value === "object";
    if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
        return same(expected, actual) ? undefined : { path, expected, actual };
    }
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    for (const key of Array.isArray(expected) ? keys : keys.sort()) {
        const next = Array.isArray(expected) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
        const difference = firstDifference(expected[key], actual[key], ignored, next, same);
        if (difference !== undefined) {
            return difference;
        }
    }
    return undefined;
}

// Zero has a sign that no state keeps.
function equal(one: unknown, other: unknown): boolean {
    return one === other;
}

/** What an object is made of that two objects may have in common. */
interface MadeObject {
    id: string;
    outs: unknown;
}

/** The first place, from `path` on, at which two objects differ apart from their ids, which are shown as `<id>`. */
export function firstDifferenceOf(
    expected: MadeObject,
    actual: MadeObject,
    ignored: readonly string[] = [],
    path = "",
): Difference | undefined {
    const same = (one: unknown, other: unknown): boolean =>
        typeof one === "string" && typeof other === "string"
            ? alike(one, expected.id, other, actual.id)
            : equal(one, other);
    const difference = firstDifference(expected.outs, actual.outs, ignored, path, same);
    return difference === undefined
        ? undefined
        : {
              path: difference.path,
              expected: withoutId(difference.expected, expected.id),
              actual: withoutId(difference.actual, actual.id),
          };
}

/**
 * Is `other` the text `one`, apart from the ids of the objects that they belong to? An id that stands in a text may be meant or
 * be there by chance, as `101` is in the port `41017`: a text may keep it in each place.
 */
function alike(one: string, idOfOne: string, other: string, idOfOther: string): boolean {
    if (one === other || idOfOne === "" || idOfOther === "") {
        return one === other;
    }
    const after = (piece: string, begun: Iterable<number>): Set<number> =>
        new Set([...begun].filter((at) => other.startsWith(piece, at)).map((at) => at + piece.length));
    const [first = "", ...rest] = one.split(idOfOne);
    let ends = after(first, [0]);
    for (const piece of rest) {
        ends = after(piece, new Set([...after(idOfOne, ends), ...after(idOfOther, ends)]));
    }
    return ends.has(other.length);
}

function withoutId(value: unknown, id: string): unknown {
    if (typeof value === "string") {
        return id === "" ? value : value.replaceAll(id, "<id>");
    }
    if (Array.isArray(value)) {
        return value.map((item) => withoutId(item, id));
    }
    return value !== null && typeof value === "object"
        ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutId(item, id)]))
        : value;
}

/** A value as a sentence has it. */
export function told(value: unknown): string {
    return value === undefined ? "nothing" : show(value);
}
