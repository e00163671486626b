// What the files of a program declare at their top level, exported or not: by this a provider's class or constant is
// found again in a later run. The loader puts one line before each program file that hands us closures over its
// top-level names; they are only called when a provider is looked up.
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { type BlockStatement, type Node, type Pattern, type Program, parse } from "acorn";
import { boundNames } from "../process/syntax";

// The line that is put into program files finds us by this name, also from another copy of this package.
const HOOK = "maloko.declare";
const MAX_PARSED = 4_000_000;
// Hardly a line that a person wrote is as long.
const LONG_LINE = 200;

type Names = Record<string, () => unknown>;

const files = new Map<string, Names>();

/** Begins to take what program files declare. */
export function acceptDeclarations(): void {
    Object.defineProperty(globalThis, Symbol.for(HOOK), {
        configurable: true,
        value: (file: string, names: Names) => {
            files.set(file.startsWith("file:") ? fileURLToPath(file) : file, names);
        },
    });
}

/** The files that told what they declare. */
export function declaredFiles(): Iterable<string> {
    return files.keys();
}

/** A top-level value of a file by its name; undefined when there is none (yet). */
export function declaredValue(file: string, name: string): unknown {
    const names = files.get(file);
    return names !== undefined && Object.hasOwn(names, name) ? readName(names[name]) : undefined;
}

/** Where a class or object is declared: its file and the name there. */
export function findDeclaration(wanted: unknown): { file: string; name: string } | undefined {
    for (const [file, names] of files) {
        for (const [name, read] of Object.entries(names)) {
            if (readName(read) === wanted) {
                return { file, name };
            }
        }
    }
    return undefined;
}

// A name whose declaration was not reached yet cannot be read.
function readName(read: (() => unknown) | undefined): unknown {
    try {
        return read?.();
    } catch {
        return undefined;
    }
}

/** The values of a name in the files of a directory, each once. */
export function declaredIn(directory: string, name: string): unknown[] {
    const found = new Set<unknown>();
    for (const file of files.keys()) {
        if (file.startsWith(directory + path.sep)) {
            found.add(declaredValue(file, name));
        }
    }
    found.delete(undefined);
    return [...found];
}

/** JavaScript with a line before it that declares its top-level names. `file` is a path or URL. */
export function withDeclarations(source: string, file: string, kind: "module" | "script"): string {
    const program = source.length > MAX_PARSED ? undefined : parsed(source, kind);
    if (program === undefined) {
        return source;
    }
    const wrapped = wrappedBody(program);
    const body = wrapped?.body ?? program.body;
    const names = namedIn(body as Declaration[]);
    if (names.size === 0) {
        return source;
    }
    const closures = [...names].map(([name, local]) => `${JSON.stringify(name)}:()=>${local}`).join(",");
    const first = body[0] as (Node & { directive?: string }) | undefined;
    const strict = first?.directive === "use strict" ? '"use strict";' : "";
    const line = `${strict}globalThis[Symbol.for(${JSON.stringify(HOOK)})]?.(${JSON.stringify(file)},{${closures}});`;
    if (wrapped !== undefined) {
        const at = wrapped.start + 1;
        return source.slice(0, at) + line + source.slice(at);
    }
    return shifted(source, line);
}

// tsx puts CommonJS code into `(()=>{ ... })()`, with a line break after the brace: there is room for us on that line.
function wrappedBody(program: Program): BlockStatement | undefined {
    const last = program.body.at(-1);
    if (program.body.length > 2 || last?.type !== "ExpressionStatement" || last.expression.type !== "CallExpression") {
        return undefined;
    }
    const { callee, arguments: args } = last.expression;
    const isWrapper = callee.type === "ArrowFunctionExpression" && callee.params.length === 0 && args.length === 0;
    return isWrapper && callee.body.type === "BlockStatement" ? callee.body : undefined;
}

// A file that begins with #! keeps that line first.
function shifted(source: string, line: string): string {
    if (source.startsWith("#!")) {
        const end = source.indexOf("\n");
        return end < 0 ? source : `//${source.slice(0, end)}\n${line}${source.slice(end + 1)}`;
    }
    // Of minified code, with its source map in another file, all columns would move.
    const head = source.indexOf("\n");
    if ((head < 0 || head > LONG_LINE) && /\/\/# sourceMappingURL=(?!data:)/.test(source)) {
        return `${source}\n;${line}`;
    }
    const map = /\/\/# sourceMappingURL=data:application\/json;(?:charset=utf-?8;)?base64,([\w+/=]+)\s*$/i.exec(source);
    if (map?.[1] === undefined) {
        // Without a source map, no line may move.
        return line + source;
    }
    // With one, the code moves down by a line, and the map with it.
    const text = Buffer.from(map[1], "base64").toString("utf8").replace('"mappings":"', '"mappings":";');
    const moved = Buffer.from(text, "utf8").toString("base64");
    return `${line}\n${source.slice(0, map.index)}//# sourceMappingURL=data:application/json;base64,${moved}`;
}

function parsed(source: string, kind: "module" | "script"): Program | undefined {
    try {
        return parse(source, {
            ecmaVersion: "latest",
            sourceType: kind,
            allowReturnOutsideFunction: true,
            allowHashBang: true,
            allowAwaitOutsideFunction: true,
        });
    } catch {
        // Node reports syntax errors better than we could.
        return undefined;
    }
}

// The names by which others know what a file exports come first: a minifier gives its own ones new names with every build.
function namedIn(body: Declaration[]): Map<string, string> {
    const locals = new Set(body.flatMap((statement) => namesOf(statement)));
    const exported = body
        .flatMap((statement) => (statement.source ? [] : (statement.specifiers ?? [])))
        .map((it): [string | undefined, string | undefined] => [it.exported?.name, it.local?.name])
        .filter((it): it is [string, string] => it[0] !== undefined && it[1] !== undefined && locals.has(it[1]));
    const named = exported.filter(([name]) => name !== "default");
    return new Map([...named, ...[...locals].map((name): [string, string] => [name, name]), ...exported]);
}

type Declaration = Node & {
    source?: unknown;
    specifiers?: { local?: { name?: string }; exported?: { name?: string } }[];
    declaration?: Declaration | null;
    declarations?: { id: Pattern }[];
    id?: { name: string } | null;
};

function namesOf(statement: Declaration): string[] {
    switch (statement.type) {
        case "ClassDeclaration":
        case "FunctionDeclaration":
            return statement.id ? [statement.id.name] : [];
        case "VariableDeclaration":
            return (statement.declarations ?? []).flatMap(({ id }) => boundNames(id));
        case "ExportNamedDeclaration":
        case "ExportDefaultDeclaration":
            return statement.declaration ? namesOf(statement.declaration) : [];
        default:
            return [];
    }
}
