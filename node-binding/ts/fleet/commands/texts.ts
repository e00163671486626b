// Documents for the texts that Rust makes, so that both languages show the same.
import { loadAddon } from "../../native";
import { toJsonText } from "../../originals";
import type { End } from "../ends";
import type { Progress, StackProgress } from "../progress";
import type { Result } from "../run";
import type { Plan } from "../wire";

const SHOWN = 10;

/** The text for a document, in lines that a terminal has room for. */
export function shown(
    kind: "progress" | "results" | "runs" | "past",
    document: object,
    columns: number | undefined,
): string {
    return loadAddon()
        .fleetText(kind, toJsonText(document), columns ?? 0)
        .trimEnd();
}

/** A run's progress, as it is shown and as `--json` prints it. */
export function progressDocument(progress: Progress) {
    const { run, verb, wave, waves, state, stopped, counts, seconds, perMinute, remaining } = progress;
    return {
        run,
        verb,
        wave,
        waves,
        state,
        stopped,
        counts,
        seconds: rounded(seconds),
        perMinute: perMinute === undefined ? null : rounded(perMinute),
        remaining: remaining === undefined ? null : rounded(remaining),
        stacks: progress.atWork.slice(0, SHOWN).map(rowOf),
        failures: progress.failures.map(({ stack, outcome, reason, text, attempts }) => ({
            id: stack,
            text: outcome === "failed" ? `${reason}: ${text}` : text,
            attempts,
        })),
    };
}

/** A stack that is worked on, or waits to be, as it is shown. */
export function rowOf({ stack, worker, attempt, isRunning, done, total, failure }: StackProgress) {
    const waits = failure === "" ? "waits for a worker" : `waits: ${failure}`;
    const works = total === undefined || total === 0 ? "at work" : `${done ?? 0} of ${total}`;
    return {
        id: stack,
        text: isRunning ? works : waits,
        worker: worker === "" ? null : worker,
        attempt,
        note: failure !== "" && isRunning ? `before: ${failure}` : null,
    };
}

function rounded(value: number): number {
    return Math.round(value * 10) / 10;
}

/** A run's result, as it is shown and as `--json` prints it. */
export function resultDocument({ run, fleet, verb, outcome, stopped, seconds, counts, ends }: Result) {
    return { run, fleet, verb, outcome, stopped, seconds, counts, ends: ends.map((end) => end.wire()) };
}

/** Writes what the command was asked for: a text, or a document where JSON is wanted. */
export function print(told: string | object): void {
    process.stdout.write(`${typeof told === "string" ? told : toJsonText(told)}\n`);
}

/** How many stacks a plan has. */
export function stacksInWords({ stacks }: Plan): string {
    return stacks.length === 1 ? "1 stack" : `${stacks.length} stacks`;
}

/** Writes a line for people, apart from what the command was asked for. */
export function say(text: string): void {
    process.stderr.write(`${text}\n`);
}

/** A stack that did not succeed, in a line. */
export function lineOf({ outcome, stack, text }: End): string {
    return `${outcome} ${stack}${text === "" ? "" : `: ${text}`}`;
}
