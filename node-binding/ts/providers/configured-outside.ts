// What a provider's `configure` sets that is not the object's own: variables around it, attributes of its class or of other
// objects. Read from its source; methods of the object that it calls count as well.
import { type Pattern, parse } from "acorn";
import { boundNames, childrenOf, isTree, type Tree } from "../process/syntax";

/** What it sets, in words: "the variable `token`"; undefined when nothing is seen. `values`: the object's own attributes. */
export function setOutside(provider: object, values: ReadonlyMap<string, unknown>): string | undefined {
    const seen = new Set<unknown>();
    const waiting = methodsNamed(provider, values, "configure");
    for (let method = waiting.pop(); method !== undefined; method = waiting.pop()) {
        if (seen.has(method)) {
            continue;
        }
        seen.add(method);
        const tree = parsed(method);
        if (tree === undefined) {
            continue;
        }
        const found = new Reader(tree, (name) => isOfClass(provider, values, name)).read((name) =>
            waiting.push(...methodsNamed(provider, values, name)),
        );
        if (found !== undefined) {
            return found;
        }
    }
    return undefined;
}

type Method = (...args: never[]) => unknown;

// All of that name: `super.configure()` calls those of the bases.
function methodsNamed(provider: object, values: ReadonlyMap<string, unknown>, name: string): Method[] {
    const found: Method[] = [];
    const own = values.get(name);
    if (typeof own === "function") {
        found.push(own as Method);
    }
    for (let at: unknown = Object.getPrototypeOf(provider); at !== null && at !== Object.prototype; ) {
        const value: unknown = Object.getOwnPropertyDescriptor(at, name)?.value;
        if (typeof value === "function") {
            found.push(value as Method);
        }
        at = Object.getPrototypeOf(at);
    }
    return found;
}

// Is it an attribute that all objects of the class have in common?
function isOfClass(provider: object, values: ReadonlyMap<string, unknown>, name: string): boolean {
    for (let at: unknown = Object.getPrototypeOf(provider); at !== null && at !== Object.prototype; ) {
        const descriptor = Object.getOwnPropertyDescriptor(at, name);
        if (descriptor !== undefined) {
            return !values.has(name) && typeof descriptor.value === "object" && descriptor.value !== null;
        }
        at = Object.getPrototypeOf(at);
    }
    return false;
}

// A method's text stands alone only as a member, a function's only as an expression.
function parsed(method: Method): Tree | undefined {
    const text = Function.prototype.toString.call(method);
    for (const source of [`(${text})`, `({${text}})`, `(class{${text}})`]) {
        try {
            return parse(source, { ecmaVersion: "latest", allowSuperOutsideMethod: true }) as unknown as Tree;
        } catch {
            // Of another kind.
        }
    }
    return undefined;
}

class Reader {
    readonly #declared = new Set<string>(["undefined", "arguments"]);
    #found: string | undefined;

    constructor(
        private readonly tree: Tree,
        private readonly isOfClass: (name: string) => boolean,
    ) {}

    read(called: (method: string) => void): string | undefined {
        visit(this.tree, (node) => this.#declare(node));
        visit(this.tree, (node) => {
            this.#found ??= this.#look(node, called);
        });
        return this.#found;
    }

    #declare(node: Tree): void {
        switch (node.type) {
            case "VariableDeclarator":
            case "FunctionDeclaration":
            case "FunctionExpression":
            case "ArrowFunctionExpression":
            case "ClassDeclaration":
                this.#bind(node.id, ...((node.params as unknown[] | undefined) ?? []));
                break;
            case "CatchClause":
                this.#bind(node.param);
                break;
        }
    }

    #bind(...patterns: unknown[]): void {
        for (const name of patterns.flatMap((it) => (isTree(it) ? boundNames(it as unknown as Pattern) : []))) {
            this.#declared.add(name);
        }
    }

    #look(node: Tree, called: (method: string) => void): string | undefined {
        switch (node.type) {
            case "AssignmentExpression":
                // A counter is none.
                return node.operator !== "=" && typeof (node.right as Tree).value === "number"
                    ? undefined
                    : this.#target(node.left as Tree);
            case "UnaryExpression":
                return node.operator === "delete" ? this.#target(node.argument as Tree) : undefined;
            case "CallExpression":
                return this.#call(node.callee as Tree, node.arguments as Tree[], called);
            default:
                return undefined;
        }
    }

    #target(target: Tree): string | undefined {
        switch (target.type) {
            case "Identifier":
                return this.#declared.has(target.name as string) ? undefined : `the variable \`${target.name}\``;
            case "MemberExpression": {
                const holder = target.object as Tree;
                const byKey = target.computed === true && (target.property as Tree).type !== "Literal";
                // By a key that differs from run to run: a store of them.
                return byKey && holder.type === "Identifier" ? undefined : this.#holder(holder);
            }
            case "ArrayPattern":
                return this.#first(target.elements as (Tree | null)[]);
            case "ObjectPattern":
                return this.#first((target.properties as Tree[]).map((it) => (it.value ?? it.argument) as Tree));
            case "AssignmentPattern":
                return this.#target(target.left as Tree);
            case "RestElement":
                return this.#target(target.argument as Tree);
            default:
                return undefined;
        }
    }

    #first(targets: (Tree | null)[]): string | undefined {
        for (const target of targets) {
            const found = target === null ? undefined : this.#target(target);
            if (found !== undefined) {
                return found;
            }
        }
        return undefined;
    }

    // What is changed when something is set in the object of an expression; undefined when it is this object's own.
    #holder(expression: Tree): string | undefined {
        const names: string[] = [];
        let at = expression;
        while (at.type === "MemberExpression") {
            const property = at.property as Tree;
            names.unshift(String(property.name ?? property.value ?? "..."));
            at = at.object as Tree;
        }
        if (at.type === "ThisExpression") {
            const [first] = names;
            if (first === "constructor") {
                return "an attribute of its class";
            }
            return first !== undefined && this.isOfClass(first) ? `something in \`${first}\` of its class` : undefined;
        }
        if (at.type === "Identifier" && !this.#declared.has(at.name as string)) {
            return `something in \`${[at.name as string, ...names].join(".")}\``;
        }
        return undefined;
    }

    #call(callee: Tree, args: Tree[], called: (method: string) => void): string | undefined {
        if (callee.type !== "MemberExpression") {
            return undefined;
        }
        const object = callee.object as Tree;
        const name = String((callee.property as Tree).name ?? "");
        if (object.type === "ThisExpression" || object.type === "Super") {
            called(name);
            return undefined;
        }
        const [first] = args;
        if (object.type === "Identifier" && object.name === "Object" && name === "assign" && first !== undefined) {
            return first.type === "ThisExpression" ? undefined : this.#holder(first);
        }
        // A map's; by a key that differs from run to run it is a store of them.
        return name === "set" && args.length === 2 && first?.type === "Literal" ? this.#holder(object) : undefined;
    }
}

function visit(node: Tree, action: (node: Tree) => void): void {
    action(node);
    for (const child of childrenOf(node)) {
        visit(child, action);
    }
}
