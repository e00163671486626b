// What a test's stack leaves behind: deleted when the test ends, or by its next run where it was killed.
import { messageOf } from "../../process/errors";
import { show } from "../values";
import type { ReportedCall } from "./calls";
import type { Ledger } from "./ledger";
import { labelOf } from "./outcome";
import type { Row } from "./settings";
import type { StackState } from "./state";
import { type LeftCreates, leftCreates, settledKeys } from "./unresolved-creates";

/** The outcome of an attempt to destroy what a stack has. */
export interface Destroyed {
    /** What was thrown. */
    failure: { cause: unknown } | undefined;
    /** What providers were asked. */
    calls: readonly ReportedCall[];
}

/** What one stack leaves. */
export class Leftovers {
    #drained = false;
    // Could something not be deleted at the end of the test?
    #stays = false;
    #undrained: Error | undefined;

    /**
     * `ledger`: where it is kept on disk; only for stacks on a real cloud. `again`: the command that runs the test alone, for
     * messages.
     */
    constructor(
        private readonly state: StackState,
        private readonly ledger: Ledger | undefined,
        private readonly again: string,
    ) {}

    /** Is there anything to be deleted, or looked for? */
    get isEmpty(): boolean {
        return this.state.rows().length === 0 && this.#open([]).left.length === 0;
    }

    /** Why what an earlier run left is still there; undefined when it is not. */
    get undrained(): Error | undefined {
        return this.#undrained;
    }

    /** Where nothing is left, nothing has to be kept any more: the state is gone after that. */
    forget(): void {
        const { ledger } = this;
        // What an earlier run has left is looked for before the first operation.
        const isKnown = this.#drained || (ledger?.isLeftover === false && ledger.unreadable === undefined);
        if (isKnown && !this.#stays && this.isEmpty) {
            ledger?.close();
        }
    }

    /**
     * Has `destroy` delete what an earlier run of the test has left, once. Gives what it did, in words; undefined when that has
     * been done before. Throws an error that names what could not be deleted, or may be left.
     */
    async drain(destroy: () => Promise<Destroyed>): Promise<string[] | undefined> {
        if (this.#drained) {
            return undefined;
        }
        try {
            const done = await this.#drain(destroy);
            this.#drained = true;
            this.#undrained = undefined;
            return done;
        } catch (error) {
            this.#undrained = error as Error;
            throw error;
        }
    }

    async #drain(destroy: () => Promise<Destroyed>): Promise<string[]> {
        const { ledger } = this;
        if (ledger?.unreadable !== undefined) {
            throw ledger.unreadable;
        }
        if (ledger === undefined || !ledger.isLeftover) {
            return [];
        }
        const found = this.#objects();
        const { failure, calls } = await destroy();
        const { forgotten, text } = this.#open(calls, settledKeys());
        if (forgotten.length > 0) {
            this.state.native.forgetCreates(forgotten.map(({ urn }) => urn));
        }
        const stays = this.#objects();
        const problems: string[] = [];
        if (failure !== undefined || stays.length > 0) {
            problems.push(
                `an earlier run of this test left objects that could not be deleted: ${stays.map(labelOf).join(", ")}${reasonOf(failure)}`,
            );
        }
        if (text !== null) {
            problems.push(`an earlier run of this test was killed, and ${text}`);
        }
        problems.push(...ledger.setAside());
        if (problems.length > 0) {
            throw new Error(problems.join("\n"), failure);
        }
        this.#settle();
        // What `find` has found was not in the state before.
        const resources = new Set(found.map(({ urn }) => urn));
        const more = calls.filter(
            ({ urn, method, error }) => method === "delete" && error === null && !resources.has(urn),
        );
        return [
            ...found.map(labelOf),
            ...more.map(({ name, type, arguments: { id } }) => `${name} (${type}, id ${show(id)})`),
            ...forgotten.map((create) => `${create.text} was forgotten`),
        ];
    }

    /** Has `destroy` delete everything at the end of the test. Throws an error that names what could not be deleted, or may be left. */
    async remove(destroy: () => Promise<Destroyed>): Promise<void> {
        const { failure, calls } = await destroy().catch(
            (cause: unknown): Destroyed => ({ failure: { cause }, calls: [] }),
        );
        const left = this.#objects();
        const { text } = this.#open(calls);
        const problems: string[] = [];
        if (left.length > 0) {
            problems.push(`these could not be deleted: ${left.map(labelOf).join(", ")}${reasonOf(failure)}`);
        } else if (failure !== undefined) {
            problems.push(`the stack could not be destroyed${reasonOf(failure)}`);
        }
        if (text !== null) {
            problems.push(text);
        }
        problems.push(...(this.ledger?.setAside() ?? []));
        if (problems.length > 0) {
            this.#stays = true;
            throw new Error(`at the end of the test, ${problems.join("\n")}`, failure);
        }
        this.#settle();
    }

    // Nothing is left of the creates that were open: a `find` has said so, or what it found is deleted.
    #settle(): void {
        const open = this.state.unresolvedCreates();
        if (open.length > 0) {
            this.state.native.forgetCreates(open.map(({ urn }) => urn));
        }
    }

    // What may be left, where that is kept.
    #open(calls: readonly ReportedCall[], settled: string[] = []): LeftCreates {
        return this.ledger === undefined
            ? { left: [], forgotten: [], text: null }
            : leftCreates(this.state.native, calls, this.again, settled);
    }

    #objects(): Row[] {
        return this.state.rows().filter(({ custom }) => custom);
    }
}

function reasonOf(failure: Destroyed["failure"]): string {
    return failure === undefined ? "" : `\n${messageOf(failure.cause)}`;
}
