// Which stacks of a run wait for which others. The workflow uses this file.
import type { StackSpec } from "../wire";

/** The order of a run; stacks are named by their places in its plan. */
export class Needs {
    readonly #place: Map<string, number>;
    readonly #unmet: number[];
    readonly #dependents: number[][];

    constructor(stacks: readonly StackSpec[]) {
        this.#place = new Map(stacks.map(({ id }, place) => [id, place]));
        this.#unmet = stacks.map(() => 0);
        this.#dependents = stacks.map(() => []);
        for (const [place, { needs }] of stacks.entries()) {
            for (const need of needs) {
                this.add(place, need);
            }
        }
    }

    /** A stack needs another one. What is not part of the run is there already, or the program says that it is not. */
    add(place: number, need: string): void {
        const needed = this.#place.get(need);
        if (needed !== undefined) {
            this.#unmet[place] = (this.#unmet[place] ?? 0) + 1;
            this.#dependents[needed]?.push(place);
        }
    }

    /** Waits a stack for no other? */
    areMet(place: number): boolean {
        return this.#unmet[place] === 0;
    }

    /** One that a stack needed has succeeded; gives whether it waits for no other now. */
    meet(place: number): boolean {
        this.#unmet[place] = (this.#unmet[place] ?? 0) - 1;
        return this.areMet(place);
    }

    /** Those that need a stack. */
    dependents(place: number): readonly number[] {
        return this.#dependents[place] ?? [];
    }

    /** Waits a stack for another one, by way of others that have not ended? */
    isBehind(place: number, other: number, hasEnded: (place: number) => boolean): boolean {
        const seen = new Set<number>();
        const waiting = [...this.dependents(other)];
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
            if (!seen.has(next) && !hasEnded(next)) {
                seen.add(next);
                waiting.push(...this.dependents(next));
            }
        }
        return seen.has(place);
    }
}
