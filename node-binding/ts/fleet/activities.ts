// The work on stacks as activities: their hearts beat by a timer, whatever a stack does.
import type { Context } from "@temporalio/activity";
import { every as repeat } from "../originals";
import { EarlierChanges } from "./course/earlier-changes";
import { deployOne, type Verb } from "./deploy";
import { End, FleetError } from "./ends";
import { temporal } from "./packages";
import { printingAs } from "./printed";
import {
    ATTEMPTS_A_START,
    type Batch,
    type BatchEnd,
    isSuccess,
    type Launch,
    STACK,
    STACKS,
    type StackEnd,
    type Work,
} from "./wire";

/** Heartbeats within the time after which a worker counts as dead. */
const BEATS_A_LIMIT = 4;
/** Milliseconds: after none at all the server would not try again. */
const AT_ONCE = 1;
const SHUTDOWN = "WORKER_SHUTDOWN";

/** What the worker is. */
export interface Working {
    directory: string;
    identity: string;
    /** Is told of each stack that begins and ends. */
    log(line: string): void;
}

/** The activities of a worker, for the fleet whose programs are below a directory. */
export function stackActivities(worker: Working) {
    return {
        [STACK]: (launch: Launch): Promise<StackEnd> => workOnOne(launch, worker),
        [STACKS]: (batch: Batch): Promise<BatchEnd> => workOnBatch(batch, worker),
    };
}

// Throws what is to be tried again, and gives the end of everything else.
async function workOnOne(launch: Launch, worker: Working): Promise<StackEnd> {
    const context = temporal("activity").Context.current();
    const { attempt, heartbeatDetails } = context.info;
    const counts = new CountsOfAttempt(launch.stack.id, (heartbeatDetails ?? {}) as Beat);
    const stop = beating(counts, launch, context, attempt > 1);
    try {
        return await workOn(launch, worker, context, counts);
    } finally {
        stop();
    }
}

// Works on stacks one after the other, until one does not succeed or the time is over.
async function workOnBatch(batch: Batch, worker: Working): Promise<BatchEnd> {
    const context = temporal("activity").Context.current();
    const { ApplicationFailure, CancelledFailure } = temporal("common");
    const { stacks, seconds, ...work } = batch;
    const until = performance.now() + seconds * 1000;
    const ends: StackEnd[] = [];
    let counts = new CountsOfAttempt(stacks[0]?.id ?? "", {});
    const stop = beating({ beat: () => counts.beat() }, work, context);
    try {
        for (const [at, stack] of stacks.entries()) {
            counts = new CountsOfAttempt(stack.id, {}, { stack: stack.id, others: stacks.length - at - 1 });
            const end = await workOn({ ...work, number: 0, stack }, worker, context, counts);
            ends.push(end);
            if (!isSuccess(end.outcome) || performance.now() > until) {
                break;
            }
        }
        return { ends, interrupted: null };
    } catch (error) {
        if (error instanceof ApplicationFailure || error instanceof CancelledFailure) {
            // Begun by itself, the server tries it again as that failure asks for.
            return { ends, interrupted: counts.changes };
        }
        throw error;
    } finally {
        stop();
    }
}

// Tells the server within the limit that this worker is alive, until the function that it gives is called.
function beating(counts: { beat(): object }, { heartbeat }: Work, context: Context, atOnce = false): () => void {
    // Not at once in a first attempt: the server writes down each beat, and most stacks have ended before the first one. The run may
    // have been cancelled while nobody was at the stack, and one hears of that by a beat.
    if (atOnce) {
        context.heartbeat(counts.beat());
    }
    const timer = repeat(() => context.heartbeat(counts.beat()), (heartbeat / BEATS_A_LIMIT) * 1000);
    return () => clearInterval(timer);
}

