// SDKs of packages that were generated into a project and never built. Their TypeScript counts on what its own compiler makes of
// it: `exports` is what the file exports, and stays open for what is loaded when it is first used. Other compilers make a
// copy there, so these files alone are compiled by the TypeScript that the official SDK would take.
import Module, { createRequire } from "node:module";
import { isOfPackageSdk } from "./packages";
import { compiled } from "./sdk-compiler";

/** Is it a TypeScript file of such an SDK? */
export function isUnbuilt(file: string): boolean {
    return file.endsWith(".ts") && !file.endsWith(".d.ts") && isOfPackageSdk(file);
}

type Extension = (module: NodeJS.Module, file: string) => void;
interface Compiling extends NodeJS.Module {
    _compile(source: string, file: string): void;
}
const extensions = (Module as unknown as { _extensions: Record<string, Extension | undefined> })._extensions;

let reading: Extension | undefined;

/** Has `require` read such files, whoever reads the other TypeScript of the program. May be called again, after that was decided. */
export function readUnbuiltSdks(): void {
    const others = extensions[".ts"];
    if (others !== undefined && others === reading) {
        return;
    }
    reading = (module, file) => {
        const read = isUnbuilt(file) ? undefined : (others ?? extensions[".js"]);
        if (read === undefined) {
            (module as Compiling)._compile(compiled(file), file);
        } else {
            read(module, file);
        }
    };
    extensions[".ts"] = reading;
}

/** The file that an import means, where it is one of such an SDK: Node's ES modules do not look for it. */
export function resolveUnbuilt(specifier: string, from: string): string | undefined {
    readUnbuiltSdks();
    try {
        const file = createRequire(from).resolve(specifier);
        return isUnbuilt(file) ? file : undefined;
    } catch {
        return undefined;
    }
}

/** An ES module that exports what such a file does. It is the one that `require` gives: a class is there once. */
export function asModule(file: string): string {
    const names = [...exportedBy(file)].filter((name) => name !== "default" && name !== "__esModule");
    const lines = names.map((name, index) => `const _${index} = sdk.${name};\nexport { _${index} as ${name} };`);
    return [
        'import { createRequire } from "node:module";',
        `const sdk = createRequire(import.meta.url)(${JSON.stringify(file)});`,
        "export default sdk;",
        ...lines,
    ].join("\n");
}

// As TypeScript writes what a file exports itself, and what it passes on.
const EXPORTED = /\bexports\.([A-Za-z_$][\w$]*) = |\bdefineProperty\(exports, "([^"]+)"/g;
const PASSED_ON = /\b__export(?:Star)?\(require\("([^"]+)"\)/g;

function exportedBy(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) {
        return new Set();
    }
    seen.add(file);
    const source = compiled(file);
    const names = new Set([...source.matchAll(EXPORTED)].map(([, plain, defined]) => plain ?? defined ?? ""));
    for (const [, from = ""] of source.matchAll(PASSED_ON)) {
        const other = resolveUnbuilt(from, file);
        if (other !== undefined) {
            exportedBy(other, seen).forEach(names.add, names);
        }
    }
    return names;
}
