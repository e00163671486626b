// How many stacks a worker is given at once: several where each takes a moment, for each giving costs the server. The workflow uses
// this file.
import { isSuccess, type Limits, type StackEnd, type StackSpec } from "../wire";

/** How long the stacks that a worker is given at once take together, if they take as long as the last ones. */
export const SECONDS = 1;
/** Stacks that a worker is given at once. */
const MOST = 16;
/** A stack is quick up to here: nobody minds waiting behind it. */
const QUICK = SECONDS / 4;
/** So many of the last stacks say how long one takes. */
const JUDGED_BY = 16;
/** So many say how many are at work at a time. */
const SLOTS_JUDGED_BY = 64;

/**
 * Judges by the slowest of the last stacks, so that none waits behind a slow one where slow ones are about. Where all are quick, some
 * are so only because they had a processor to themselves: then it judges by the median. Times are seconds.
 */
export class Batches {
    // A rate is a matter of single starts.
    readonly #hasRates: boolean;
    #learned = 0;
    readonly #seconds: number[] = [];
    // When each of the last ones ended, and how long it took.
    readonly #ended: { at: number; seconds: number }[] = [];

    constructor({ startsPerSecond }: Limits) {
        this.#hasRates = Object.keys(startsPerSecond).length > 0;
    }

    /** A stack has ended so; `now` undefined: before this history of the run. */
    learn({ outcome, seconds }: StackEnd, now?: number): void {
        if (!isSuccess(outcome)) {
            return;
        }
        this.#learned += 1;
        keepLast(this.#seconds, seconds, JUDGED_BY);
        if (now !== undefined) {
            keepLast(this.#ended, { at: now, seconds }, SLOTS_JUDGED_BY);
        }
    }

    /** How many to give at once. `ready`: stacks that could begin, with the one that does. `slots`: how many may be given out at a time. */
    size(ready: number, slots: number, now: number): number {
        const trusted = Math.floor(this.#learned / 2);
        if (this.#hasRates || trusted < 2) {
            return 1;
        }
        const byTime = Math.floor(SECONDS / Math.max(this.#usual(), SECONDS / MOST));
        const share = Math.floor(ready / Math.min(slots, this.#atWork(now)));
        return Math.max(Math.min(trusted, byTime, share), 1);
    }

    // How long a stack takes. No mean: what is decided has to be the same wherever it is replayed, to the last bit.
    #usual(): number {
        const quickestFirst = this.#seconds.toSorted((one, other) => one - other);
        const slowest = quickestFirst.at(-1) ?? 0;
        return slowest <= QUICK ? (quickestFirst[Math.floor(quickestFirst.length / 2)] ?? 0) : slowest;
    }

    // How many were at work at a time, as the last ends show; workers may have fewer slots than limits allow.
    #atWork(now: number): number {
        const since = this.#ended[0]?.at ?? now;
        let worked = 0;
        for (const { at, seconds } of this.#ended) {
            // What ended in the first moment was worked on before it.
            worked += at > since ? seconds : 0;
        }
        return worked > 0 && now > since ? Math.max(Math.ceil(worked / (now - since)), 1) : Number.POSITIVE_INFINITY;
    }
}

function keepLast<T>(all: T[], value: T, most: number): void {
    all.push(value);
    if (all.length > most) {
        all.shift();
    }
}

/** Do the same workers take both? */
export function isForSameWorkers(one: StackSpec, other: StackSpec): boolean {
    return one.queue === other.queue && one.language === other.language;
}