async function workOn(
    launch: Launch,
    { directory, identity, log }: Working,
    context: Context,
    counts: CountsOfAttempt,
): Promise<StackEnd> {
    const { attempt } = context.info;
    const what = `${launch.verb} ${launch.stack.id}`;
    log(`${what}: begins${attempt > 1 ? `, attempt ${attempt}` : ""}`);
    const { previewOnly, outputs, message, importFile } = launch.options;
    let end: End;
    try {
        end = await printingAs(launch.stack.id, () =>
            deployOne(launch.stack, launch.verb as Verb, {
                directory,
                run: launch.run,
                attempt: launch.number + attempt,
                ...(launch.backend === null ? {} : { backend: launch.backend }),
                key: launch.key as "fleet" | "stack",
                ...(launch.keep.history === null ? {} : { historyLimit: launch.keep.history }),
                ...(launch.keep.generations === null ? {} : { generations: launch.keep.generations }),
                previewOnly,
                outputs,
                message,
                importFile,
                onProgress: (progress) => counts.take(progress),
                progressEvery: launch.heartbeat / BEATS_A_LIMIT,
                signal: context.cancellationSignal,
            }),
        );
    } catch (error) {
        if (error instanceof FleetError) {
            const [text = ""] = error.message.split("\n", 1);
            end = failed(launch, "configuration", text);
        } else {
            // A fault of maloko's: tried again, it would be the same. What it says may have secrets in it.
            const { name, stack = "" } = error instanceof Error ? error : new Error();
            log(`${what}: failed in the worker\n${stack}`);
            end = failed(launch, "other", `${name} in the worker ${identity}`);
        }
    }
    log(`${what}: ${inWords(end)}`);
    return told(end, launch, context, identity, counts);
}

function failed({ stack: { id } }: Launch, reason: string, text: string): End {
    return new End({ id, outcome: "failed", changes: {}, reason, text, attempts: 1, seconds: 0 });
}

/** What a heartbeat tells. */
interface Beat {
    changes?: Record<string, number>;
}

// What heartbeats tell: the last counts of the engine, and what the attempts before this one have changed.
class CountsOfAttempt {
    readonly #earlier: EarlierChanges;
    #counts: object = {};

    // `last`: the last heartbeat of the attempt before. `where`: what a batch tells beside its counts.
    constructor(
        readonly stack: string,
        { changes = {} }: Beat,
        readonly where: object = {},
    ) {
        this.#earlier = new EarlierChanges({ [stack]: changes });
    }

    get changes(): Record<string, number> {
        return this.#earlier.of(this.stack);
    }

    beat(): object {
        return { ...this.where, changes: this.changes, ...this.#counts };
    }

    take({ done, total, failed, reports }: { done: number; total: number; failed: number; reports: number }): void {
        this.#counts = { done, total, failed, reports };
    }

    // Another attempt follows this one: it is told what this one has changed.
    handOver(end: End, context: Context): void {
        this.#earlier.add(end.wire());
        this.#counts = {};
        // A beat costs the server something.
        if (Object.keys(this.changes).length > 0) {
            context.heartbeat(this.beat());
        }
    }

    // The end with what all attempts have changed.
    inAll(end: End): StackEnd {
        return this.#earlier.inAll(end.wire());
    }
}

function inWords({ outcome, seconds, text, changes }: End): string {
    const counts = Object.keys(changes).sort();
    const more = text || counts.map((op) => `${changes[op]} ${op}`).join(", ");
    return `${outcome} after ${seconds.toFixed(1)} s${more === "" ? "" : `: ${more}`}`;
}

function told(end: End, launch: Launch, context: Context, identity: string, counts: CountsOfAttempt): StackEnd {
    const { ApplicationFailure, CancelledFailure } = temporal("common");
    const { aborted, reason } = context.cancellationSignal;
    const isRunCancelled = aborted && reason instanceof CancelledFailure && reason.message !== SHUTDOWN;
    if (aborted && !isRunCancelled && (end.mayPass || end.outcome === "cancelled")) {
        counts.handOver(end, context);
        // Another worker is to go on at once.
        const [message, type] = ["the worker was stopped", "leaving"];
        throw ApplicationFailure.create({ message, type, details: [type], nextRetryDelay: AT_ONCE });
    }
    if (end.mayPass) {
        if (isRunCancelled) {
            throw reason;
        }
        counts.handOver(end, context);
        throw ApplicationFailure.create({ message: end.text, type: end.reason, details: [end.reason] });
    }
    const ofWorker = end.reason === "key" ? { text: `${end.text} (worker ${identity})` } : {};
    const attempts = Math.floor(launch.number / ATTEMPTS_A_START) + context.info.attempt;
    // What the others do does not change what is read.
    const read = launch.verb === "up" ? end.read : [];
    return { ...counts.inAll(end), ...ofWorker, read, worker: identity, attempts };
}
