// What stacks have changed in starts that were not their last ones: their ends tell of it, too.
import type { StackEnd } from "../wire";

/** What is done to resources that stay as they are. */
export const NO_CHANGE: readonly string[] = ["same", "read"];

type Changes = Record<string, number>;

/** By stack, resources by what was done to them. */
export class EarlierChanges {
    readonly #changes: Map<string, Changes>;

    constructor(changes: Record<string, Changes> = {}) {
        this.#changes = new Map(Object.entries(changes));
    }

    /** What the earlier starts of a stack have changed. */
    of(id: string): Changes {
        return this.#changes.get(id) ?? {};
    }

    /** A start has ended so, and another one follows. */
    add(end: StackEnd): void {
        this.addChanges(end.id, end.changes);
    }

    /** A start has changed that, and another one follows. */
    addChanges(id: string, changes: Changes): void {
        this.#changes.set(id, this.#sum(id, changes));
    }

    /** The end of a stack with what all its starts have changed. */
    inAll(end: StackEnd): StackEnd {
        if (Object.keys(this.of(end.id)).length === 0) {
            return end;
        }
        const left = Object.fromEntries(Object.entries(end.changes).filter(([op]) => NO_CHANGE.includes(op)));
        const outcome = end.outcome === "unchanged" ? "done" : end.outcome;
        return { ...end, outcome, changes: { ...this.#sum(end.id, end.changes), ...left } };
    }

    /** The same without the stacks that have ended. */
    state(ended: ReadonlyMap<string, StackEnd>): Record<string, Changes> {
        return Object.fromEntries([...this.#changes].filter(([id]) => !ended.has(id)));
    }

    #sum(id: string, changes: Changes): Changes {
        const sum = { ...this.of(id) };
        for (const [op, count] of Object.entries(changes)) {
            if (!NO_CHANGE.includes(op)) {
                sum[op] = (sum[op] ?? 0) + count;
            }
        }
        return sum;
    }
}
