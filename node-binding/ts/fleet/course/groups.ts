// Stacks by the values of their labels, as limits count them. The workflow uses this file.
import type { StackSpec } from "../wire";

/** The stacks that have the same value of a label. */
export interface Group {
    label: string;
    value: string;
    /** What tells it from others. */
    key: string;
}

/** Those of a stack for which there are limits. */
export function groupsOf({ labels }: StackSpec, limited: Record<string, number>): Group[] {
    return Object.keys(limited)
        .filter((label) => Object.hasOwn(labels, label))
        .map((label) => groupOf(label, labels[label] as string));
}

/** The stacks with a value of a label. */
export function groupOf(label: string, value: string): Group {
    return { label, value, key: JSON.stringify([label, value]) };
}
