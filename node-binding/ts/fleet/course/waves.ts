// Which wave of a run goes on, and when the next one may begin; times are seconds. The workflow uses this file.
import type { CourseState, Wave } from "../wire";

/** The waves of a run; stacks are named by their places in its plan. */
export class Waves {
    /** When the next one may begin, or when the last one could. */
    begins: number;
    readonly #waves: readonly Wave[];
    readonly #begun = new Set<number>();
    #at = -1;
    #left = 0;

    constructor(waves: readonly Wave[], now: number) {
        this.#waves = waves;
        this.begins = now + (waves[0]?.pause ?? 0);
    }

    /** The one that goes on, from 0; -1 before the first. */
    get at(): number {
        return this.#at;
    }

    /** The one that comes next, where this one is over. */
    get following(): Wave | undefined {
        return this.#left === 0 ? this.#waves[this.#at + 1] : undefined;
    }

    /** The next one begins; gives which it is. */
    begin(): number {
        this.#at += 1;
        return this.#at;
    }

    /** A stack of the wave that goes on, which has not ended. */
    enter(place: number): void {
        this.#begun.add(place);
        this.#left += 1;
    }

    /** Has the wave of a stack begun? */
    hasBegun(place: number): boolean {
        return this.#begun.has(place);
    }

    /** A stack has ended. */
    leave(place: number): void {
        this.#left -= this.#begun.has(place) ? 1 : 0;
    }

    /** Stacks have ended, or a wave has begun: where that was the last of the wave, the next one has its time. */
    settle(now: number): void {
        const { following } = this;
        if (following !== undefined) {
            this.begins = now + following.pause;
        }
    }

    /** As an earlier history of the run has left them. */
    goOnFrom({ wave, waveBegins }: CourseState): void {
        this.#at = wave;
        this.begins = waveBegins;
    }
}
