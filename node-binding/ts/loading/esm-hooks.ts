// Runs in Node's loader thread: puts the line of declarations.ts before ES modules that may declare providers.
import { fileURLToPath } from "node:url";
import { withDeclarations } from "./declarations";
import { mayDeclareProviders } from "./packages";

interface Loaded {
    format?: string | null;
    source?: string | ArrayBuffer | NodeJS.TypedArray | null;
    shortCircuit?: boolean;
}

let root = "";

export function initialize(data: { root: string }): void {
    root = data.root;
}

export async function load(
    url: string,
    context: unknown,
    nextLoad: (url: string, context: unknown) => Promise<Loaded>,
): Promise<Loaded> {
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
}
