// How a law was broken, in the author's terms; and comparing what a provider returned with what it should have.
import { isListed, show } from "../values";

/** What is wrong: where, what was expected, and what came. */
export interface Breach {
    /** Path of the property, or the method it is about. */
    at: string;
    expected: string;
    got: string;
    cause?: unknown;
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

    /** Writes the message in full. */
    complete(law: string, title: string, provider: string, inputs: unknown[], again: string): this {
        const { at, expected, got } = this.breach;
        this.law = law;
        this.inputs = inputs;
        const names = inputs.length === 1 ? ["inputs"] : inputs.length === 2 ? ["first", "then"] : [];
        const lines = [
            `${law} ${title}: ${provider} breaks it`,
            `    property: ${at}`,
            ...inputs.map((it, index) => `    ${names[index] ?? `inputs ${index + 1}`}: ${show(it)}`),
            `    expected: ${expected}`,
            `    found: ${got}`,
            ...(again === "" ? [] : [`    again: ${again}`]),
        ];
        this.message = lines.join("\n");
        return this;
    }
}

/** An example that says nothing, for example because `check` refuses it. */
export class Discarded extends Error {
    override readonly name = "Discarded";
}

/** Breaks the law. */
export function breach(at: string, expected: string, got: string, cause?: unknown): never {
    throw new LawBroken({ at, expected, got, cause });
}

/** A value that stands at a path in one of two results, and not in the other. */
export interface Difference {
    path: string;
    expected: unknown;
    actual: unknown;
}

/**
 * The first place at which two plain values differ. `same` says of two texts that they mean the same, such as the ids of two
 * objects.
 */
export function firstDifference(
    expected: unknown,
    actual: unknown,
    ignored: readonly string[] = [],
    same: (expected: string, actual: string) => boolean = () => false,
    path = "",
): Difference | undefined {
    if (Object.is(expected, actual) || isListed(path, ignored)) {
        return undefined;
    }
    if (typeof expected === "string" && typeof actual === "string" && same(expected, actual)) {
        return undefined;
    }
    const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === "object";
    if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
        // Zero has a sign that no state keeps.
        return expected === actual ? undefined : { path, expected, actual };
    }
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
        const next = Array.isArray(expected) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
        const found = firstDifference(expected[key], actual[key], ignored, same, next);
        if (found !== undefined) {
            return found;
        }
    }
    return undefined;
}

/** A value as a sentence has it. */
export function told(value: unknown): string {
    return value === undefined ? "nothing" : show(value);
}
