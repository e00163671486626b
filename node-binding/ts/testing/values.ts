// Comparing what a test expects with what was seen: subsets, patterns, and the matchers of jest and vitest.
import { inspect } from "node:util";

/** Stands in files for what is secret. */
export const HIDDEN = "[secret]";

/** What stands for a value that is not compared exactly: `expect.anything()`, `ANY`, `capture()` and their like. */
export interface AsymmetricMatcher {
    asymmetricMatch(actual: unknown): boolean;
    toString(): string;
}

/** Equal to everything that is there, also inside of other values; `undefined` is not there. */
export const ANY: AsymmetricMatcher = {
    asymmetricMatch: (actual) => actual !== undefined,
    toString: () => "ANY",
};

/** Equal to everything that is there, and remembers it. */
export class Capture implements AsymmetricMatcher {
    /** All that was compared with it, in order. */
    readonly values: unknown[] = [];

    asymmetricMatch(actual: unknown): boolean {
        if (actual === undefined) {
            return false;
        }
        this.values.push(actual);
        return true;
    }

    /** What was compared last. Throws when nothing was. */
    get value(): unknown {
        if (this.values.length === 0) {
            throw new Error("nothing was captured: the value with this `capture()` in it was never compared");
        }
        return this.values[this.values.length - 1];
    }

    toString(): string {
        return "capture()";
    }
}

/** A place in an expected value whose actual value is wanted: `const id = capture(); ...; id.value`. */
export function capture(): Capture {
    return new Capture();
}

function isAsymmetric(expected: unknown): expected is AsymmetricMatcher {
    return typeof (expected as { asymmetricMatch?: unknown } | null | undefined)?.asymmetricMatch === "function";
}

/**
 * Where a value is not as expected, as `path: what is wrong`; undefined when it is. Objects may have more members than
 * those expected; lists have to be of the same length; a regular expression looks for itself in a text.
 */
export function difference(actual: unknown, expected: unknown, path = ""): string | undefined {
    const at = path === "" ? "" : `${path}: `;
    const wrong = (): string => `${at}expected ${show(expected)}, got ${show(actual)}`;
    if (isAsymmetric(expected)) {
        return expected.asymmetricMatch(actual) ? undefined : wrong();
    }
    if (Object.prototype.toString.call(expected) === "[object RegExp]") {
        // Not `test`: a global expression would remember where it was.
        return typeof actual === "string" && actual.search(expected as RegExp) >= 0 ? undefined : wrong();
    }
    if (expected === null || typeof expected !== "object" || actual === null || typeof actual !== "object") {
        return Object.is(actual, expected) ? undefined : wrong();
    }
    if (Array.isArray(expected) !== Array.isArray(actual)) {
        return wrong();
    }
    if (Array.isArray(expected)) {
        const items = actual as unknown[];
        if (items.length !== expected.length) {
            return `${at}expected ${count(expected.length)}, got ${count(items.length)}: ${show(items)}`;
        }
        return first(expected.map((item, index) => difference(items[index], item, `${path}[${index}]`)));
    }
    const members = actual as Record<string, unknown>;
    return first(
        Object.entries(expected).map(([key, member]) =>
            difference(members[key], member, path === "" ? key : `${path}.${key}`),
        ),
    );
}

function first(differences: (string | undefined)[]): string | undefined {
    return differences.find((it) => it !== undefined);
}

function count(items: number): string {
    return items === 1 ? "1 item" : `${items} items`;
}

/** Does a value hold what is expected? `expected` as for {@link difference}. */
export function matches(actual: unknown, expected: unknown): boolean {
    return difference(actual, expected) === undefined;
}

const MAX_LENGTH = 200;

/** A value on one line, shortened. */
export function show(value: unknown): string {
    const text = isAsymmetric(value)
        ? String(value)
        : typeof value === "string"
          ? JSON.stringify(value)
          : inspect(value, { depth: 5, breakLength: Number.POSITIVE_INFINITY, sorted: true });
    return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
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
    const isOdd = typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value));
    return isOdd ? String(value) : value;
}

/** Does a name fit a pattern in which `*` stands for anything? */
export function fits(pattern: string, name: string): boolean {
    if (!pattern.includes("*")) {
        return pattern === name;
    }
    const source = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${source.join(".*")}$`, "s").test(name);
}
