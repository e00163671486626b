// At which points operations can be cut off, and how.

/**
 * What happens at a point. `kill`: the process is gone. `raise_before`, `raise_after`: the call or the write fails, without or
 * with its effect. `hang`: there is no answer. `enospc`: the store is full. `lose_lock`: somebody else has taken the stack.
 */
export type CrashKind = "kill" | "raise_before" | "raise_after" | "hang" | "enospc" | "lose_lock";

/** All of them. */
export const CRASH_KINDS: readonly CrashKind[] = ["kill", "raise_before", "raise_after", "hang", "enospc", "lose_lock"];

/** A point at which an operation could have been cut off, and how. */
export interface Point {
    number: number;
    label: string;
    kinds: CrashKind[];
}

/** Where a test is to be cut off, and how. */
export interface CrashPlan {
    /** Which of the test's stacks, from 0. */
    stack: number;
    /** The point's label: `before create of b`. */
    label: string;
    kind: CrashKind;
}
