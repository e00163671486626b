// What a method returned, in words, for the record of an object that was made and cannot be read.
import { inspect } from "node:util";

const MAX_LENGTH = 4000;

/** The value in a few words. None of its own code is run. */
export function describeResult(value: unknown): string {
    try {
        const text = inspect(value, {
            depth: 8,
            maxArrayLength: 50,
            maxStringLength: 500,
            breakLength: Number.POSITIVE_INFINITY,
            customInspect: false,
            getters: false,
            showProxy: true,
        });
        return text.slice(0, MAX_LENGTH).toWellFormed();
    } catch {
        return `a value that cannot be shown (${typeof value})`;
    }
}

/** The id that a result seems to tell, in text; empty when there is none. */
export function idIn(result: unknown): string {
    try {
        const id = (result as { id?: unknown } | null | undefined)?.id;
        const text = typeof id === "string" || typeof id === "number" || typeof id === "bigint" ? String(id) : "";
        return text.isWellFormed() ? text.slice(0, MAX_LENGTH) : "";
    } catch {
        // A getter of the result throws.
        return "";
    }
}
