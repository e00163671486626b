// Runs in Node's loader thread: puts the line of declarations.ts before ES modules that may declare providers.
import type { LoadHook } from "node:module";
import { fileURLToPath } from "node:url";
import { withDeclarations } from "./declarations";
import { mayDeclareProviders } from "./packages";

let root = "";

export function initialize(data: { root: string }): void {
    root = data.root;
}

export const load: LoadHook = async (url, context, nextLoad) => {
    const loaded = await nextLoad(url, context);
    if (
        loaded.format !== "module" ||
        !url.startsWith("file:") ||
        loaded.source === null ||
        loaded.source === undefined
    ) {
        return loaded;
    }
    const bare = url.split(/[?#]/)[0] ?? url;
    const source =
        typeof loaded.source === "string" ? loaded.source : Buffer.from(loaded.source as ArrayBuffer).toString("utf8");
    if (!mayDeclareProviders(fileURLToPath(bare), source, root)) {
        return loaded;
    }
    return { ...loaded, source: withDeclarations(source, bare, "module") };
};
