// What can happen to a stack in its life, as plain data: a list of steps is a program that anybody can read and run again.

import { ask } from "../judgement";
import type { CrashKind } from "../stack/points";
import type { Inputs } from "../stack/subject";
import type { Extent } from "./edits";

/** When somebody else deploys the same program: while this `up` is at work (and then again, after it), or before it. */
export type Moment = "during" | "before";

/**
 * `edit`, `remove`: the program is changed; inputs that `check` refuses do not get into it. `import`: an object that somebody
 * made with these inputs is taken over; without inputs, the stack forgets the resource, and takes its object over. `drift`,
 * `vanish`: somebody changes or removes the object. `crash`: an `up` is cut off before or after one of its calls or at one of its
 * writes (the number counts, from 1 and again and again, those at which that kind can happen). `lose_answer`: the provider does
 * what an `up` asks for, and its answers are lost. The next `up` has to mend both. `restart`: another process, with a provider
 * object of its own, goes on with the stack. `second_writer`: see {@link Moment}.
 */
export type Step =
    | readonly ["edit", string, Inputs]
    | readonly ["remove", string]
    | readonly ["up"]
    | readonly ["preview"]
    | readonly ["refresh"]
    | readonly ["destroy"]
    | readonly ["import", string, Inputs]
    | readonly ["import", string]
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

/** What steps are drawn from. */
export interface DrawnFrom {
    resources: string[];
    /** How much an edit changes, and how often that is to be drawn. */
    extents: [Extent, number][];
    mostPicks: number;
    mostEdits: number;
    mostPoints: number;
    crashes: CrashKind[];
    moments: Moment[];
}

/** Says it, where some rules are left out. Throws a TypeError for ones that cannot be. */
export function drawnFrom(without: Partial<Record<Rule, string>> = {}): DrawnFrom {
    const { mistake, ...drawn } = ask<DrawnFrom & { mistake: string | null }>({ ask: "lifecycles", without });
    if (mistake !== null) {
        throw new TypeError(mistake);
    }
    return drawn;
}

/** A value as TypeScript. */
export function literal(value: unknown): string {
    return JSON.stringify(value)
        .replace(/"([A-Za-z_$][\w$]*)":/g, "$1: ")
        .replaceAll(",", ", ")
        .replace(/^\{(.+)\}$/, "{ $1 }");
}
