// Stacks of tests on a real cloud: kept on disk, with their journals, so that what a killed test leaves is deleted by its next run,
// or by a sweep.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { loadAddon, type NativeStack } from "../../native";
import { parseJson, toJsonText } from "../../originals";
import { messageOf } from "../../process/errors";
import { ask } from "../judgement";

/** Where tests are run; a directory for each stack of each test that says `realCloud`. */
const FOLDER = ".maloko-tests";
const CARD = "test.json";
const STATE = "state";
/** With it, the commands of maloko that do without a program work on the stack. */
const PROJECT = "Pulumi.yaml";

/** Whose stack it is. */
interface Card {
    test: string;
    file: string;
    project: string;
    stack: string;
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

    /** `ordinal`: which of the test's stacks it is. `root`: where tests are run. */
    constructor({ test, file, project, stack }: Card, ordinal: number, root: string) {
        this.#card = { test, file: path.relative(root, file), project, stack };
        const own = `${this.#card.file}\0${test}\0${ordinal}\0${project}\0${stack}`;
        const name = createHash("sha256").update(own).digest("hex").slice(0, 16);
        this.directory = path.join(root, FOLDER, name);
        this.isLeftover = fs.existsSync(path.join(this.directory, CARD));
        try {
            this.native = this.#open();
        } catch (error) {
            const { directory } = this;
            const told = ask<string>({ ask: "ledger_unreadable", test, directory, stack, error: messageOf(error) });
            this.unreadable = new Error(told, { cause: error });
        }
    }

    #open(): NativeStack {
        const { project, stack } = this.#card;
        fs.mkdirSync(this.directory, { recursive: true, mode: 0o700 });
        fs.writeFileSync(path.join(path.dirname(this.directory), ".gitignore"), "*\n");
        const lines = [`name: ${toJsonText(project)}`, "runtime: nodejs", "backend:", `  url: file://./${STATE}`];
        fs.writeFileSync(path.join(this.directory, PROJECT), `${lines.join("\n")}\n`);
        fs.writeFileSync(path.join(this.directory, CARD), `${toJsonText(this.#card)}\n`);
        return loadAddon().TestStack.open(path.join(this.directory, STATE), project, stack);
    }

    /** The damaged journals that are kept beside the state, in words: they may tell of what the state does not. */
    setAside(): string[] {
        const place = path.join(this.directory, STATE, ".pulumi", "maloko");
        const names = fs.existsSync(place) ? (fs.readdirSync(place, { recursive: true }) as string[]) : [];
        const journals = names.filter((name) => path.basename(name).startsWith("journal-")).sort();
        return ask({ ask: "journals_set_aside", journals: journals.map((name) => path.join(place, name)) });
    }

    /** The directories of all stacks of the same test that are there; one whose card cannot be read is nobody's. */
    siblings(): string[] {
        const root = path.dirname(this.directory);
        const directories = fs.existsSync(root) ? fs.readdirSync(root).map((name) => path.join(root, name)) : [];
        return directories.sort().filter((directory) => {
            try {
                const card = parseJson(fs.readFileSync(path.join(directory, CARD), "utf8")) as Partial<Card>;
                return card.test === this.#card.test && card.file === this.#card.file;
            } catch {
                return false;
            }
        });
    }

    /** Forgets a stack that has nothing left. */
    close(): void {
        fs.rmSync(this.directory, { recursive: true, force: true });
    }
}
