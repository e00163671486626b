// Globals as they were when this module was loaded: programs and providers may put their own in their place, and what the
// engine is answered must not depend on those.

/** `JSON.parse` and `JSON.stringify`. */
export const { parse: parseJson, stringify: toJsonText } = JSON;

/** Timers that a test's fake ones leave alone. */
export const { setTimeout: later, clearTimeout: notLater } = globalThis;

/** `Promise.all`, of the `Promise` of then. */
export const allOf = Promise.all.bind(Promise) as typeof Promise.all;
