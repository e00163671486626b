// Providers whose constructor assigns their methods (`this.create = async (inputs) => ...`, or a class field): functions
// cannot be stored, but a constructor without parameters makes them again.
import { type Node, parseExpressionAt } from "acorn";
import { METHODS } from "./methods";

/** What the text of a class tells of its constructor. */
interface Constructor {
    /** Takes it no arguments? `undefined` where the class has none of its own. */
    isBare: boolean | undefined;
    /** The names of `this` to which it assigns functions. */
    functions: Set<string>;
    text: string;
}

type Syntax = Node & Record<string, unknown>;

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
        const code = parseExpressionAt(text, 0, { ecmaVersion: "latest" }) as Syntax;
        if (code.type !== "ClassExpression" && code.type !== "ClassDeclaration") {
            // A class as older compilers write it; a derived one hands its arguments on.
            note(code.body, functions);
            const isBare = text.includes(".apply(this, arguments)") ? undefined : isEmpty(code.params);
            return { isBare, functions, text };
        }
        let isBare: boolean | undefined;
        for (const member of (code.body as { body: Syntax[] }).body) {
            if (member.static === true) {
                continue;
            }
            if (member.type === "PropertyDefinition" && isFunction(member.value, nameIn(member.key))) {
                functions.add(nameIn(member.key));
            }
            if (member.type === "MethodDefinition" && member.kind === "constructor") {
                const { params, body } = member.value as Syntax;
                isBare = isEmpty(params);
                note(body, functions);
            }
        }
        return { isBare, functions, text };
    } catch {
        // A class of Node itself, or in a syntax that is newer than we are.
        return { isBare: undefined, functions, text };
    }
}

// Finds `this.name = ...` wherever it stands in a constructor.
function note(syntax: unknown, functions: Set<string>): void {
    if (Array.isArray(syntax)) {
        syntax.forEach((it) => void note(it, functions));
        return;
    }
    if (syntax === null || typeof syntax !== "object" || typeof (syntax as Syntax).type !== "string") {
        return;
    }
    const node = syntax as Syntax;
    if (node.type === "AssignmentExpression") {
        const target = node.left as Syntax;
        if (target.type === "MemberExpression" && target.computed !== true && isSelf(target.object as Syntax)) {
            add(nameIn(target.property), node.right, functions);
        }
    }
    if (node.type === "CallExpression") {
        // `__publicField(this, "name", ...)`, as compilers write class fields.
        const [self, key, value] = node.arguments as (Syntax | undefined)[];
        if (self !== undefined && isSelf(self) && key?.type === "Literal" && value !== undefined) {
            add(String(key.value), value, functions);
        }
    }
    for (const member of Object.values(node)) {
        note(member, functions);
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

function isSelf({ type, name }: Syntax): boolean {
    return type === "ThisExpression" || (type === "Identifier" && ["_this", "self", "that"].includes(String(name)));
}

function nameIn(key: unknown): string {
    const { type, name, value } = key as { type: string; name?: string; value?: unknown };
    return type === "Identifier" ? (name ?? "") : type === "Literal" ? String(value) : "";
}

function isEmpty(parameters: unknown): boolean {
    return Array.isArray(parameters) && parameters.length === 0;
}
