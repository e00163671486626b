// Flags for Node that a project asks for.

/** The flags in `nodeargs` of a project's runtime options; quotes keep parts together. */
export function nodeFlags(options: unknown): string[] {
    const { nodeargs } = (options ?? {}) as { nodeargs?: unknown };
    if (typeof nodeargs !== "string") {
        return [];
    }
    return nodeargs.match(/"[^"]*"|'[^']*'|\S+/g)?.map((flag) => flag.replace(/^(["'])(.*)\1$/, "$2")) ?? [];
}
