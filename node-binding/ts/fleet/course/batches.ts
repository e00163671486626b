// How many stacks a worker is given at once: several where each takes a moment, for each giving costs the server. The workflow uses
// this file.
import type { Limits, StackEnd, StackSpec } from "../wire";

/** How long the stacks that a worker is given at once take together, if they take as long as the last ones. */
export const SECONDS = 1;
/** Stacks that a worker is given at once. */
const MOST = 16;
/** So many of the last stacks say how long one takes. */
const JUDGED_BY = 16;

/** Judges by the slowest of the last stacks, so that none waits behind a slow one where slow ones are about. */
export class Batches {
    // A rate is a matter of single starts.
    readonly #hasRates: boolean;
    readonly #seconds: number[] = [];

    constructor({ startsPerSecond }: Limits) {
        this.#hasRates = Object.keys(startsPerSecond).length > 0;
    }

    /** A stack has ended so. */
    learn({ outcome, seconds }: StackEnd): void {
        if (outcome === "done" || outcome === "unchanged") {
            this.#seconds.push(seconds);
            this.#seconds.splice(0, this.#seconds.length - JUDGED_BY);
        }
    }

    /**
     * How many to give at once. `ready`: stacks that could begin, with the one that does. `slots`: how many may be given out at a
     * time; as long as there are no more, each goes by itself.
     */
    size(ready: number, slots: number): number {
        if (this.#hasRates || this.#seconds.length < JUDGED_BY) {
            return 1;
        }
        const byTime = Math.floor(SECONDS / Math.max(...this.#seconds, SECONDS / MOST));
        return Math.max(Math.min(byTime, Math.floor(ready / slots)), 1);
    }
}

/** Do the same workers take both? */
export function isForSameWorkers(one: StackSpec, other: StackSpec): boolean {
    return one.queue === other.queue && one.language === other.language;
}
