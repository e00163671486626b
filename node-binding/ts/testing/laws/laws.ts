// The laws, as `engine-kit/src/laws/table.rs` has them.
import { ask } from "../judgement";

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

/** A law. */
export interface Law {
    name: LawName;
    /** What holds. */
    title: string;
    /** How many inputs an example of it has. */
    inputs: number;
    /** Are smaller inputs looked for that break it, too? */
    shrinks: boolean;
}

let known: readonly Law[] | undefined;

/** The laws, in their order. */
export function laws(): readonly Law[] {
    known ??= ask<Law[]>({ ask: "laws" });
    return known;
}
