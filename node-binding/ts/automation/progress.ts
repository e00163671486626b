// How far an operation has come, in numbers that the engine counts itself: no event is made for them.

/** So many seconds after a report comes the next one, where the caller does not say. */
const EVERY = 2.5;

/** How far an operation has come. */
export interface Progress {
    /** Steps that are done, as the summary counts them. */
    readonly done: number;
    /**
     * The steps that are known so far: of `up` and `preview` more with each resource that the program registers, of `refresh` and
     * `destroy` those of the state.
     */
    readonly total: number;
    /** Resources that failed or were refused. */
    readonly failed: number;
    /** A number that is higher in each report of the operation. */
    readonly reports: number;
    /** Up to three provider calls that have gone on for the longest time, the longest first. */
    readonly slowest: readonly SlowCall[];
}

/** A provider call that goes on: the resource, the method (such as `create`), and for how long it has. */
export type SlowCall = readonly [urn: string, method: string, seconds: number];

/** Options of operations beside the official ones. */
export interface ProgressOptions {
    /** Is told how far the operation has come: `progressEvery` seconds after the last time, and at its end. */
    onProgress?: (progress: Progress) => void;
    /** Seconds; 2.5 when not given. */
    progressEvery?: number;
}

/** The report of a process that has not reported. */
export const NOTHING_YET: Progress = { done: 0, total: 0, failed: 0, reports: 0, slowest: [] };

/** The seconds between two reports; throws a RangeError for what is no time that can pass. */
export function interval(every: number | undefined): number {
    const seconds = every ?? EVERY;
    if (!(Number.isFinite(seconds) && seconds > 0)) {
        throw new RangeError(`\`progressEvery\` is ${every}; it must be a number of seconds above 0, such as ${EVERY}`);
    }
    return seconds;
}
