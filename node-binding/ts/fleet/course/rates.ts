// How often stacks may begin that have the same value of a label.

import type { NextStart, StackSpec } from "../wire";
import { type Group, groupOf, groupsOf } from "./groups";

/** The turns that the rates of a run have given; times are seconds. */
export class Rates {
    readonly #perSecond: Record<string, number>;
    readonly #next = new Map<string, { group: Group; at: number }>();

    /** `perSecond`: starts by label. */
    constructor(perSecond: Record<string, number>, nextStarts: NextStart[] = []) {
        this.#perSecond = perSecond;
        for (const { label, value, at } of nextStarts) {
            const group = groupOf(label, value);
            this.#next.set(group.key, { group, at });
        }
    }

    /** Takes the next turn for a stack; gives when that is. */
    nextTurn(stack: StackSpec, now: number): number {
        const groups = groupsOf(stack, this.#perSecond);
        // The first of a group comes at once, whenever that is.
        const turns = groups.map(({ key }) => this.#next.get(key)?.at ?? now);
        const at = turns.length === 0 ? now : Math.max(...turns);
        for (const group of groups) {
            this.#next.set(group.key, { group, at: Math.max(at, now) + 1 / (this.#perSecond[group.label] as number) });
        }
        return at;
    }

    state(): NextStart[] {
        return [...this.#next.values()].map(({ group: { label, value }, at }) => ({ label, value, at }));
    }
}
