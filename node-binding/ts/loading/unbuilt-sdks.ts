// SDKs of packages that were generated into a project and never built. Their TypeScript counts on what its own compiler makes of
// it: `exports` is what the file exports, and stays open for what is loaded when it is first used. Other compilers make a
// copy there, so these files alone are compiled by the TypeScript that the official SDK would take.
import * as fs from "node:fs";
import Module, { createRequire } from "node:module";
import * as path from "node:path";
import type * as TypeScript from "typescript";
import { isOfPackageSdk } from "./packages";

/** TypeScript cannot be had, or is one whose compiler nobody can call. */
export class NoCompilerError extends Error {
    // Shown by its message alone: where it was raised helps nobody.
    readonly plain = true;
}

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

function compiled(file: string): string {
    const typescript = compilerFor(file);
    const { outputText } = typescript.transpileModule(withLazyNames(fs.readFileSync(file, "utf8")), {
        fileName: file,
        compilerOptions: {
            module: typescript.ModuleKind.CommonJS,
            target: typescript.ScriptTarget.ES2020,
            esModuleInterop: true,
            inlineSourceMap: true,
        },
    });
    return outputText;
}

// The names of types, as generators export them beside each class. One file alone does not say that they are none of values, and
// would have each of a package's files read, which may be thousands.
const NAMES_FROM = /^export \{ ([\w$, ]+) \} from ("\.[^"\n]+");$/gm;

/** The source with these names looked up when they are first used. No line moves. */
function withLazyNames(source: string): string {
    return source.replace(NAMES_FROM, (_, list: string, from: string) => {
        const names = list.split(",").map((name) => name.trim());
        return names
            .map(
                (name) =>
                    `Object.defineProperty(exports, "${name}", { enumerable: true, get: () => require(${from}).${name} });`,
            )
            .join(" ");
    });
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

let compiler: typeof TypeScript | undefined;

// The project's own TypeScript, as the SDK takes it; else the one that comes with the SDK.
function compilerFor(file: string): typeof TypeScript {
    compiler ??= [...compilersFor(createRequire(file))].find(canTranspile);
    if (compiler === undefined) {
        throw new NoCompilerError(
            `${path.dirname(file)} is the SDK of a package that was not built, and no TypeScript is there to read it: ` +
                "run `npm install --save-dev typescript@5`, or make the SDK with `maloko package add`, which needs no build",
        );
    }
    return compiler;
}

function* compilersFor(require: NodeRequire): Generator<unknown> {
    for (const name of ["typescript", "@pulumi/pulumi/typescript-shim"]) {
        try {
            yield require(name);
        } catch {
            // Not installed, or not there in this version of the SDK.
        }
    }
    // Beside a newer TypeScript, which nobody can call.
    const sdk = path.dirname(require.resolve("@pulumi/pulumi"));
    const vendored = path.join(sdk, "vendor");
    for (const folder of fs.existsSync(vendored) ? fs.readdirSync(vendored) : []) {
        if (folder.startsWith("typescript@")) {
            yield require(path.join(vendored, folder, "typescript.js"));
        }
    }
}

function canTranspile(module: unknown): module is typeof TypeScript {
    return typeof (module as Partial<typeof TypeScript>).transpileModule === "function";
}
