// Providers whose constructor assigns their methods (`this.create = async (inputs) => ...`, or a class field): functions
// cannot be stored, but a constructor without parameters makes them again.

import { childrenOf, classTree, isClassTree, membersOf, type Tree } from "../process/syntax";
import { METHODS } from "../sdk/methods";

/** What the text of a class tells of its constructor. */
interface Constructor {
    /** Takes it no arguments? `undefined` where the class has none of its own. */
    isBare: boolean | undefined;
    /** The names of `this` to which it assigns functions. */
    functions: Set<string>;
    text: string;
}

const BOUND = /^function \(\) \{ \[native code\] \}$/;
const constructors = new WeakMap<object, Constructor>();

/** Is the function that an object has under a name one that its constructor makes, whoever calls it? */
export function isMadeByConstructor(ownClass: object, name: string, value: unknown): boolean {
    if (typeof value !== "function" || !assignsFunctions(ownClass)) {
        return false;
    }
    const text = Function.prototype.toString.call(value);
    return chainOf(ownClass).some((it) => it.functions.has(name) && (BOUND.test(text) || it.text.includes(text)));
}

/** Does a class make functions of its objects in a constructor that takes no arguments? */
export function assignsFunctions(ownClass: object): boolean {
    const chain = chainOf(ownClass);
    // A class without a constructor hands everything to that of its base.
    const isBare = chain.find((it) => it.isBare !== undefined)?.isBare ?? true;
    return isBare && chain.some(({ functions }) => functions.size > 0);
}

function chainOf(ownClass: object): Constructor[] {
    const chain: Constructor[] = [];
    for (let current: unknown = ownClass; typeof current === "function"; current = Object.getPrototypeOf(current)) {
        if (current === Function.prototype) {
            break;
        }
        let known = constructors.get(current);
        if (known === undefined) {
            known = read(Function.prototype.toString.call(current));
            constructors.set(current, known);
        }
        chain.push(known);
    }
    return chain;
}

function read(text: string): Constructor {
    const functions = new Set<string>();
    try {
        const code = classTree(text);
        if (!isClassTree(code)) {
            // A class as older compilers write it; a derived one hands its arguments on.
            note(code.body as Tree, functions);
            const isBare = text.includes(".apply(this, arguments)") ? undefined : isEmpty(code.params);
            return { isBare, functions, text };
        }
        let isBare: boolean | undefined;
        for (const member of membersOf(code)) {
            if (member.static === true) {
                continue;
            }
            if (member.type === "PropertyDefinition" && isFunction(member.value, nameIn(member.key))) {
                functions.add(nameIn(member.key));
            }
            if (member.type === "MethodDefinition" && member.kind === "constructor") {
                const { params, body } = member.value as Tree;
                isBare = isEmpty(params);
                note(body as Tree, functions);
            }
        }
        return { isBare, functions, text };
    } catch {
        // A class of Node itself, or in a syntax that is newer than we are.
        return { isBare: undefined, functions, text };
    }
}

// Finds `this.name = ...` wherever it stands in a constructor.
function note(node: Tree, functions: Set<string>): void {
    if (node.type === "AssignmentExpression") {
        const target = node.left as Tree;
        if (target.type === "MemberExpression" && target.computed !== true && isSelf(target.object as Tree)) {
            add(nameIn(target.property), node.right, functions);
        }
    }
    if (node.type === "CallExpression") {
        // `__publicField(this, "name", ...)`, as compilers write class fields.
        const [self, key, value] = node.arguments as (Tree | undefined)[];
        if (self !== undefined && isSelf(self) && key?.type === "Literal" && value !== undefined) {
            add(String(key.value), value, functions);
        }
    }
    for (const child of childrenOf(node)) {
        note(child, functions);
    }
}

function add(name: string, value: unknown, functions: Set<string>): void {
    if (isFunction(value, name)) {
        functions.add(name);
    }
}

// What is assigned under a method's name is one, whatever it looks like; a call may hand back the function it is given.
function isFunction(value: unknown, name: string): boolean {
    const { type, arguments: given } = (value ?? {}) as { type?: string; arguments?: { type: string }[] };
    return (
        (name !== "" && (METHODS as readonly string[]).includes(name)) ||
        isFunctionType(type) ||
        (type === "CallExpression" && given?.some((it) => isFunctionType(it.type)) === true)
    );
}

function isFunctionType(type: string | undefined): boolean {
    return type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

function isSelf({ type, name }: Tree): boolean {
    return type === "ThisExpression" || (type === "Identifier" && ["_this", "self", "that"].includes(String(name)));
}

function nameIn(key: unknown): string {
    const { type, name, value } = key as { type: string; name?: string; value?: unknown };
    return type === "Identifier" ? (name ?? "") : type === "Literal" ? String(value) : "";
}

function isEmpty(parameters: unknown): boolean {
    return Array.isArray(parameters) && parameters.length === 0;
}
