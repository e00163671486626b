// What a test puts under test, as a program: a function, a class of resources, or a bare provider.
import { looksLikeProvider, Sdk } from "../../sdk";
import { show } from "../values";

/** The properties that a class or a bare provider gets; a function gets them as its argument. */
export type Inputs = Record<string, unknown>;

/** A program: it makes resources, and what it returns are the stack's outputs. */
export type Program = (inputs: Inputs) => unknown;

/** A program, a class of resources (`new (name, inputs)`), a provider object or its class. */
export type Subject = Program | (new (name: string, inputs: Inputs) => object) | (new () => object) | object;

// Also for classes of another realm, and of another copy of the SDK.
function isResourceClass(subject: object): boolean {
    for (let at: unknown = subject; typeof at === "function"; at = Object.getPrototypeOf(at)) {
        if (Object.hasOwn(at, "isInstance") && at.name === "Resource") {
            return true;
        }
    }
    return false;
}

/** Is it a class, and no mere function? */
export function isClass(subject: object): boolean {
    return typeof subject === "function" && /^class\b/.test(Function.prototype.toString.call(subject));
}

/** What a class or a function makes. */
export function made<Args extends unknown[], Made>(
    source: (new (...args: Args) => Made) | ((...args: Args) => Made),
    ...args: Args
): Made {
    return isClass(source)
        ? new (source as new (...args: Args) => Made)(...args)
        : (source as (...args: Args) => Made)(...args);
}

/** The program that a subject stands for. Throws a TypeError that says what can be one. */
export function programOf(subject: Subject, name: string): Program {
    const what = "a program (a function), a class of resources, a provider object or its class";
    if (typeof subject === "function") {
        if (isResourceClass(subject)) {
            const made = subject as new (name: string, inputs: Inputs) => object;
            return (inputs) => void new made(name, { ...inputs });
        }
        if (!isClass(subject)) {
            return subject as Program;
        }
        const prototype: unknown = (subject as { prototype?: unknown }).prototype;
        if (!looksLikeProvider(prototype)) {
            throw new TypeError(`stack takes ${what}; the class ${subject.name} has no method of a provider`);
        }
        return programOf(new (subject as new () => object)(), name);
    }
    if (subject === null || typeof subject !== "object") {
        throw new TypeError(`stack takes ${what}, but was given ${show(subject)}`);
    }
    if (typeof (subject as { create?: unknown }).create !== "function") {
        const named = looksLikeProvider(subject) ? "the provider" : show(subject);
        throw new TypeError(`${named} has no method \`create\`: every provider needs one. stack takes ${what}`);
    }
    return (inputs) => {
        const { Resource } = Sdk.load(process.cwd());
        new Resource(subject, name, { ...inputs });
    };
}
