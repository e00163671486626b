// What provider methods return, as JSON for the engine; and the engine's JSON as property bags for provider methods.

import {
    defineProperty,
    getOwnPropertySymbols,
    getPrototypeOf,
    hasOwn,
    isArray,
    keysOf,
    parseJson,
    toJsonText,
} from "../originals";
import type { Outputs, ResolvedOutput } from "../sdk/outputs";
import { SECRET_SIGNATURE, SIGNATURE_KEY } from "../sdk/signatures";

// Marks a number that JSON cannot hold, as Pulumi marks it in its state.
const FLOAT_SIGNATURE = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";
// Assets and archives of the inputs; whether they have a content, the engine sees.
const ASSETS = new Set<unknown>(["c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"]);
// Deeper values no state can hold.
const MAX_DEPTH = 100;
const MAX_PATH = 120;
const MAX_NOTES = 10;
const MEMBER: PropertyDescriptor = Object.assign(Object.create(null) as PropertyDescriptor, {
    value: undefined,
    enumerable: true,
    configurable: true,
    writable: true,
});

/** What is learnt of a result on its way: notes of what is kept with a reservation, and the outputs in it. */
export interface Reservations {
    notes: string[];
    outputs?: Outputs | undefined;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Bag = { [key: string]: Json };

/** A value that cannot be kept in a stack's state; `path` says where it was found. */
export class BadValue extends Error {
    constructor(
        readonly path: string,
        what: string,
    ) {
        super(`${short(path)} ${what}`);
        this.name = "BadValue";
    }
}

/**
 * A copy of a result's properties that JSON can hold; undefined members are left out, as the SDK does. `notes` takes
 * what is kept with a reservation.
 */
export function toBag(value: unknown, path: string, notes: Reservations = { notes: [] }): Bag {
    if (value === null || typeof value !== "object" || isArray(value)) {
        throw new BadValue(path, `must be an object with the resource's properties, but is ${nameOf(value)}`);
    }
    if ((value as { __pulumiOutput?: unknown }).__pulumiOutput === true) {
        throw new BadValue(path, "is a Pulumi output: return an object, with outputs (such as secrets) as its members");
    }
    const bag = toJson(value, path, [], notes) as Bag;
    if (hasOwn(bag, SIGNATURE_KEY)) {
        throw new BadValue(path, `has the key "${SIGNATURE_KEY}", which only special values have`);
    }
    return bag;
}

/** Those properties of a result that can be kept, where not all can. */
export function usable(value: unknown, outputs?: Outputs): Bag {
    const kept: Bag = {};
    // Marked as a whole, what is in it may be the secret that was meant.
    if (value === null || typeof value !== "object" || isArray(value) || hasOwn(value, SIGNATURE_KEY)) {
        return kept;
    }
    const keys = keysOf(value);
    for (let index = 0; index < keys.length; index++) {
        const key = keys[index] as string;
        try {
            const one = toBag({ [key]: (value as Record<string, unknown>)[key] }, "", { notes: [], outputs });
            kept[key] = one[key] as Json;
        } catch {
            // Left out: the failure that this belongs to names it.
        }
    }
    return kept;
}

/** What a value is, in words, for messages. */
export function nameOf(value: unknown): string {
    if (value === null || value === undefined) {
        return String(value);
    }
    if (isArray(value)) {
        return "a list";
    }
    if (typeof value === "object") {
        const name = (getPrototypeOf(value) as { constructor?: { name?: string } } | null)?.constructor?.name;
        return name === undefined || name === "Object" ? "an object" : `an object of class ${name}`;
    }
    return typeof value === "bigint" ? "a bigint" : `a ${typeof value}`;
}

function toJson(value: unknown, path: string, parents: object[], notes: Reservations): Json {
    switch (typeof value) {
        case "string":
            if (!value.isWellFormed()) {
                throw new BadValue(path, "holds half of a surrogate pair, which is no valid text");
            }
            return value;
        case "boolean":
            return value;
        case "number":
            return fromNumber(value, path, notes);
        case "object":
            return value === null ? null : fromObject(value, path, parents, notes);
        case "bigint":
            throw new BadValue(path, `is the bigint ${value}n: return a number or a string`);
        case "undefined":
            return null;
        default:
            throw new BadValue(path, `is a ${typeof value}, which cannot be kept in a state`);
    }
}

function fromNumber(value: number, path: string, { notes }: Reservations): Json {
    if (!Number.isFinite(value)) {
        note(notes, `${short(path)} is ${value}, which JSON cannot hold; it is kept as Pulumi marks it`);
        return { [SIGNATURE_KEY]: FLOAT_SIGNATURE, value: String(value) };
    }
    if (Object.is(value, -0)) {
        // JSON could hold it, but JavaScript writes it without its sign.
        return { [SIGNATURE_KEY]: FLOAT_SIGNATURE, value: "-0" };
    }
    // What JavaScript itself writes with an exponent is a measure, and no number that anybody counts to.
    if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21) {
        note(notes, `${short(path)} is a whole number beyond 2^53 and loses its last digits; return it as a text`);
    }
    return value;
}

function note(notes: string[], text: string): void {
    if (notes.length < MAX_NOTES) {
        notes.push(text);
    }
}

// A path that is readable also where a value is nested without end.
function short(path: string): string {
    return path.length <= MAX_PATH ? path : `${path.slice(0, MAX_PATH - 1)}…`;
}

