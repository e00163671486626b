// How often each stack of a run was begun, and what for. The workflow uses this file.
import type { CourseState } from "../wire";

/** The members of a run's state that tell of the stacks which have not ended. */
type StartsState = Pick<CourseState, "tries" | "awaits" | "givenUp">;

/** The starts of all stacks, by their names. */
export class Starts {
    readonly #tries: Map<string, number>;
    readonly #awaits: Map<string, string[]>;
    readonly #givenUp: Set<string>;

    constructor(state: StartsState | null) {
        this.#tries = new Map(Object.entries(state?.tries ?? {}));
        this.#awaits = new Map(Object.entries(state?.awaits ?? {}));
        this.#givenUp = new Set(state?.givenUp);
    }

    /** How many there were. */
    of(id: string): number {
        return this.#tries.get(id) ?? 0;
    }

    /** A stack begins; gives the number of the start. */
    begin(id: string): number {
        const number = this.of(id) + 1;
        this.#tries.set(id, number);
        return number;
    }

    /** It has not begun after all. */
    takeBack(id: string): void {
        this.#tries.set(id, this.of(id) - 1);
    }

    /** The first start of a stack was given up with its batch. */
    giveUp(id: string): void {
        this.#givenUp.add(id);
    }

    /** Other stacks for which a stack was begun once more, the last one last: it had been begun too early. */
    needs(id: string): readonly string[] {
        return this.#awaits.get(id) ?? [];
    }

    /** A stack turned out to need another one. */
    wasEarlyFor(id: string, other: string): void {
        this.#awaits.set(id, [...this.needs(id), other]);
    }

    /** Those that failed, once the last one has ended: all that found no other stack, and were not given up. */
    failures(id: string): number {
        return this.of(id) - this.needs(id).length - (this.#givenUp.has(id) ? 1 : 0);
    }

    /** The stacks that turned out to need others, each with the last one. */
    early(): [id: string, other: string][] {
        return [...this.#awaits].map(([id, found]) => [id, found.at(-1) as string]);
    }

    /** What the next history has to know. */
    state(ended: ReadonlyMap<string, unknown>): StartsState {
        const open = <T>(all: Map<string, T>): Record<string, T> =>
            Object.fromEntries([...all].filter(([id]) => !ended.has(id)));
        return {
            tries: open(this.#tries),
            awaits: open(this.#awaits),
            givenUp: [...this.#givenUp].filter((id) => !ended.has(id)).sort(),
        };
    }
}
