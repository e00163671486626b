// Which code of a provider made or changed a resource: its declared version, and a fingerprint of its source.
//
// The fingerprint is of what the source says, not of how it is written down: it is taken from the syntax tree of what Node
// runs, from which types and comments are gone. Nothing is compiled for it, and no compiler is loaded.
import { createHash, type Hash } from "node:crypto";
import * as path from "node:path";
import { type Node, type Options, parseExpressionAt } from "acorn";
import { labelOf } from "./calls";

/** What is noted of a provider's code; provider.rs of the engine explains the members. */
export interface Revision {
    version?: number;
    code?: string;
}

// The way in which fingerprints are made; those that were made in another way are not compared.
const WAY = "js1";

/** The name under which a provider, or its class, declares its version. */
export const VERSION_MEMBER = "providerVersion";

/** What a provider, or its class, declares as `providerVersion`; undefined when it declares nothing. */
export function versionOf(provider: object): number | undefined {
    const own = (provider as Record<string, unknown>)[VERSION_MEMBER];
    const declared = own ?? (provider.constructor as unknown as Record<string, unknown> | undefined)?.[VERSION_MEMBER];
    if (declared === undefined || declared === null) {
        return undefined;
    }
    if (!Number.isSafeInteger(declared) || (declared as number) < 0) {
        const shown = typeof declared === "string" ? JSON.stringify(declared) : String(declared);
        throw new TypeError(
            `\`${VERSION_MEMBER}\` of ${labelOf(provider)} is ${shown}; it must be a whole number from 0 on, such as 1`,
        );
    }
    return declared as number;
}

const known = new WeakMap<object, string | null>();

/**
 * A fingerprint of a provider's source: of its class with those of its bases that are the project's, or of the methods of
 * an object literal. Undefined where the source cannot be read.
 */
export function fingerprintOf(provider: object, ownClass: object | undefined): string | undefined {
    const subject = ownClass ?? provider;
    let code = known.get(subject);
    if (code === undefined) {
        code = computed(provider, ownClass) ?? null;
        known.set(subject, code);
    }
    return code ?? undefined;
}

function computed(provider: object, ownClass: object | undefined): string | undefined {
    const hash = createHash("sha256");
    try {
        if (ownClass === undefined) {
            writeMethods(provider, hash);
        }
        for (let current: unknown = ownClass; isClass(current); current = Object.getPrototypeOf(current)) {
            if (current === ownClass || !isOfPackage(current)) {
                writeClass(current, hash);
            }
        }
    } catch {
        // It is for information only: no program fails for the want of it.
        return undefined;
    }
    return `${WAY}:${hash.digest("hex").slice(0, 32)}`;
}

type Callable = (...args: never[]) => unknown;

// The chain of classes ends at Function.prototype, which has no prototype property of its own.
function isClass(value: unknown): value is Callable & { prototype: object } {
    return typeof value === "function" && Object.hasOwn(value, "prototype") && !isNative(value as Callable);
}

function isNative(value: Callable): boolean {
    return /\{\s*\[native code\]\s*\}\s*$/.test(Function.prototype.toString.call(value));
}

// Is a base class one of an installed package, or ours?
function isOfPackage(wanted: object): boolean {
    return Object.entries(require.cache).some(([file, module]) => {
        const exports: unknown = module?.exports;
        if (!file.split(path.sep).includes("node_modules") && !file.startsWith(__dirname)) {
            return false;
        }
        if (exports === null || (typeof exports !== "object" && typeof exports !== "function")) {
            return false;
        }
        const members = Object.values(Object.getOwnPropertyDescriptors(exports));
        return exports === wanted || members.some((member) => "value" in member && member.value === wanted);
    });
}

function writeClass(subject: Callable & { prototype: object }, hash: Hash): void {
    const tree = parsed(textOf(subject)) as Tree;
    // The own name does not count: a class may be renamed.
    tree.id = null;
    if (tree.type === "ClassExpression") {
        write(tree, hash);
        return;
    }
    write(tree, hash);
    writeMethods(subject.prototype, hash);
}

function writeMethods(owner: object, hash: Hash): void {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(owner)).sort(byKey)) {
        if (typeof value === "function" && name !== "constructor" && !isNative(value as Callable)) {
            hash.update(`${name}=`);
            write(methodTree(textOf(value as Callable)), hash);
        }
    }
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
    return a < b ? -1 : 1;
}

