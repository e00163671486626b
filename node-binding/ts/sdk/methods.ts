// The methods of a provider that the engine calls.

/** Their names, in the order of the bits that `describe` takes. */
export const METHODS: readonly string[] = [
    "configure",
    "check",
    "diff",
    "create",
    "read",
    "update",
    "delete",
    "find",
    "close",
];
