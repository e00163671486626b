// A command on a pseudo-terminal, with somebody who reads and types.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";

const PSEUDO_TERMINAL = join(
    dirname(fileURLToPath(import.meta.url)),
    "..",
    "..",
    "python-tests",
    "support",
    "pseudo_terminal.py",
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what moves the cursor
const SEQUENCES = /\x1b\[[0-9;?]*[a-zA-Z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks around what is drawn at once
const FRAME = /\x1b\[\?2026h([\s\S]*?)\x1b\[\?2026l/g;
const PATIENCE_MILLISECONDS = 200_000;

function plain(raw: string): string {
    return raw.replace(SEQUENCES, "").replaceAll("\r", "");
}

export class Terminal {
    /** All that was written so far. */
    raw = "";
    readonly #child: ChildProcessWithoutNullStreams;
    readonly #ended: Promise<number | null>;
    #over = false;
    #seen = 0;
    #arrived: () => void = () => {};

    constructor(command: string[], cwd: string, env: NodeJS.ProcessEnv) {
        this.#child = spawn("python3", [PSEUDO_TERMINAL, ...command], { cwd, env: { ...env, TERM: "xterm" } });
        onTestFinished(() => void this.#child.kill("SIGKILL"));
        this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
            this.raw += text;
            this.#arrived();
        });
        this.#ended = new Promise((resolve) =>
            this.#child.once("close", (code) => {
                this.#over = true;
                this.#arrived();
                resolve(code);
            }),
        );
    }

    /** What was written without what moves the cursor, one live view after the other. */
    get text(): string {
        return plain(this.raw);
    }

    /** The live view that was drawn last. */
    get view(): string {
        return plain([...this.raw.matchAll(FRAME)].at(-1)?.[1] ?? "");
    }

    /** Waits until something holds of what is shown. */
    async until(holds: () => boolean, what: string): Promise<void> {
        const end = Date.now() + PATIENCE_MILLISECONDS;
        while (!holds()) {
            const left = end - Date.now();
            if (left <= 0 || this.#over) {
                throw new Error(`${what} was never shown:\n${this.text}`);
            }
            await new Promise<void>((resolve) => {
                const timer = setTimeout(resolve, left);
                this.#arrived = () => {
                    clearTimeout(timer);
                    resolve();
                };
            });
        }
    }

    /** Waits until the live view has this. */
    async shows(pattern: RegExp): Promise<void> {
        await this.until(() => pattern.test(this.view), String(pattern));
    }

    /** Waits until this is written, after all that was waited for before; what stands between. */
    async says(words: string): Promise<string> {
        await this.until(() => this.text.indexOf(words, this.#seen) >= 0, words);
        const start = this.#seen;
        this.#seen = this.text.indexOf(words, start) + words.length;
        return this.text.slice(start, this.#seen);
    }

    /** Types this; a line ends with a line feed, and Ctrl-C is `\x03`. */
    types(keys: string): void {
        this.#child.stdin.write(keys);
    }

    /** Waits for the end of the command, which has this exit code. */
    async ends(code = 0): Promise<void> {
        const ended = await this.#ended;
        expect(ended, this.text).toBe(code);
    }
}
