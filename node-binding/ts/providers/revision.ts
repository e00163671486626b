// Which code of a provider made or changed a resource: its declared version, and a fingerprint of its source.
//
// The fingerprint is of what the source says, not of how it is written down: it is taken from the syntax tree of what Node
// runs, from which types and comments are gone. Nothing is compiled for it, and no compiler is loaded. A method does not count
// that is asked anew whenever it matters (ASKED_ANEW): what it says does not change what others have made.
import { createHash, type Hash } from "node:crypto";
import * as path from "node:path";
import { type Node, type Options, parseExpressionAt } from "acorn";
import { OWN_DIRECTORY } from "../process/own-files";
import { childrenOf, isTree, type Tree } from "../process/syntax";
import { labelOf } from "./calls";
import { membersOf } from "./exported";

/** What is noted of a provider's code; provider/reference.rs of the engine explains the members. */
export interface Revision {
    version?: number;
    code?: string;
}

// The way in which fingerprints are made; those that were made in another way are not compared.
const WAY = "js2";

// Methods that leave nothing behind in an object which `create` or `update` made, unless these call them.
const ASKED_ANEW: ReadonlySet<string> = new Set(["check", "diff", "read", "delete", "find", "close"]);

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

const ofClasses = new WeakMap<object, string | null>();
// A program may make an object literal for each resource, all in one place.
const ofLiterals = new Map<string, string | null>();
const MAX_LITERALS = 1000;

/**
 * A fingerprint of a provider's source: of its class with those of its bases that are the project's, or of the methods of
 * an object literal. Undefined where the source cannot be read.
 */
export function fingerprintOf(provider: object, ownClass: object | undefined): string | undefined {
    return ownClass === undefined
        ? literalFingerprint(provider)
        : once(ofClasses, ownClass, () => computed(() => partsOf(ownClass)));
}

function literalFingerprint(provider: object): string | undefined {
    const methods = methodsOf(provider);
    if (ofLiterals.size >= MAX_LITERALS) {
        ofLiterals.clear();
    }
    const key = methods.map(({ name, method }) => `${name}\0${Function.prototype.toString.call(method)}`).join("\0");
    return once(ofLiterals, key, () => computed(() => [new Part("", methods.map(memberTree))]));
}

function once<K>(
    known: { get(key: K): string | null | undefined; set(key: K, code: string | null): unknown },
    key: K,
    make: () => string | undefined,
): string | undefined {
    let code = known.get(key);
    if (code === undefined) {
        code = make() ?? null;
        known.set(key, code);
    }
    return code ?? undefined;
}

function computed(read: () => Part[]): string | undefined {
    try {
        const parts = read();
        const leftOut = methodsLeftOut(parts);
        const [own = "", ...bases] = parts.map((part) => part.digest(leftOut));
        // Apart, so that a change names the class whose own code it is.
        const named = bases.map((code, index) => `;${parts[index + 1]?.name ?? ""}=${code}`);
        return `${WAY}:${own}${named.join("")}`;
    } catch {
        // It is for information only: no program fails for the want of it.
        return undefined;
    }
}

/** The source of one class, or of the methods of an object. */
class Part {
    constructor(
        readonly name: string,
        private readonly trees: readonly Tree[],
    ) {}

    digest(leftOut: ReadonlySet<string>): string {
        const hash = createHash("sha256");
        for (const tree of this.trees) {
            if (!isLeftOut(tree, leftOut)) {
                write(tree, hash, leftOut);
            }
        }
        return hash.digest("hex").slice(0, 32);
    }

    /** The methods asked anew that are mentioned: by that one of them, or ("") by the rest. */
    mentions(by: string): Set<string> {
        const found = new Set<string>();
        for (const tree of this.trees) {
            addMentions(tree, by === "", by, found);
        }
        return found;
    }
}

// The classes that count, the provider's own first.
function partsOf(ownClass: object): Part[] {
    const parts: Part[] = [];
    for (let current: unknown = ownClass; isClass(current); current = Object.getPrototypeOf(current)) {
        if (current === ownClass || !isOfPackage(current)) {
            parts.push(new Part(current.name, classTrees(current)));
        }
    }
    return parts;
}

// Those that are asked anew and that nothing which counts calls.
function methodsLeftOut(parts: readonly Part[]): Set<string> {
    const used = new Set<string>();
    const waiting = [""];
    for (let by = waiting.pop(); by !== undefined; by = waiting.pop()) {
        for (const name of parts.flatMap((part) => [...part.mentions(by as string)])) {
            if (!used.has(name)) {
                used.add(name);
                waiting.push(name);
            }
        }
    }
    return new Set([...ASKED_ANEW].filter((name) => !used.has(name)));
}

