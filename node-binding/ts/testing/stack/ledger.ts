// Stacks of tests on a real cloud: kept on disk, with their journals, so that what a killed test leaves is deleted by its next run,
// or by a sweep.
import * as fs from "node:fs";
import * as path from "node:path";
import { loadAddon, type NativeStack } from "../../native";
import { messageOf } from "../../process/errors";
import { ask } from "../judgement";

/** Whose stack it is. */
export interface Card {
    test: string;
    file: string;
    project: string;
    stack: string;
    plugins: "stubs" | "real";
}

/** The place on disk of one stack of a test. */
export class Ledger {
    readonly directory: string;
    /** Was there a run that did not come to its end? */
    readonly isLeftover: boolean;
    /** The stack, as a killed run has left it, or a new one; undefined when it cannot be read. */
    readonly native: NativeStack | undefined;
    /** Why it cannot be read. */
    readonly unreadable: Error | undefined;
    readonly #card: Card;

    /** `number`: which of the test's stacks it is. `root`: where tests are run. Throws for a directory that cannot be used. */
    constructor(
        whose: Card,
        number: number,
        private readonly root: string,
    ) {
        const card = { ...whose, file: path.relative(root, whose.file) };
        this.#card = card;
        const made = ask<{ directory: string; state: string; leftover: boolean }>({
            ask: "ledger",
            root,
            card,
            number,
            runtime: "nodejs",
        });
        this.directory = made.directory;
        this.isLeftover = made.leftover;
        const { test, stack, project } = card;
        try {
            this.native = loadAddon().TestStack.open(made.state, project, stack);
        } catch (error) {
            const { directory } = this;
            const told = ask<string>({ ask: "ledger_unreadable", test, directory, stack, error: messageOf(error) });
            this.unreadable = new Error(told, { cause: error });
        }
    }

    /** The directories of all stacks of the same test that are there; one whose card cannot be read is nobody's. */
    siblings(): string[] {
        const all = ask<{ directory: string; card: Card | null }[]>({ ask: "leftovers", root: this.root });
        const { test, file } = this.#card;
        return all.filter(({ card }) => card?.test === test && card.file === file).map((it) => it.directory);
    }

    /** Forgets a stack that has nothing left. */
    close(): void {
        fs.rmSync(this.directory, { recursive: true, force: true });
    }
}
