// Compiles the TypeScript of an SDK that was not built, with the compiler that the official SDK would take. It takes as long as the
// rest of a run, so what was made of a file is kept with other tools' caches.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import type * as TypeScript from "typescript";
import { keep, keptBeside, readKept } from "../process/kept-files";
import { ProjectError } from "./project-error";

/** The code of a file, as a script. Throws a `ProjectError` where no TypeScript is to be had whose compiler can be called. */
export function compiled(file: string): string {
    const source = fs.readFileSync(file, "utf8");
    const kept = keptFor(file, source);
    const known = kept === undefined ? undefined : readKept(kept);
    if (known !== undefined) {
        return known;
    }
    const code = compile(file, source);
    if (kept !== undefined) {
        keep(kept, code);
    }
    return code;
}

let own: Buffer | undefined;

// Beside the official SDK. The last part of a file's name is in its code, for errors.
function keptFor(file: string, source: string): string | undefined {
    own ??= fs.readFileSync(__filename);
    const hash = createHash("sha256")
        .update(own)
        .update(`${path.basename(file)}\0`)
        .update(source);
    try {
        const sdk = createRequire(file).resolve("@pulumi/pulumi/package.json");
        return keptBeside(sdk, "sdks", `${hash.digest("hex").slice(0, 32)}.js`);
    } catch {
        return undefined;
    }
}

function compile(file: string, source: string): string {
    const typescript = compilerFor(file);
    const { outputText } = typescript.transpileModule(withLazyNames(source), {
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

let compiler: typeof TypeScript | undefined;

// The project's own TypeScript, as the SDK takes it; else the one that comes with the SDK.
function compilerFor(file: string): typeof TypeScript {
    compiler ??= [...compilersFor(createRequire(file))].find(canTranspile);
    if (compiler === undefined) {
        throw new ProjectError(
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
