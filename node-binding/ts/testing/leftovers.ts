// What a test's stack leaves behind: deleted when the test ends, or by its next run where it was killed.
import { messageOf } from "../errors";
import type { Ledger } from "./ledger";
import { labelOf } from "./outcome";
import type { Row } from "./settings";
import type { StackState } from "./state";

/** What one stack leaves. */
export class Leftovers {
    #looked = false;

    /** `ledger`: where it is written down; only for stacks on a real cloud. */
    constructor(
        private readonly state: StackState,
        private readonly ledger: Ledger | undefined,
    ) {}

    /** Writes down what is there now, or may be. */
    note(): void {
        if (this.ledger !== undefined && this.state.rows().length + this.state.suspects().length > 0) {
            this.ledger.write(this.state.native.export());
        }
    }

    /** Where nothing is left, nothing has to be written down any more. */
    forget(): void {
        // What an earlier run has left is not in the state before it has been looked for.
        if (this.#looked && this.state.rows().length === 0) {
            this.ledger?.remove();
        }
    }

    /**
     * Has `destroy` delete what an earlier run of the test has left, once. Gives its labels; undefined when it has been looked
     * for before. Throws an error that names what could not be deleted.
     */
    async drain(destroy: () => Promise<unknown>): Promise<string[] | undefined> {
        if (this.#looked) {
            return undefined;
        }
        this.#looked = true;
        const left = this.ledger?.read();
        if (left === undefined) {
            return [];
        }
        this.state.native.import(left, this.ledger?.file ?? "the ledger");
        this.state.unprotect();
        const found = this.#objects();
        try {
            await destroy();
        } catch (error) {
            throw new Error(
                `an earlier run of this test left objects that could not be deleted: ${this.#objects().map(labelOf).join(", ")}\n` +
                    messageOf(error),
                { cause: error },
            );
        }
        this.ledger?.remove();
        const suspects = this.state
            .suspects()
            .map(({ urn }) => `${urn.slice(urn.lastIndexOf("::") + 2)} (it may have been created: nobody knows)`);
        return [...found.map(labelOf), ...suspects];
    }

    /** Has `destroy` delete everything at the end of the test. Throws an error that names what could not be deleted. */
    async remove(destroy: () => Promise<unknown>): Promise<void> {
        this.state.unprotect();
        const failure = await destroy().then(
            () => undefined,
            (cause: unknown) => ({ cause }),
        );
        const left = this.#objects();
        if (left.length === 0 && failure === undefined) {
            return;
        }
        const what =
            left.length > 0
                ? `these could not be deleted: ${left.map(labelOf).join(", ")}`
                : "the stack could not be destroyed";
        const reason = failure === undefined ? "" : `\n${messageOf(failure.cause)}`;
        throw new Error(`at the end of the test, ${what}${reason}`, failure);
    }

    #objects(): Row[] {
        return this.state.rows().filter(({ custom }) => custom);
    }
}
