// What a provider object has of its own, and what it has of its class.
import { copyOf, isPlain } from "./copies";

/** Its attributes. What is computed by a getter cannot be copied or set: it is none here. */
export function valuesOf(provider: object): Map<string, unknown> {
    const values = new Map<string, unknown>();
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(provider))) {
        if ("value" in descriptor) {
            values.set(key, descriptor.value);
        }
    }
    return values;
}

/** Its own getters and setters: one may put what it makes in its own place. */
export function accessorsOf(provider: object): Map<string, PropertyDescriptor> {
    const all = Object.entries(Object.getOwnPropertyDescriptors(provider));
    return new Map(all.filter(([, descriptor]) => !("value" in descriptor)));
}

/** What it has of its class where it has nothing of its own: no method, and no getter. */
export function inherited(provider: object, key: string): unknown {
    for (let at = Object.getPrototypeOf(provider) as object | null; at !== null; at = Object.getPrototypeOf(at)) {
        const descriptor = Object.getOwnPropertyDescriptor(at, key);
        if (descriptor !== undefined) {
            return typeof descriptor.value === "function" ? undefined : descriptor.value;
        }
    }
    return undefined;
}

/** Is it nothing? */
export function isAbsent(value: unknown): boolean {
    return value === undefined || value === null;
}

/** Copies of the plain arrays and objects among attributes: these change in place. */
export function contentsOf(values: Map<string, unknown>): Map<string, unknown> {
    return new Map(
        [...values].filter(([, value]) => isPlainData(value, 0)).map(([key, value]) => [key, copyOf(value)]),
    );
}

function isPlainData(value: unknown, depth: number): boolean {
    return (
        isPlain(value) && depth < 50 && Object.values(value).every((it) => isSimple(it) || isPlainData(it, depth + 1))
    );
}

function isSimple(value: unknown): boolean {
    return value === null || (typeof value !== "object" && typeof value !== "function");
}
