// Under a debugger the lines of TypeScript stay lines: the loader would put a whole file into one, which source maps undo only for
// debuggers that read them. `node inspect` does not.
import * as inspector from "node:inspector";
import Module, { createRequire, type LoadHook } from "node:module";
import { pathToFileURL } from "node:url";

type Transform = (source: string, options: object) => unknown;

/** Has the TypeScript loader write lines, if a debugger is or may be attached; to be called before the loader is loaded. */
export function keepLines(): void {
    if (inspector.url() !== undefined) {
        // What it has kept from other runs is without lines.
        process.env.TSX_DISABLE_CACHE = "1";
        initialize();
        // ES modules are compiled in a thread of their own, which has this function called.
        Module.register(pathToFileURL(__filename));
    }
}

export function initialize(): void {
    const file = compiler();
    const esbuild = require(file) as { transform: Transform; transformSync: Transform };
    const withLines =
        (transform: Transform): Transform =>
        (source, options) =>
            transform(source, { ...options, minifyWhitespace: false });
    const cached = require.cache[file];
    if (cached !== undefined) {
        cached.exports = {
            ...esbuild,
            transform: withLines(esbuild.transform),
            transformSync: withLines(esbuild.transformSync),
        };
    }
}

/** Node gives ES modules that import the compiler what it exported at first; this gives them what it exports now. */
export const load: LoadHook = (url, context, nextLoad) => {
    const file = compiler();
    if (url !== pathToFileURL(file).href) {
        return nextLoad(url, context);
    }
    const source = `import { createRequire } from "node:module";
export const { version, transform, transformSync } = createRequire(import.meta.url)(${JSON.stringify(file)});`;
    return { format: "module", shortCircuit: true, source };
};

function compiler(): string {
    return createRequire(require.resolve("tsx/package.json")).resolve("esbuild");
}
