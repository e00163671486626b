// Globals as they were when this module was loaded: programs and providers may put their own in their place, and what the
// engine is answered must not depend on those.

/** The class with its methods of now, whatever becomes of those of the global one. */
function unchanging<Class extends new (...args: never[]) => object>(original: Class): Class {
    const copied = class extends (original as new (...args: never[]) => object) {};
    const { constructor: _, ...members } = Object.getOwnPropertyDescriptors(original.prototype as object);
    Object.defineProperties(copied.prototype, members);
    return copied as Class;
}

/** `Map` */
export const OwnMap = unchanging(Map);
/** `Set` */
export const OwnSet = unchanging(Set);
/** `WeakMap` */
export const OwnWeakMap = unchanging(WeakMap);

/** `JSON.parse` and `JSON.stringify`. */
export const { parse: parseJson, stringify: toJsonText } = JSON;

/** Timers that a test's fake ones leave alone. */
export const { setTimeout: later, clearTimeout: notLater } = globalThis;

/** `Promise.all`, of the `Promise` of then. */
export const allOf = Promise.all.bind(Promise) as typeof Promise.all;
