// Finds and loads a program of a project: TypeScript, CommonJS and native ES modules.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import Module, { createRequire } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { outside } from "../sdk";
import { acceptDeclarations, withDeclarations } from "./declarations";
import type { HookData } from "./esm-hooks";
import type { LoadedFiles } from "./loaded-files";
import { withoutCopies } from "./namespaces";
import { mayDeclareProviders } from "./packages";
import { ProjectError } from "./project-error";
import { keepLines } from "./readable";
import { findUp, loaderConfig } from "./tsconfig";
import { readUnbuiltSdks } from "./unbuilt-sdks";

/** `runtime.options` of Pulumi.yaml, as far as they concern the loading. */
export interface RuntimeOptions {
    /** Load TypeScript (default: true). */
    typescript?: boolean | string;
    /** Check the types first (default: false). */
    typecheck?: boolean | string;
    /** The tsconfig.json to use. */
    tsconfig?: string;
}

/** Where a program begins. */
export interface Entry {
    file: string;
    directory: string;
    /** Where the program runs: the project's directory, or the one that `main` of Pulumi.yaml names. */
    workingDirectory: string;
    isModule: boolean;
    /** What the user should know about the choice. */
    warning?: string;
}

// TypeScript's import() would become require() in CommonJS output of older compilers; this one stays.
const importModule = (url: string): Promise<Record<string, unknown>> => import(url) as Promise<Record<string, unknown>>;

interface Manifest {
    type?: string;
    main?: string;
    exports?: unknown;
    bin?: Record<string, string>;
}

/** The entry file of `place`, which is `main` of Pulumi.yaml or the project's directory. */
export function findEntry(place: string): Entry {
    const stats = fs.statSync(place, { throwIfNoEntry: false });
    if (stats === undefined) {
        const withExtension = firstOf(place, [".ts", ".js", ".mts", ".mjs", ".cts", ".cjs"]);
        if (withExtension === undefined) {
            throw new ProjectError(`the program ${place} does not exist: check \`main\` in Pulumi.yaml`);
        }
        return entryOf(withExtension, path.dirname(place));
    }
    if (stats.isFile()) {
        return entryOf(place, path.dirname(place));
    }
    const manifestFile = findUp(place, "package.json");
    const manifest = manifestFile === undefined ? undefined : readManifest(manifestFile);
    const named = mainOf(manifest);
    if (manifestFile !== undefined && named !== undefined) {
        const file = resolveFile(path.resolve(path.dirname(manifestFile), named));
        if (file !== undefined) {
            return entryOf(file, place);
        }
        const fallback = indexOf(place);
        if (fallback !== undefined) {
            const missing = path.resolve(path.dirname(manifestFile), named);
            const warning = `could not find the entry point ${missing} that ${manifestFile} names; using ${fallback} in its place`;
            return { ...entryOf(fallback, place), warning };
        }
        throw new ProjectError(
            `the entry point '${named}' that ${manifestFile} names does not exist${buildHint(manifest)}`,
        );
    }
    const index = indexOf(place);
    if (index === undefined) {
        throw new ProjectError(
            `no program was found in ${place}: expected index.ts or index.js there, \`main\` in package.json or \`main\` in Pulumi.yaml`,
        );
    }
    const entry = entryOf(index, place);
    return index.endsWith("index.js") && fs.existsSync(path.join(place, "index.ts"))
        ? { ...entry, warning: "found both index.js and index.ts and no explicit entry point: using index.js" }
        : entry;
}

/** An entry for a program that is gone: its files are to be loaded as they would be beside it. */
export function entryWithout(place: string): Entry {
    const directory =
        fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() === true ? place : path.dirname(place);
    const file = path.join(directory, "index.ts");
    return { file, directory, workingDirectory: directory, isModule: isModule(file) };
}

/** Refuses a project whose packages only Yarn's Plug'n'Play finds, where this process runs without it. */
export function requirePackages(directory: string): void {
    const plugAndPlay = process.versions.pnp === undefined ? findUp(directory, ".pnp.cjs") : undefined;
    if (plugAndPlay === undefined) {
        return;
    }
    try {
        createRequire(path.join(directory, "index.js")).resolve("@pulumi/pulumi/package.json");
    } catch {
        throw new ProjectError(
            `the packages of this project are found through Yarn's Plug'n'Play (${plugAndPlay}), and this process runs without it: ` +
                "add maloko to the project's dependencies and run it as `yarn maloko ...`, or set " +
                "`nodeLinker: node-modules` in .yarnrc.yml and run `yarn install`",
        );
    }
}

