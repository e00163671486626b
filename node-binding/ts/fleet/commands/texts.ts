// Documents for the texts that Rust makes, so that both languages show the same.
import { loadAddon } from "../../native";
import { toJsonText } from "../../originals";
import type { End } from "../ends";
import type { Progress, StackProgress } from "../progress";
import type { Result } from "../run";
import type { Plan } from "../wire";

const SHOWN = 10;
/** Members of documents that are rows of a table, and members of rows that may say of which resource a stack failed. */
const ROWS = ["stacks", "failures", "ends"];
const SAY = ["text", "note"];
/** A resource's URN as far as its name; the group is the last part of its type. */
const URN = /urn:pulumi:[^:\s]+::[^:\s]+::\S*?([^:\s$]+)::/g;

/** The text for a document, in lines that a terminal has room for. */
export function shown(
    kind: "progress" | "results" | "runs" | "past",
    document: object,
    columns: number | undefined,
): string {
    return loadAddon()
        .fleetText(kind, toJsonText(readable(document)), columns ?? 0)
        .trimEnd();
}

// The document with short names of resources in what failures say.
function readable(document: object): object {
    const members = Object.entries(document).map(([name, it]: [string, unknown]) => [
        name,
        ROWS.includes(name) ? (it as object[]).map(readableRow) : it,
    ]);
    return Object.fromEntries(members) as object;
}

function readableRow(row: object): object {
    const members = Object.entries(row).map(([name, it]: [string, unknown]) => [
        name,
        SAY.includes(name) && typeof it === "string" ? shortUrns(it) : it,
    ]);
    return Object.fromEntries(members) as object;
}

/** A text in which resources have type and name in place of their whole URN. */
export function shortUrns(text: string): string {
    return text.replace(URN, "$1 ");
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
            outcome,
            text: outcome === "failed" ? `${reason}: ${text}` : text,
            attempts,
        })),
    };
}

/** A stack that is worked on, or waits to be, as it is shown. */
export function rowOf(progress: StackProgress) {
    const { stack, worker, attempt, isRunning, done, total, failure, waits, maxAttempts, others } = progress;
    const again = waits >= 1 ? `waits ${waits.toFixed(0)} s` : "waits";
    const waiting = failure === "" ? "waits for a worker" : `${again}: ${failure}`;
    const works = total === undefined || total === 0 ? "at work" : `${done ?? 0} of ${total} resources`;
    const before = failure !== "" && isRunning ? `before: ${failure}` : null;
    const more = others > 0 ? `${others} more after it` : before;
    return {
        id: stack,
        text: isRunning ? works : waiting,
        worker: worker === "" ? null : worker,
        attempt,
        note: maxAttempts === undefined ? more : `of ${maxAttempts}`,
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
    return `${outcome} ${stack}${text === "" ? "" : `: ${shortUrns(text)}`}`;
}