// What esbuild writes for `using` depends on the version of Node that it is to run on.
const DEPENDS_ON_NODE = /\b__(?:using|callDispose)\d*\(/;

function textOf(subject: Callable): string {
    const text = Function.prototype.toString.call(subject);
    if (DEPENDS_ON_NODE.test(text)) {
        throw new SyntaxError("the text of the class depends on the version of Node");
    }
    return text;
}

function parsed(text: string): Node {
    const options: Options = { ecmaVersion: "latest", sourceType: "module", allowAwaitOutsideFunction: true };
    try {
        return parseExpressionAt(`(${text})`, 0, options);
    } catch {
        return parseExpressionAt(`(${text})`, 0, { ...options, sourceType: "script" });
    }
}

// The text of a method is none of an expression; as the only member of an object it is.
function methodTree(text: string): Node {
    try {
        return parsed(`{${text}}`);
    } catch {
        return parsed(text);
    }
}

type Tree = Node & Record<string, unknown>;

// Members of a syntax tree that say where something is, or how it is written.
const UNIMPORTANT = new Set(["type", "start", "end", "raw", "directive", "shorthand"]);

/** Writes a syntax tree so that equal meaning gives equal text, however the source was formatted. */
function write(node: Node, hash: Hash): void {
    const tree = simplified(node as Tree);
    const literal = literalText(tree);
    hash.update(`(${literal ?? tree.type}`);
    if (literal === undefined) {
        for (const [name, value] of Object.entries(tree)) {
            if (!UNIMPORTANT.has(name)) {
                writeMember(tree, name, value, hash);
            }
        }
    }
    hash.update(")");
}

function writeMember(tree: Tree, name: string, value: unknown, hash: Hash): void {
    if (name === "key" && tree.computed !== true) {
        // Quotes around a name are formatting.
        const key = value as Tree;
        hash.update(` key ${key.type === "PrivateIdentifier" ? "#" : ""}${String(key.name ?? key.value)}`);
    } else if (Array.isArray(value)) {
        hash.update(` ${name}[`);
        for (const item of value as (Node | null)[]) {
            if (item === null) {
                hash.update("-");
            } else if (!saysNothing(item as Tree)) {
                write(item, hash);
            }
        }
        hash.update("]");
    } else if (isNode(value)) {
        hash.update(` ${name}`);
        write(value, hash);
    } else if (value !== null && value !== undefined) {
        hash.update(` ${name} ${JSON.stringify(value)}`);
    }
}

function isNode(value: unknown): value is Node {
    return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

// The loader keeps the names of functions by a call around them.
function simplified(tree: Tree): Tree {
    const named = tree.type === "CallExpression" && isKeepName(tree) ? (tree.arguments as Tree[])[0] : undefined;
    return named === undefined ? tree : simplified(named);
}

function isKeepName(tree: Tree): boolean {
    const callee = tree.callee as Tree;
    const args = tree.arguments as Tree[];
    return callee.type === "Identifier" && /^__name\d*$/.test(String(callee.name)) && args.length === 2;
}

function saysNothing(tree: Tree): boolean {
    switch (tree.type) {
        case "EmptyStatement":
            return true;
        case "PropertyDefinition":
            // It is compared by itself.
            return (tree.key as Tree).name === VERSION_MEMBER;
        case "StaticBlock":
            return (tree.body as Tree[]).every(
                (statement) => isKeepNameStatement(statement) || setsVersion(statement) || saysNothing(statement),
            );
        default:
            return false;
    }
}

function isKeepNameStatement(statement: Tree): boolean {
    const expression = statement.expression as Tree | undefined;
    return expression?.type === "CallExpression" && isKeepName(expression);
}

function setsVersion(statement: Tree): boolean {
    const left = (statement.expression as Tree | undefined)?.left as Tree | undefined;
    return left?.type === "MemberExpression" && (left.property as Tree).name === VERSION_MEMBER;
}

// The value of a literal, whichever way it is written; undefined for other nodes.
function literalText(tree: Tree): string | undefined {
    if (tree.type === "Literal") {
        const { regex, bigint, value } = tree as { regex?: { pattern: string; flags: string }; bigint?: string } & Tree;
        if (regex !== undefined) {
            return regexText(regex.pattern, regex.flags);
        }
        return bigint === undefined ? `${typeof value} ${JSON.stringify(value)}` : `bigint ${bigint}`;
    }
    if (tree.type === "TemplateElement") {
        return `template ${JSON.stringify((tree.value as { raw: string }).raw)}`;
    }
    // For an older Node the loader writes newer regular expressions so.
    if (tree.type === "NewExpression" && (tree.callee as Tree).name === "RegExp") {
        const args = (tree.arguments as Tree[]).map((it) => (it.type === "Literal" ? it.value : undefined));
        const [pattern, flags = ""] = args;
        if (typeof pattern === "string" && typeof flags === "string" && args.length <= 2) {
            return regexText(pattern, flags);
        }
    }
    return undefined;
}

function regexText(pattern: string, flags: string): string {
    return `regex /${pattern}/${[...flags].sort().join("")}`;
}