// The name of a method that is asked anew, if the node is the definition of one.
function askedAnew(tree: Tree): string | undefined {
    const isMember = tree.type === "MethodDefinition" || tree.type === "Property" || tree.type === "PropertyDefinition";
    if (!isMember || tree.computed === true || tree.static === true) {
        return undefined;
    }
    const key = tree.key as Tree;
    const name = String(key.name ?? key.value);
    const value = tree.value as Tree | null;
    const isFunction = value?.type === "FunctionExpression" || value?.type === "ArrowFunctionExpression";
    return isFunction && key.type !== "PrivateIdentifier" && ASKED_ANEW.has(name) ? name : undefined;
}

function isLeftOut(tree: Tree, leftOut: ReadonlySet<string>): boolean {
    return leftOut.has(askedAnew(tree) ?? "");
}

function addMentions(tree: Tree, counts: boolean, by: string, found: Set<string>): void {
    const method = askedAnew(tree);
    const inside = method === undefined ? counts : method === by;
    const property = tree.type === "MemberExpression" ? (tree.property as Tree) : undefined;
    const name = property === undefined ? undefined : String(property.name ?? property.value);
    if (inside && name !== undefined && ASKED_ANEW.has(name)) {
        found.add(name);
    }
    for (const child of childrenOf(tree)) {
        addMentions(child, inside, by, found);
    }
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
        if (!file.split(path.sep).includes("node_modules") && !file.startsWith(OWN_DIRECTORY)) {
            return false;
        }
        if (exports === null || (typeof exports !== "object" && typeof exports !== "function")) {
            return false;
        }
        return exports === wanted || membersOf(exports).some(([, { value }]) => value === wanted);
    });
}

function classTrees(subject: Callable & { prototype: object }): Tree[] {
    const tree = parsed(textOf(subject)) as Tree;
    // The own name does not count: a class may be renamed.
    tree.id = null;
    return tree.type === "ClassExpression" ? [tree] : [tree, ...methodsOf(subject.prototype).map(memberTree)];
}

interface Method {
    name: string;
    method: Callable;
}

function methodsOf(owner: object): Method[] {
    return Object.entries(Object.getOwnPropertyDescriptors(owner))
        .sort(byKey)
        .filter(([name, { value }]) => typeof value === "function" && name !== "constructor" && !isNative(value))
        .map(([name, { value }]) => ({ name, method: value as Callable }));
}

// What stands for `name: method` in the object: each as a member, so that it has its name.
function memberTree({ name, method }: Method): Tree {
    const key = { type: "Identifier", name, start: 0, end: 0 };
    const value = { type: "FunctionExpression", start: 0, end: 0, body: methodTree(textOf(method)) };
    return { type: "Property", start: 0, end: 0, computed: false, key, value } as unknown as Tree;
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

// Members of a syntax tree that say where something is, or how it is written.
const UNIMPORTANT = new Set(["type", "start", "end", "raw", "directive", "shorthand"]);

/** Writes a syntax tree so that equal meaning gives equal text, however the source was formatted. */
function write(node: Node, hash: Hash, leftOut: ReadonlySet<string>): void {
    const tree = simplified(node as Tree);
    const literal = literalText(tree);
    hash.update(`(${literal ?? tree.type}`);
    if (literal === undefined) {
        for (const [name, value] of Object.entries(tree)) {
            if (!UNIMPORTANT.has(name)) {
                writeMember(tree, name, value, hash, leftOut);
            }
        }
    }
    hash.update(")");
}

function writeMember(tree: Tree, name: string, value: unknown, hash: Hash, leftOut: ReadonlySet<string>): void {
    if (name === "key" && tree.computed !== true) {
        // Quotes around a name are formatting.
        const key = value as Tree;
        hash.update(` key ${key.type === "PrivateIdentifier" ? "#" : ""}${String(key.name ?? key.value)}`);
    } else if (Array.isArray(value)) {
        hash.update(` ${name}[`);
        for (const item of value as (Node | null)[]) {
            if (item === null) {
                hash.update("-");
            } else if (!saysNothing(item as Tree) && !(name === "body" && isLeftOut(item as Tree, leftOut))) {
                write(item, hash, leftOut);
            }
        }
        hash.update("]");
    } else if (isTree(value)) {
        hash.update(` ${name}`);
        write(value, hash, leftOut);
    } else if (value !== null && value !== undefined) {
        hash.update(` ${name} ${JSON.stringify(value)}`);
    }
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
