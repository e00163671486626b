// Ends of a command line's process that go past the engine: `process.reallyExit`, and the `process.exit` that no run deals
// with. Nobody is left to give a summary, and the exit code says nothing of the run. It is told, and never counts as success.
import { type BigIntStats, fstatSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { callStorage } from "../current";
import { ExitRefused } from "./exits";

// The exit code of a run in which something failed.
const FAILED = 1;
const STANDARD_ERROR = 2;
// Descriptors are looked for below this.
const DESCRIPTORS = 1024;

// What every Node has, and its types leave out.
interface Ending {
    reallyExit(code?: unknown): never;
    /** Only in newer versions. */
    execve?(file: string, ...rest: unknown[]): never;
    /** Set by `process.exit`. */
    _exiting?: boolean;
}

const ending = process as unknown as Ending;

/** Stands before the functions that end the process or put another program in its place, while a run goes on. */
export class DirectEnds {
    // During a run the descriptor itself is a pipe to the display, which ends with the process.
    readonly #stderr = statOf(STANDARD_ERROR);
    #preview = false;
    #restore: (() => void) | undefined;

    /** Called before code of the user runs. */
    begin(preview: boolean): void {
        this.#preview = preview;
        this.#restore ??= this.#replace();
    }

    /** Puts the functions back. Whoever has put something over them keeps that, and ours let everything pass. */
    over(): void {
        this.#restore?.();
        this.#restore = undefined;
    }

    #replace(): () => void {
        const { reallyExit, execve } = ending;
        const exitInstead = (given?: unknown): never => {
            if (this.#restore === undefined) {
                return reallyExit.call(process, given);
            }
            const code = Number(given ?? 0);
            this.#tell(code);
            return reallyExit.call(process, code & 0xff || FAILED);
        };
        const execInstead = (file: string, ...rest: unknown[]): never => {
            if (this.#restore !== undefined) {
                throw new ExitRefused(
                    `another program (${file}) would take the place of the process, and so of the whole run: start it with node:child_process`,
                );
            }
            return execve?.call(process, file, ...rest) as never;
        };
        ending.reallyExit = exitInstead;
        if (execve !== undefined) {
            ending.execve = execInstead;
        }
        return () => {
            if (ending.reallyExit === exitInstead) {
                ending.reallyExit = reallyExit;
            }
            if (execve !== undefined && ending.execve === execInstead) {
                ending.execve = execve;
            }
        };
    }

    #tell(code: number): void {
        const descriptor = this.#descriptor();
        // A tree of resources may leave the cursor in the middle of a line.
        const begin = isatty(descriptor) ? "\n" : "";
        try {
            writeSync(descriptor, `${begin}error: ${this.#text(code)}\n`);
        } catch {
            // There is no other place left to say so.
        }
    }

    // The engine keeps a copy of the descriptor for itself, and gives it to nobody.
    #descriptor(): number {
        for (let descriptor = STANDARD_ERROR; this.#stderr !== undefined && descriptor < DESCRIPTORS; descriptor++) {
            const found = statOf(descriptor);
            if (found?.dev === this.#stderr.dev && found.ino === this.#stderr.ino) {
                return descriptor;
            }
        }
        return STANDARD_ERROR;
    }

    #text(code: number): string {
        const call = callStorage.getStore();
        const name = call?.urn.slice(call.urn.lastIndexOf("::") + 2);
        const who = call === undefined ? "the program" : `${call.method} of '${name}'`;
        const how = ending._exiting === true ? "process.exit" : "process.reallyExit";
        const ended = `${who} ended the process with ${how}(${code}), and with it the run, which has no result`;
        return this.#preview
            ? `${ended}; nothing was changed. Correct that, and run the same command again`
            : `${ended}; what was done and what was in flight is in the journal. Run the same command again: it names what ` +
                  "was in flight, and takes up from the journal";
    }
}

function statOf(descriptor: number): BigIntStats | undefined {
    try {
        return fstatSync(descriptor, { bigint: true });
    } catch {
        return undefined;
    }
}
