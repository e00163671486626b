// The syntax of classes and methods, read from the text that they have at run time.
import { type Node, type Pattern, parseExpressionAt } from "acorn";

/** A node of a syntax tree, with its members by name. */
export type Tree = Node & Record<string, unknown>;

/** Reads the text of a class. Throws a SyntaxError for one of Node itself, and for a syntax that is newer than the parser. */
export function classTree(text: string): Tree {
    return parseExpressionAt(text, 0, { ecmaVersion: "latest" }) as Tree;
}

/** Is it a class, and not the function that older compilers make of one? */
export function isClassTree({ type }: Tree): boolean {
    return type === "ClassExpression" || type === "ClassDeclaration";
}

/** The members of a class; of a function there are none. */
export function membersOf(tree: Tree): Tree[] {
    return isClassTree(tree) ? (tree.body as { body: Tree[] }).body : [];
}

/** The names that a pattern binds: of a variable, a parameter, an assignment. */
export function boundNames(pattern: Pattern): string[] {
    switch (pattern.type) {
        case "Identifier":
            return [pattern.name];
        case "ObjectPattern":
            return pattern.properties.flatMap((it) => boundNames(it.type === "RestElement" ? it.argument : it.value));
        case "ArrayPattern":
            return pattern.elements.flatMap((it) => (it === null ? [] : boundNames(it)));
        case "RestElement":
            return boundNames(pattern.argument);
        case "AssignmentPattern":
            return boundNames(pattern.left);
        default:
            return [];
    }
}

export function isTree(value: unknown): value is Tree {
    return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** The nodes right below a node. */
export function childrenOf(tree: Tree): Tree[] {
    return Object.values(tree).flat().filter(isTree);
}