function entryOf(file: string, workingDirectory: string): Entry {
    const real = fs.realpathSync(file);
    return { file: real, directory: path.dirname(real), workingDirectory, isModule: isModule(real) };
}

function buildHint(manifest: (Manifest & { scripts?: Record<string, string> }) | undefined): string {
    return manifest?.scripts?.build === undefined ? "" : `; its build script has to be run first (\`npm run build\`)`;
}

function mainOf(manifest: Manifest | undefined): string | undefined {
    const conditions = (target: unknown): string | undefined => {
        if (typeof target === "string") {
            return target;
        }
        const { default: fallback, require: required, import: imported } = (target ?? {}) as Record<string, unknown>;
        const found = fallback ?? required ?? imported;
        return typeof found === "string" ? found : undefined;
    };
    const { exports } = manifest ?? {};
    if (typeof exports === "string") {
        return exports;
    }
    if (exports !== null && typeof exports === "object") {
        return conditions((exports as Record<string, unknown>)["."]);
    }
    return manifest?.main || undefined;
}

function indexOf(directory: string): string | undefined {
    return firstOf(path.join(directory, "index"), [".js", ".mjs", ".ts", ".mts", ".cjs", ".cts"]);
}

function firstOf(base: string, extensions: string[]): string | undefined {
    return extensions.map((extension) => base + extension).find((file) => fs.existsSync(file));
}

// `main` may leave the extension out, or name a folder.
function resolveFile(place: string): string | undefined {
    const stats = fs.statSync(place, { throwIfNoEntry: false });
    if (stats?.isFile() === true) {
        return place;
    }
    if (stats?.isDirectory() === true) {
        return indexOf(place);
    }
    return firstOf(place, [".js", ".ts", ".mjs", ".mts", ".cjs", ".cts"]);
}

function readManifest(file: string): Manifest | undefined {
    try {
        return JSON.parse(fs.readFileSync(file, "utf8")) as Manifest;
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") {
            return undefined;
        }
        throw new ProjectError(`${file} cannot be read: ${(error as Error).message}`);
    }
}

// As Node decides it: by the extension, else by the nearest package.json.
function isModule(file: string): boolean {
    if (/\.m[jt]s$/.test(file)) {
        return true;
    }
    if (/\.c[jt]s$/.test(file)) {
        return false;
    }
    const manifest = findUp(path.dirname(file), "package.json");
    return manifest !== undefined && readManifest(manifest)?.type === "module";
}

const isOn = (option: boolean | string | undefined, otherwise: boolean): boolean =>
    option === undefined ? otherwise : option === true || option === "true";

let prepared = false;
// Does `require` read TypeScript and ES modules, because the program is TypeScript in CommonJS?
let requiresAll = false;
let hookModules = (): void => {};

/** Makes this process ready to load program files; once per process. */
export async function prepareLoader(
    entry: Entry,
    projectRoot: string,
    options: RuntimeOptions,
    loaded?: LoadedFiles,
): Promise<void> {
    if (prepared) {
        return;
    }
    prepared = true;
    acceptDeclarations();
    const typescript = isOn(options.typescript, true);
    const hasTypeScript = typescript && (/ts$/.test(entry.file) || findUp(entry.directory) !== undefined);
    prepareHooks(projectRoot, loaded);
    if (hasTypeScript) {
        await readTypeScript(entry, options.tsconfig);
    } else {
        process.setSourceMapsEnabled(true);
        if (typescript) {
            readUnbuiltSdks();
        }
    }
    if (entry.isModule || loaded !== undefined) {
        hookModules();
    }
    declareScripts(projectRoot, withoutCopies);
}

let readsTypeScript: Promise<void> | undefined;

/** Has this process read TypeScript, where it does not yet: the first program may have been none. */
export function readTypeScript(entry: Entry, tsconfig?: string): Promise<void> {
    readsTypeScript ??= registerTypeScript(entry, tsconfig);
    return readsTypeScript;
}

async function registerTypeScript(entry: Entry, tsconfig: string | undefined): Promise<void> {
    const config = loaderConfig(entry.directory, tsconfig);
    if (config !== undefined) {
        process.env.TSX_TSCONFIG_PATH = config;
    }
    keepLines();
    (require("tsx/cjs/api") as { register(): void }).register();
    readUnbuiltSdks();
    requiresAll = !entry.isModule;
    if (entry.isModule) {
        // The CommonJS form of this API looks for its hooks in the wrong folder.
        const tsx = await import("tsx/esm/api");
        tsx.register(config === undefined ? {} : { tsconfig: config });
    }
    delete process.env.TSX_TSCONFIG_PATH;
}

