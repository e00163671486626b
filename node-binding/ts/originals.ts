// Globals as they were when this module was loaded: programs and providers may put their own in their place, and what the
// engine is answered must not depend on those.

/** `Reflect.apply` and `Reflect.ownKeys`. */
export const { apply, ownKeys } = Reflect;
const { defineProperty: restore, deleteProperty } = Reflect;

/** The class with its methods of now, whatever becomes of those of the global one. */
function unchanging<Class extends new (...args: never[]) => object>(original: Class): Class {
    const copied = class extends (original as unknown as new (content?: unknown) => object) {
        // Without it, some versions of Node hand on what they are given by the iterator of all lists.
        // biome-ignore lint/complexity/noUselessConstructor: see above
        constructor(content?: unknown) {
            super(content);
        }
    };
    const { constructor: _, ...members } = Object.getOwnPropertyDescriptors(original.prototype as object);
    Object.defineProperties(copied.prototype, members);
    return copied as unknown as Class;
}

/** `Map` */
export const OwnMap = unchanging(Map);
/** `Set` */
export const OwnSet = unchanging(Set);
/** `WeakMap` */
export const OwnWeakMap = unchanging(WeakMap);
/** `WeakSet` */
export const OwnWeakSet = unchanging(WeakSet);
/** `AbortController` */
export const OwnAbortController = AbortController;

/** `Object.keys`, `Object.hasOwn` and the like. */
export const {
    defineProperty,
    getOwnPropertyDescriptor,
    getOwnPropertySymbols,
    getPrototypeOf,
    hasOwn,
    keys: keysOf,
} = Object;

/** `Array.isArray`. */
export const { isArray } = Array;

const { parse, stringify } = JSON;

/** `JSON.parse` */
export const parseJson = parse;

/** `JSON.stringify`, whatever all objects or all lists have as `toJSON`. */
export const toJsonText = ((value: unknown, replacer?: never, space?: string | number) =>
    without(Object.prototype, () =>
        without(Array.prototype, () => stringify(value, replacer, space)),
    )) as typeof stringify;

function without(holder: object, action: () => string): string {
    const added = getOwnPropertyDescriptor(holder, "toJSON");
    if (added === undefined || !deleteProperty(holder, "toJSON")) {
        return action();
    }
    try {
        return action();
    } finally {
        restore(holder, "toJSON", added);
    }
}

/** Timers that a test's fake ones leave alone. */
export const { setTimeout: later, clearTimeout: notLater, setInterval: every } = globalThis;
export const { setImmediate: soon, clearImmediate: notSoon } = globalThis;

/** `Promise` */
export const OwnPromise = Promise;
const { then } = Promise.prototype;

/** `Promise.all`, for lists. */
export const allOf = waitForAll as typeof Promise.all;

function waitForAll<T>(all: readonly T[]): Promise<Awaited<T>[]> {
    return new OwnPromise((resolve, reject) => {
        const results: Awaited<T>[] = [];
        let open = all.length;
        if (open === 0) {
            resolve(results);
        }
        for (let index = 0; index < all.length; index++) {
            const take = (result: Awaited<T>): void => {
                results[index] = result;
                if (--open === 0) {
                    resolve(results);
                }
            };
            apply(then, awaited(all[index] as T), [take, reject]);
        }
    });
}

// `await` asks nobody for `then` of a promise.
async function awaited<T>(value: T): Promise<Awaited<T>> {
    return await value;
}
