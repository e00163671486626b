// The attributes of a provider object, as they stand for it in the state.

import { toJsonText } from "../originals";
import { classTree, isTree, membersOf } from "../process/syntax";
import { labelOf } from "./calls";
import { isMadeByConstructor } from "./constructors";
import { nameOf } from "./conversion";
import { VERSION_MEMBER } from "./revision";
import { RETRYABLE_MEMBER } from "./transience";

const MAX_ATTRIBUTES = 64 * 1024;

/** A class of providers. */
export type Class = (abstract new (...args: never[]) => object) & { name: string };

/** The class of an object; undefined for an object literal. */
export function classOf(provider: object): Class | undefined {
    const prototype = Object.getPrototypeOf(provider) as { constructor?: unknown } | null;
    // Object literals of another realm (jest) have another Object.prototype, which has no prototype either.
    if (prototype === null || Object.getPrototypeOf(prototype) === null) {
        const own = prototype !== null && Object.hasOwn(prototype, "isPrototypeOf");
        if (prototype === null || own) {
            return undefined;
        }
    }
    return typeof prototype.constructor === "function" ? (prototype.constructor as Class) : undefined;
}

/** The attributes that stand for an object in the state (JSON), and why those are not all of them. */
export interface StoredAttributes {
    text?: string;
    fault?: string;
}

/**
 * Those attributes of an object of a class that can be kept as canonical JSON, and why that is not all of them. `values`: in the
 * place of those that it has now.
 */
export function takenNow(provider: object, values?: ReadonlyMap<string, unknown>): StoredAttributes {
    const ownClass = classOf(provider);
    if (ownClass === undefined) {
        return {};
    }
    let problem: string | undefined;
    if (hasPrivateFields(ownClass)) {
        problem = `class \`${ownClass.name}\` keeps private fields (#...), which cannot be read and stored`;
    }
    const attributes: Record<string, unknown> = {};
    for (const key of values === undefined ? Object.keys(provider).sort() : [...values.keys()].sort()) {
        // The version is kept by itself; neither says anything about the one object.
        if (key === VERSION_MEMBER || key === RETRYABLE_MEMBER) {
            continue;
        }
        const descriptor = values?.has(key)
            ? { value: values.get(key) }
            : Object.getOwnPropertyDescriptor(provider, key);
        if (descriptor === undefined || !("value" in descriptor)) {
            problem ??= `attribute \`${key}\` of ${labelOf(provider)} is computed by a getter`;
            continue;
        }
        const value: unknown = descriptor.value;
        if (value === undefined || isMadeByConstructor(ownClass, key, value)) {
            continue;
        }
        const fault = unstorable(value, []);
        if (fault !== undefined) {
            problem ??= `attribute \`${key}\` of ${labelOf(provider)} ${fault}`;
            continue;
        }
        attributes[key] = sorted(value);
    }
    const text = toJsonText(attributes);
    if (text.length > MAX_ATTRIBUTES) {
        return {
            fault: `the attributes of ${labelOf(provider)} take ${text.length} bytes of JSON; at most ${MAX_ATTRIBUTES} are stored`,
        };
    }
    return problem === undefined ? { text } : { text, fault: problem };
}

// Why a value would not be the same after it was written as JSON and read again.
function unstorable(value: unknown, parents: object[]): string | undefined {
    if (value === null || typeof value === "string" || typeof value === "boolean") {
        return undefined;
    }
    if (typeof value === "number") {
        return Number.isFinite(value) ? undefined : `is ${value}, which JSON cannot hold`;
    }
    if (typeof value !== "object") {
        return `is a ${typeof value}, which JSON cannot hold`;
    }
    if (parents.includes(value) || parents.length > 50) {
        return "is cyclic or nested too deeply";
    }
    if (!Array.isArray(value) && classOf(value) !== undefined) {
        return `is ${nameOf(value)}, which JSON cannot hold`;
    }
    for (const member of Object.values(value)) {
        const fault = unstorable(member, [...parents, value]);
        if (fault !== undefined) {
            return `holds something that ${fault}`;
        }
    }
    return undefined;
}

// Objects with their keys in order, so that equal attributes give equal text.
function sorted(value: unknown): unknown {
    if (Array.isArray(value)) {
        return value.map(sorted);
    }
    if (value === null || typeof value !== "object") {
        return value;
    }
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}

const privateFields = new WeakMap<object, boolean>();

// Private members cannot be seen from outside, so the text of the class has to tell; down to the classes of Node itself.
function hasPrivateFields(ownClass: object): boolean {
    const known = privateFields.get(ownClass);
    if (known !== undefined) {
        return known;
    }
    let found = false;
    for (let current: unknown = ownClass; typeof current === "function"; current = Object.getPrototypeOf(current)) {
        const text = Function.prototype.toString.call(current);
        // Older targets keep private fields in WeakMaps, through helpers of these names.
        found ||= /__privateAdd\(|__classPrivateField/.test(text) || (text.includes("#") && declaresPrivate(text));
    }
    privateFields.set(ownClass, found);
    return found;
}

function declaresPrivate(classText: string): boolean {
    try {
        return membersOf(classTree(classText)).some(({ key }) => isTree(key) && key.type === "PrivateIdentifier");
    } catch {
        return true;
    }
}

/** Has the class of a provider fields that cannot be read? */
export function keepsPrivate(provider: object): boolean {
    const ownClass = classOf(provider);
    return ownClass !== undefined && hasPrivateFields(ownClass);
}