function prepareHooks(root: string, loaded?: LoadedFiles): void {
    hookModules = () => {
        hookModules = () => {};
        const hooks = pathToFileURL(path.join(__dirname, "esm-hooks.js"));
        const told = loaded?.port;
        const data: HookData = told === undefined ? { root } : { root, told };
        Module.register(hooks, { data, transferList: told === undefined ? [] : [told] });
    };
}

/** Has noted what files declare that others load from here on, by whatever loader: those of a service. */
export function noteDeclarations(root: string): void {
    acceptDeclarations();
    prepareHooks(root);
    hookModules();
    declareScripts(root, (source) => source);
}

// CommonJS files, whichever loader read them, are compiled by this method.
function declareScripts(root: string, changed: (source: string) => string): void {
    const prototype = Module.prototype as unknown as {
        _compile?: (source: string, file: string, ...rest: unknown[]) => unknown;
    };
    const compile = prototype._compile;
    if (compile === undefined) {
        return;
    }
    prototype._compile = function (this: unknown, source: string, file: string, ...rest: unknown[]): unknown {
        if (!mayDeclareProviders(file, source, root)) {
            return compile.call(this, source, file, ...rest);
        }
        if (source.includes("import(")) {
            // The thread that reads ES modules takes a while to begin, and most programs never need it.
            hookModules();
        }
        // Node also compiles ES modules that were required through here; it says so in a further argument.
        const kind = rest[0] === "module" ? "module" : "script";
        return compile.call(this, withDeclarations(changed(source), file, kind), file, ...rest);
    };
}

/** Loads a program and gives what it exports: its outputs, or the function that makes them. */
export async function loadProgram(entry: Entry): Promise<unknown> {
    if (!entry.isModule) {
        return createRequire(entry.file)(entry.file);
    }
    const exports = await importModule(pathToFileURL(entry.file).href);
    if (Object.getOwnPropertyDescriptor(exports, "default") === undefined) {
        return exports;
    }
    const names = Object.keys(exports).filter((name) => name !== "module.exports");
    if (names.length !== 1) {
        throw new ProjectError(
            "expected entrypoint module to have either a default export or named exports but not both",
        );
    }
    return exports.default;
}

/** Loads one more file, to find a provider in it; resources that it makes belong to no run. */
export function loadFile(file: string): Promise<unknown> {
    if (!fs.existsSync(file)) {
        return Promise.resolve(undefined);
    }
    return outside(async () => {
        if (!isModule(file)) {
            return createRequire(file)(file) as unknown;
        }
        if (requiresAll) {
            // As the program itself loaded it: then it is the same module as the one that other files use.
            try {
                return createRequire(file)(file) as unknown;
            } catch (error) {
                if (!mustBeImported(error)) {
                    throw error;
                }
            }
        }
        hookModules();
        return importModule(pathToFileURL(file).href);
    });
}

// Modules with `await` at their top level cannot be required; nothing of such a one has run.
function mustBeImported(error: unknown): boolean {
    const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
    return name === "TransformError" || (typeof code === "string" && /^ERR_REQUIRE_/.test(code));
}

/** The file that a package in a directory begins with; undefined where it says nothing of one that is there. */
export function entryOfPackage(directory: string): string | undefined {
    const named = mainOf(readManifest(path.join(directory, "package.json")));
    return named === undefined ? indexOf(directory) : resolveFile(path.resolve(directory, named));
}

/** Checks a program's types with its own TypeScript; throws what the compiler says. */
export function checkTypes(entry: Entry, options: RuntimeOptions): void {
    if (!isOn(options.typecheck, false)) {
        return;
    }
    let manifest: string;
    try {
        manifest = createRequire(entry.file).resolve("typescript/package.json");
    } catch {
        throw new ProjectError(
            "`typecheck: true` needs TypeScript: run `npm install --save-dev typescript`, or turn the option off in Pulumi.yaml",
        );
    }
    // Version 7 shows nobody its `lib`: the command is what the package names, in every version.
    const compiler = path.join(path.dirname(manifest), readManifest(manifest)?.bin?.tsc ?? "bin/tsc");
    const config =
        options.tsconfig === undefined ? findUp(entry.directory) : path.resolve(entry.directory, options.tsconfig);
    const args = config === undefined ? ["--noEmit", "--skipLibCheck", entry.file] : ["--noEmit", "-p", config];
    const done = spawnSync(process.execPath, [compiler, ...args, "--pretty", "false"], {
        cwd: entry.directory,
        encoding: "utf8",
    });
    if (done.status !== 0) {
        throw new ProjectError(
            `the program's types are not right (typecheck: true in Pulumi.yaml):\n${done.stdout}${done.stderr}`.trimEnd(),
        );
    }
}
