// What a test's stack leaves behind: deleted when the test ends, or by its next run where it was killed.
import type { Ledger } from "./ledger";

/** The outcome of an attempt to destroy what a stack has, in words. */
export interface Teardown {
    /** What was there, or was found, and is gone now. */
    deleted: string[];
    /** Unresolved creates of which the user says that it is known what became of their objects. */
    forgotten: string[];
    /** What could not be deleted, or may be left. */
    problems: string[];
    /** What the operation threw. */
    failure: { cause: unknown } | undefined;
}

/** What one stack leaves. */
export class Leftovers {
    #drained = false;
    // Was all deleted at the end of the test?
    #gone = false;
    #undrained: Error | undefined;

    /** `ledger`: where the stack is kept on disk; only for stacks on a real cloud. */
    constructor(private readonly ledger: Ledger | undefined) {}

    /** Where the stack is kept on disk. */
    get directory(): string | undefined {
        return this.ledger?.directory;
    }

    /** Why what an earlier run left is still there; undefined when it is not. */
    get undrained(): Error | undefined {
        return this.#undrained;
    }

    /** Where nothing is left, nothing has to be kept any more: the state is gone after that. `written`: has the test done something? */
    forget(written: boolean): void {
        const { ledger } = this;
        // What an earlier run has left is looked for before the first operation.
        const isKnown = this.#drained || (ledger?.isLeftover === false && ledger.unreadable === undefined);
        if (isKnown && (this.#gone || !written)) {
            ledger?.close();
        }
    }

    /**
     * Has `tearDown` delete what an earlier run of the test has left, once. Gives what it did, in words. Throws an error that names
     * what could not be deleted, or may be left.
     */
    async drain(tearDown: (settled: string[]) => Promise<Teardown>): Promise<string[]> {
        if (this.#drained) {
            return [];
        }
        try {
            const done = await this.#drain(tearDown);
            this.#drained = true;
            this.#undrained = undefined;
            return done;
        } catch (error) {
            this.#undrained = error as Error;
            throw error;
        }
    }

    async #drain(tearDown: (settled: string[]) => Promise<Teardown>): Promise<string[]> {
        const { ledger } = this;
        if (ledger?.unreadable !== undefined) {
            throw ledger.unreadable;
        }
        if (ledger === undefined || !ledger.isLeftover) {
            return [];
        }
        const { deleted, forgotten, problems, failure } = await tearDown(settledKeys());
        if (problems.length > 0) {
            const told = "an earlier run of this test was killed, and what it left is still there: ";
            throw new Error(told + problems.join("; "), failure);
        }
        return [...deleted, ...forgotten.map((create) => `${create} was forgotten`)];
    }

    /** Has `tearDown` delete everything at the end of the test. Throws an error that names what could not be deleted, or may be left. */
    async remove(tearDown: () => Promise<Teardown>): Promise<void> {
        const { problems, failure } = await tearDown();
        if (problems.length > 0) {
            throw new Error(`at the end of the test, ${problems.join("\n")}`, failure);
        }
        this.#gone = true;
    }
}

// The keys of which the user says, in a sweep, that it is known what became of their objects.
function settledKeys(): string[] {
    const { MALOKO_SWEEP, MALOKO_FORGET_UNRESOLVED: keys } = process.env;
    return MALOKO_SWEEP && keys !== undefined ? [keys] : [];
}
