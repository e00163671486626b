// What a law is.
import type { Inputs } from "../stack/subject";
import type { BaselineRow } from "./options";
import type { Laboratory } from "./trial";

/** The names of the laws. */
export const LAW_NAMES = [
    "L1",
    "L2",
    "L3",
    "L4",
    "L5",
    "L6",
    "L7",
    "L8",
    "L9",
    "L10",
    "L11",
    "L12",
    "L13",
    "L14",
    "L15",
    "L16",
    "L17",
] as const;

export type LawName = (typeof LAW_NAMES)[number];

/** What a law cannot do without. */
export type Need = "check" | "read" | "world" | "deleteRemote" | "mutateRemote" | "secret" | "baseline" | "two";

/** What a law gets besides the provider and the inputs. */
export interface LawContext {
    baseline: BaselineRow[];
    /** So long (milliseconds) a call may take to end once it is cancelled. */
    grace: number;
}

export interface Law {
    name: LawName;
    /** What holds. */
    title: string;
    /** What it cannot do without, and what for, in the order in which it is missed. */
    needs: readonly (readonly [need: Need, why: string])[];
    /** How many inputs it takes at a time. */
    count: 0 | 1 | 2 | 8;
    /** It runs the engine, or waits: fewer examples will do. */
    slow?: boolean;
    /** It breaks whatever the inputs are: they are not made smaller. */
    whole?: boolean;
    /** Throws a `LawBroken` where it does not hold. */
    holds(laboratory: Laboratory, inputs: Inputs[], context: LawContext): Promise<void>;
}
