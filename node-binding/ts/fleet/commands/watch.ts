// Watching a run: once, or until it ends.
import { later, notLater } from "../../originals";
import { elapsed } from "../../process/waiting";
import { NoAnswerError } from "../ends";
import type { Progress } from "../progress";
import type { Result, Run } from "../run";
import { runOf } from "./find";
import { Interrupt, waitedFor } from "./interrupts";
import { missingPrograms } from "./pollers";
import type { Request } from "./request";
import { lineOf, print, progressDocument, resultDocument, say, shown } from "./texts";

/** Milliseconds. */
const LOOK = 1000;
/** Between two lines where there is no terminal that can be drawn on, in milliseconds. */
const LINE = 10_000;
/** After so many milliseconds somebody who asked is told that there is no answer yet. */
const SILENT = 2000;
/** Exit codes by how a run ended. */
const CODES = { done: 0, failed: 1, cancelled: 8 };

/** `fleet status`: where the run stands now. */
export async function status(asked: Request): Promise<number> {
    const run = await runOf(asked);
    const progress = await saidAfter(SILENT, `waiting for an answer of run ${run.id}`, run.progress());
    const document = progressDocument(progress);
    print(asked.json ? document : shown("progress", document, asked.columns));
    if (progress.atWork.some(({ isRunning, failure }) => !isRunning && failure === "")) {
        for (const message of await missingPrograms(run.client, (await run.order()).plan)) {
            say(`warning: ${message}`);
        }
    }
    return 0;
}

// Says a line where something takes longer.
async function saidAfter<T>(milliseconds: number, text: string, work: Promise<T>): Promise<T> {
    const timer = later(() => say(text), milliseconds);
    try {
        return await work;
    } finally {
        notLater(timer);
    }
}

/** `fleet watch`: until the run has ended. */
export async function watch(asked: Request): Promise<number> {
    const run = await runOf(asked);
    try {
        return tell(await follow(run, asked), asked);
    } catch (error) {
        if (error instanceof Interrupt) {
            sayItGoesOn(run);
            return 0;
        }
        throw error;
    }
}

/** Says how to come back to a run that goes on by itself. */
export function sayItGoesOn({ id }: Run): void {
    say(`\nthe run goes on: \`maloko fleet watch ${id}\` shows it, \`maloko fleet cancel ${id}\` ends it`);
}

/** Shows a run until it has ended; gives how it ended. Ctrl-C ends the showing with an `Interrupt`. */
export async function follow(run: Run, asked: Request, eachLook = (): void => {}): Promise<Result> {
    const quiet = asked.json === true;
    const drawn = asked.interactive && !quiet ? new TerminalLines() : undefined;
    const told = new Set<string>();
    const began = performance.now();
    let lineAt = began + LINE;
    let answers = true;
    while (true) {
        let progress: Progress;
        try {
            progress = await waitedFor(run.progress());
            answers = true;
        } catch (error) {
            if (!(error instanceof NoAnswerError)) {
                throw error;
            }
            // It goes on by itself, and answers as soon as there is a worker.
            if (answers) {
                say(`warning: ${error.message}`);
            }
            answers = false;
            eachLook();
            await aMoment(pauseAfter(performance.now() - began));
            continue;
        }
        const text = shown("progress", progressDocument(progress), asked.columns);
        if (drawn !== undefined) {
            drawn.draw(progress.state === "ended" ? "" : text);
        } else if (!quiet) {
            // What was skipped is told in few lines at the end.
            for (const end of progress.failures.filter(
                ({ outcome, stack }) => outcome === "failed" && !told.has(stack),
            )) {
                told.add(end.stack);
                say(lineOf(end));
            }
            if (performance.now() >= lineAt) {
                say(text.split("\n", 1)[0] ?? "");
                lineAt = performance.now() + LINE;
            }
        }
        if (progress.state === "ended") {
            return waitedFor(run.result());
        }
        eachLook();
        await aMoment(pauseAfter(performance.now() - began));
    }
}

// A short run is told at its end, not a second later; a long one is asked once a second.
function pauseAfter(milliseconds: number): number {
    return Math.min(50 + milliseconds / 4, LOOK);
}

/** Waits so many milliseconds, or until Ctrl-C. */
export function aMoment(milliseconds: number): Promise<void> {
    return waitedFor(elapsed(milliseconds));
}

/** Tells how a run ended; gives the exit code. */
export function tell(result: Result, asked: Request): number {
    const document = resultDocument(result);
    print(asked.json ? document : shown("results", document, asked.columns));
    return CODES[result.outcome];
}

// Lines at the end of a terminal that are written again and again.
class TerminalLines {
    #lines = 0;

    draw(text: string): void {
        const up = this.#lines > 0 ? `\x1b[${this.#lines}F` : "";
        process.stdout.write(text === "" ? `${up}\x1b[J` : `${up}\x1b[J${text}\n`);
        this.#lines = text === "" ? 0 : text.split("\n").length;
    }
}
