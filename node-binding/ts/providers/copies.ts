// An object of its own for a run whose provider object is in use by another run at the same time.
import { mapMembers } from "../process/members";
import { labelOf } from "./calls";
import { setOutside } from "./configured-outside";
import { assignsFunctions, isMadeByConstructor } from "./constructors";
import { nameOf } from "./conversion";

/** A provider object is in use by another run, and this one cannot have one of its own. */
export class ProviderInUse extends Error {
    override readonly name = "ProviderInUse";
}

/**
 * Who has an object: another run, a method that an earlier run gave up and that goes on, or another configuration (the stack's or
 * an explicit provider's) of the same run.
 */
export type User = "run" | "abandoned" | "configuration";

const USERS: Record<User, [user: string, other: string, each: string]> = {
    run: ["another run is using", "this run", "stack"],
    abandoned: ["a method that an earlier run has given up still runs on", "this run", "stack"],
    configuration: ["the inputs of another provider configure", "this resource's provider", "explicit provider"],
};

/** What is said to the user. */
export function sharedError(provider: object, reason: string, who: User): ProviderInUse {
    const [user, other, each] = USERS[who];
    return new ProviderInUse(
        `${user} this object of ${labelOf(provider)}, and ${other} cannot have one of its own: ${reason}.\n` +
            `Ways out: make and set it in \`configure\`, on \`this\`; give each ${each} a provider object of its own; or register ` +
            "what makes one (registerProvider)",
    );
}

/**
 * An object of the same class, made without the constructor unless that makes its methods, with the attributes that the first
 * one had before its first `configure`; or, as a text, the reason why there can be none. `values`: the attributes; `contents`:
 * what the plain arrays and objects among them held; `hasPrivate`: has its class fields that cannot be read?
 */
export function copyForRun(
    provider: object,
    values: ReadonlyMap<string, unknown>,
    contents: ReadonlyMap<string, unknown>,
    hasPrivate: boolean,
): object | string {
    const outside = setOutside(provider, values);
    if (outside !== undefined) {
        return `its \`configure\` sets ${outside}, which all runs have in common`;
    }
    if (hasPrivate) {
        return "its class keeps private fields (#...), which cannot be copied";
    }
    const prototype = Object.getPrototypeOf(provider) as object | null;
    if (prototype === null || !Object.hasOwn(prototype, "constructor") || prototype.constructor.name === "Object") {
        return "it is an object literal, whose methods may use variables around them; write a class";
    }
    const ownClass = prototype.constructor as new () => object;
    const made = assignsFunctions(ownClass) ? new ownClass() : (Object.create(prototype) as object);
    const copied = made as Record<string, unknown>;
    for (const [key, value] of values) {
        if (isMadeByConstructor(ownClass, key, value)) {
            continue;
        }
        const own = contents.has(key) ? contents.get(key) : value;
        const problem = problemOf(own, provider, 0);
        if (problem !== undefined) {
            return `its attribute \`${key}\` ${problem}`;
        }
        copied[key] = copyOf(own);
    }
    return copied;
}

// Why a value cannot be another object's, too.
function problemOf(value: unknown, provider: object, depth: number): string | undefined {
    if (value === provider) {
        return "is the object itself";
    }
    if (typeof value === "function") {
        // A class is had in common by everybody; what a function has around it cannot be seen.
        return /^class\b/.test(Function.prototype.toString.call(value))
            ? undefined
            : "is a function, which may use the object in which it was made";
    }
    if (value === null || typeof value !== "object" || isValue(value)) {
        return undefined;
    }
    if (depth > 50) {
        return "is nested too deeply, or contains itself";
    }
    if (!isPlain(value)) {
        return `holds ${nameOf(value)} that was made before \`configure\`, which both runs would change`;
    }
    for (const member of Object.values(value)) {
        const problem = problemOf(member, provider, depth + 1);
        if (problem !== undefined) {
            return problem;
        }
    }
    return undefined;
}

// Of these nothing is ever set, or they can be copied as a whole.
function isValue(value: object): boolean {
    return value instanceof Date || value instanceof RegExp || value instanceof URL;
}

/** Is it an array or an object without a class? */
export function isPlain(value: unknown): value is object {
    if (value === null || typeof value !== "object") {
        return false;
    }
    const prototype = Object.getPrototypeOf(value) as object | null;
    return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value for another object: arrays and plain objects are its own, what is in them may be had in common. */
export function copyOf(value: unknown): unknown {
    if (value instanceof Date) {
        return new Date(value);
    }
    if (value instanceof URL) {
        return new URL(value);
    }
    return isPlain(value) ? mapMembers(value, copyOf) : value;
}
