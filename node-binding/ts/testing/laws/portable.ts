// What in a value is not the same in every language and in every state.

/** What in a value is not portable: path and reason. */
export function oddIn(value: unknown, path = "", above: readonly unknown[] = []): [string, string][] {
    if (typeof value === "number" && !Number.isFinite(value)) {
        const what = Number.isNaN(value) ? "not a number" : value > 0 ? "infinity" : "minus infinity";
        return [[path, `${what}, which JSON does not have`]];
    }
    if (typeof value === "string") {
        const why = "which is no valid text (a lone surrogate)";
        return value.isWellFormed() ? [] : [[path, `${JSON.stringify(value)}, ${why}`]];
    }
    if (value === null || typeof value !== "object") {
        return [];
    }
    if (above.includes(value)) {
        return [[path, "a value that contains itself"]];
    }
    return Object.entries(value).flatMap(([key, member]) => {
        const inner = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
        return oddIn(member, inner, [...above, value]);
    });
}
