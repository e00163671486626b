// Runs in Node's loader thread: puts the line of declarations.ts before ES modules that may declare providers.
import type { LoadHook } from "node:module";
import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { withDeclarations } from "./declarations";
import { mayDeclareProviders } from "./packages";

/** What the hooks are given. */
export interface HookData {
    /** The directory of the project. */
    root: string;
    /** Is told the URL of each file that is loaded. */
    told?: MessagePort;
}

let root = "";
let told: MessagePort | undefined;

export function initialize(data: HookData): void {
    root = data.root;
    told = data.told;
}

export const load: LoadHook = async (url, context, nextLoad) => {
    if (url.startsWith("file:")) {
        told?.postMessage(url);
    }
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
