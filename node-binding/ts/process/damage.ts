// What has been changed of that which all code of a process needs. Polyfills and instrumentation change such things, too: by itself
// it is no error, but where something fails or never comes, it is told.
import { apply, getOwnPropertyDescriptor, hasOwn, ownKeys } from "../originals";

interface Member {
    name: string;
    holder: object;
    key: PropertyKey;
    value: unknown;
}

// Without the timers, which the command line itself replaces, and the listeners of `process`.
const GLOBALS = [
    "Array",
    "Buffer",
    "JSON",
    "Map",
    "Object",
    "Promise",
    "Set",
    "WeakMap",
    "queueMicrotask",
    "setImmediate",
];
const HOLDERS: [string, object][] = [
    ["Object", Object],
    ["Object.prototype", Object.prototype],
    ["Function.prototype", Function.prototype],
    ["Array", Array],
    ["Array.prototype", Array.prototype],
    ["Promise", Promise],
    ["Promise.prototype", Promise.prototype],
    ["Map.prototype", Map.prototype],
    ["Set.prototype", Set.prototype],
    ["WeakMap.prototype", WeakMap.prototype],
    ["String.prototype", String.prototype],
    ["JSON", JSON],
    ["Reflect", Reflect],
];
const MAX_NAMED = 5;

const { includes } = Array.prototype;
const known = [
    ...GLOBALS.map((key) => memberOf("", globalThis, key)),
    ...HOLDERS.flatMap(([name, holder]) => ownKeys(holder).map((key) => memberOf(name, holder, key))),
    memberOf("process", process, "nextTick"),
];
// What is added to these, everything has.
const ofAll: [string, object, PropertyKey[]][] = [
    ["Object.prototype", Object.prototype, ownKeys(Object.prototype)],
    ["Array.prototype", Array.prototype, ownKeys(Array.prototype)],
];

function memberOf(place: string, holder: object, key: PropertyKey): Member {
    return { name: nameOf(place, key), holder, key, value: valueIn(holder, key) };
}

function nameOf(place: string, key: PropertyKey): string {
    const own = typeof key === "symbol" ? `[${key.description}]` : String(key);
    return place === "" || typeof key === "symbol" ? place + own : `${place}.${own}`;
}

function valueIn(holder: object, key: PropertyKey): unknown {
    const found = getOwnPropertyDescriptor(holder, key);
    return found === undefined || hasOwn(found, "value") ? found?.value : found.get;
}

/** The names of what has been changed or taken away since this module was loaded, or added to all objects; a few. */
export function damage(): string {
    let names = "";
    let count = 0;
    const add = (name: string): void => {
        if (++count <= MAX_NAMED) {
            names += `${names === "" ? "" : ", "}${name}`;
        }
    };
    addMore(0, add);
    addMore(1, add);
    for (let index = 0; index < known.length; index++) {
        const { name, holder, key, value } = known[index] as Member;
        if (valueIn(holder, key) !== value) {
            add(name);
        }
    }
    return count > MAX_NAMED ? `${names} and ${count - MAX_NAMED} more` : names;
}

function addMore(place: 0 | 1, add: (name: string) => void): void {
    // Members by number: lists may have lost their iterator.
    const all = ofAll[place];
    const now = all === undefined ? [] : ownKeys(all[1]);
    for (let index = 0; all !== undefined && index < now.length; index++) {
        const key = now[index] as PropertyKey;
        if (!apply(includes, all[2], [key])) {
            add(nameOf(all[0], key));
        }
    }
}

/** A line for the end of a message, where there is something to tell. */
export function noteOfDamage(): string {
    const names = damage();
    return names === ""
        ? ""
        : `\nthe program or a provider has changed what all code of the process needs, and that may be why: ${names}`;
}

/** Where every object or list has a `then`, nothing comes that is awaited. */
export function everythingIsAwaited(): boolean {
    return "then" in Object.prototype || "then" in Array.prototype;
}