function fromObject(value: object, path: string, parents: object[], notes: Reservations): Json {
    if (parents.includes(value)) {
        throw new BadValue(path, "refers back to an object that contains it: a state cannot hold cycles");
    }
    if (parents.length >= MAX_DEPTH) {
        throw new BadValue(path, `is nested more than ${MAX_DEPTH} levels deep`);
    }
    if (isArray(value)) {
        parents.push(value);
        const list = value.map((item, index) => toJson(item, `${path}[${index}]`, parents, notes));
        parents.pop();
        return list;
    }
    const output = notes.outputs?.get(value);
    if (output !== undefined) {
        return fromOutput(output, path, [...parents, value], notes);
    }
    refuseSpecial(value, path);
    const symbol = getOwnPropertySymbols(value).find((it) => Object.prototype.propertyIsEnumerable.call(value, it));
    if (symbol !== undefined) {
        throw new BadValue(path, `has the key ${String(symbol)}: keys must be texts`);
    }
    parents.push(value);
    const members: Bag = {};
    const keys = keysOf(value);
    // Without iterators and with a descriptor that inherits nothing: provider code may have changed what all lists and objects have.
    for (let index = 0; index < keys.length; index++) {
        const key = keys[index] as string;
        const member: unknown = (value as Record<string, unknown>)[key];
        if (member === undefined) {
            continue;
        }
        const at = /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${toJsonText(key)}]`;
        if (!key.isWellFormed()) {
            throw new BadValue(at, "has a name that holds half of a surrogate pair, which is no valid text");
        }
        MEMBER.value = toJson(member, at, parents, notes);
        // Plain assignment of "__proto__" would set the prototype.
        defineProperty(members, key, MEMBER);
    }
    parents.pop();
    refuseNoMark(members, path);
    return members;
}

// Objects with the key that are none of the special values that a result may hold: the state could not be read again.
function refuseNoMark(members: Bag, path: string): void {
    const mark = members[SIGNATURE_KEY];
    if (mark === undefined || ASSETS.has(mark)) {
        return;
    }
    switch (mark) {
        case SECRET_SIGNATURE:
            if (members.value === undefined) {
                throw new BadValue(path, 'is marked as a secret, but has no "value"');
            }
            return;
        case FLOAT_SIGNATURE:
            if (typeof members.value !== "string" || !/^[0-9a-f]{16}$/i.test(members.value)) {
                throw new BadValue(
                    path,
                    'is marked as a number that JSON cannot hold, but its "value" is not 16 hex digits',
                );
            }
            return;
        default:
            throw new BadValue(path, `has the key "${SIGNATURE_KEY}" with a value that is no signature of Pulumi's`);
    }
}

function fromOutput(output: ResolvedOutput | "open", path: string, parents: object[], notes: Reservations): Json {
    if (output === "open") {
        // The whole result is read once more when its outputs are there.
        return null;
    }
    if (!output.isKnown) {
        throw new BadValue(path, "is an output whose value is not known");
    }
    const value = toJson(output.value, path, parents, notes);
    return output.isSecret ? { [SIGNATURE_KEY]: SECRET_SIGNATURE, value } : value;
}

/** Is it an object of its own kind (bytes, a Map, an output), which cannot count as the members that it has? */
export function isSpecial(value: object): boolean {
    try {
        refuseSpecial(value, "");
        return false;
    } catch {
        return true;
    }
}

// Objects whose contents would be lost in silence.
function refuseSpecial(value: object, path: string): void {
    const prototype: unknown = getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) {
        return;
    }
    if ((value as { __pulumiOutput?: unknown }).__pulumiOutput === true) {
        throw new BadValue(path, "is a Pulumi output, which has no place here: return a plain value");
    }
    if ((value as { __pulumiResource?: unknown }).__pulumiResource === true) {
        throw new BadValue(path, "is a Pulumi resource: return the values that are needed of it");
    }
    if ((value as { __pulumiAsset?: unknown }).__pulumiAsset === true) {
        throw new BadValue(path, "is a Pulumi asset: a provider may return the assets of its inputs, but no new ones");
    }
    const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
    switch (tag) {
        // Instances of ordinary classes count as the data that they hold; so do objects of another realm (jest).
        case "Object":
            return;
        case "Uint8Array":
        case "ArrayBuffer":
        case "SharedArrayBuffer":
        case "DataView":
            throw new BadValue(
                path,
                `holds bytes (${nameOf(value)}): return text, for instance \`.toString("base64")\``,
            );
        case "Date":
            throw new BadValue(path, "is a Date: return text, for instance `.toISOString()`");
        case "Map":
            throw new BadValue(path, "is a Map: return `Object.fromEntries(...)`");
        case "Set":
            throw new BadValue(path, "is a Set: return a list, `[...set]`");
        case "Promise":
            throw new BadValue(path, "is a Promise: await it");
        case "String":
        case "Number":
        case "Boolean":
            throw new BadValue(path, `is a ${tag} object: return the plain value, \`.valueOf()\``);
        default:
            if (ArrayBuffer.isView(value)) {
                throw new BadValue(path, `is a ${tag}: return a list, \`[...array]\``);
            }
            throw new BadValue(path, `is ${nameOf(value)}, which cannot be kept in a state`);
    }
}

/** Reads the engine's JSON; numbers that JSON cannot hold are restored. Each call gives fresh objects. */
export function fromText(text: string): unknown {
    return text.includes(FLOAT_SIGNATURE) ? parseJson(text, revive) : parseJson(text);
}

function revive(_key: string, value: unknown): unknown {
    const marked = value as { [SIGNATURE_KEY]?: unknown; value?: unknown } | null;
    return marked !== null && typeof marked === "object" && marked[SIGNATURE_KEY] === FLOAT_SIGNATURE
        ? Number(marked.value)
        : value;
}
