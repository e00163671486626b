// What can happen to a stack in its life, as plain data: a list of steps is a program that anybody can read and run again.
import { type CrashKind, mistakeInKinds } from "../crash";
import type { Inputs } from "../stack/subject";

/** One of the resources that a program may have. */
export const RESOURCES = ["a", "b", "c"] as const;

/** When somebody else deploys the same program: while this `up` is at work (and then again, after it), or before it. */
export const MOMENTS = ["during", "before"] as const;

export type Moment = (typeof MOMENTS)[number];

/**
 * `edit`, `remove`: the program is changed. `import`: an object that somebody made is taken over. `drift`, `vanish`: somebody
 * changes or removes the object. `crash`: an `up` is cut off before or after one of its calls or at one of its writes (the
 * number counts, from 1 and again and again, those at which that kind can happen), and done again. `lose_answer`: the provider
 * does what an `up` asks for, its answers are lost, and the `up` is done again. `restart`: another process, with a provider
 * object of its own, goes on with the stack. `second_writer`: see {@link MOMENTS}.
 */
export type Step =
    | readonly ["edit", string, Inputs]
    | readonly ["remove", string]
    | readonly ["up"]
    | readonly ["preview"]
    | readonly ["refresh"]
    | readonly ["destroy"]
    | readonly ["import", string, Inputs]
    | readonly ["drift", string]
    | readonly ["vanish", string]
    | readonly ["crash", number, CrashKind]
    | readonly ["lose_answer"]
    | readonly ["restart"]
    | readonly ["second_writer", Moment];

/** The kinds of steps. */
export const RULES = [
    "edit",
    "remove",
    "up",
    "preview",
    "refresh",
    "destroy",
    "import",
    "drift",
    "vanish",
    "crash",
    "lose_answer",
    "restart",
    "second_writer",
] as const satisfies readonly Step[0][];

export type Rule = (typeof RULES)[number];

/** Has a step an argument that there is none of? Says which; the types say so where they are looked at. */
export function mistakeIn(step: Step): string | undefined {
    const [rule, ...args] = step as readonly [string, ...unknown[]];
    if (!(RULES as readonly string[]).includes(rule)) {
        return `there is no rule '${rule}'; there are ${RULES.join(", ")}`;
    }
    if (rule === "crash" && !(Number.isInteger(args[0]) && Number(args[0]) > 0)) {
        return `the points of a crash are counted from 1, not ${String(args[0])}`;
    }
    const kind = rule === "crash" ? mistakeInKinds([args[1]]) : undefined;
    if (kind !== undefined) {
        return kind;
    }
    if (rule === "second_writer" && !(MOMENTS as readonly unknown[]).includes(args[0])) {
        return `a second writer comes ${MOMENTS.join(" or ")}, not ${String(args[0])}`;
    }
    return undefined;
}

/** A step as TypeScript. */
export function stepText(step: Step): string {
    return JSON.stringify(step)
        .replace(/"([A-Za-z_$][\w$]*)":/g, "$1: ")
        .replaceAll(",", ", ")
        .replace(/\{(.+)\}/, "{ $1 }");
}
