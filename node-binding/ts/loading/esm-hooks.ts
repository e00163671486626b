// Runs in Node's loader thread: puts the line of declarations.ts before ES modules that may declare providers, and finds the SDKs
// of packages that were not built.
import type { LoadHook, ResolveFnOutput, ResolveHook } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { withDeclarations } from "./declarations";
import { mayDeclareProviders } from "./packages";
import { asModule, isUnbuilt, resolveUnbuilt } from "./unbuilt-sdks";

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

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
    let resolved: ResolveFnOutput;
    try {
        resolved = await nextResolve(specifier, context);
    } catch (error) {
        const from = fileOf(context.parentURL);
        const found = from === undefined ? undefined : resolveUnbuilt(specifier, from);
        if (found === undefined) {
            throw error;
        }
        resolved = { url: pathToFileURL(found).href };
    }
    const file = fileOf(resolved.url);
    return file === undefined || !isUnbuilt(file)
        ? resolved
        : { url: pathToFileURL(file).href, format: "module", shortCircuit: true };
};

// Loaders put a query of theirs behind a file's name, or into its last part.
function fileOf(url: string | undefined): string | undefined {
    return url?.startsWith("file:") === true ? fileURLToPath(url).replace(/\?[^/\\]*$/, "") : undefined;
}

export const load: LoadHook = async (url, context, nextLoad) => {
    const file = fileOf(url);
    if (file === undefined) {
        return nextLoad(url, context);
    }
    told?.postMessage(url);
    if (isUnbuilt(file)) {
        return { format: "module", source: asModule(file), shortCircuit: true };
    }
    const loaded = await nextLoad(url, context);
    if (loaded.format !== "module" || loaded.source === null || loaded.source === undefined) {
        return loaded;
    }
    const source =
        typeof loaded.source === "string" ? loaded.source : Buffer.from(loaded.source as ArrayBuffer).toString("utf8");
    if (!mayDeclareProviders(file, source, root)) {
        return loaded;
    }
    return { ...loaded, source: withDeclarations(source, url.split(/[?#]/)[0] ?? url, "module") };
};
