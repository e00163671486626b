// The work on one stack as an activity: its heart beats by a timer, whatever the stack does.
import type { Context } from "@temporalio/activity";
import { every as repeat } from "../originals";
import { EarlierChanges } from "./course/earlier-changes";
import { deployOne, type Verb } from "./deploy";
import { type End, FleetError } from "./ends";
import { temporal } from "./packages";
import { printingAs } from "./printed";
import { ATTEMPTS_A_START, FATAL, type Launch, STACK, type StackEnd } from "./wire";

/** Heartbeats within the time after which a worker counts as dead. */
const BEATS_A_LIMIT = 4;
/** Milliseconds: after none at all the server would not try again. */
const AT_ONCE = 1;
const SHUTDOWN = "WORKER_SHUTDOWN";

/** The activities of a worker, for the fleet whose programs are below a directory. */
export function stackActivities(worker: Working): Record<typeof STACK, (launch: Launch) => Promise<StackEnd>> {
    return { [STACK]: (launch) => workOn(launch, worker) };
}

/** What the worker is. */
export interface Working {
    directory: string;
    identity: string;
    /** Is told of each stack that begins and ends. */
    log(line: string): void;
}

// Throws what is to be tried again, and gives the end of everything else.
async function workOn(launch: Launch, { directory, identity, log }: Working): Promise<StackEnd> {
    const { Context } = temporal("activity");
    const { ApplicationFailure } = temporal("common");
    const context = Context.current();
    const { attempt } = context.info;
    const what = `${launch.verb} ${launch.stack.id}`;
    log(`${what}: begins${attempt > 1 ? `, attempt ${attempt}` : ""}`);
    const every = launch.heartbeat / BEATS_A_LIMIT;
    const earlier = earlierOf(launch.stack.id, context);
    const changes = (): Record<string, number> => earlier.of(launch.stack.id);
    let counts: object = { changes: changes() };
    // Not at once in a first attempt: the server writes down each beat, and most stacks have ended before the first one. The run may
    // have been cancelled while nobody was at the stack, and one hears of that by a beat.
    if (attempt > 1) {
        context.heartbeat(counts);
    }
    const beating = repeat(() => context.heartbeat(counts), every * 1000);
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
                onProgress: ({ done, total, failed, reports }) => {
                    counts = { changes: changes(), done, total, failed, reports };
                },
                progressEvery: every,
                signal: context.cancellationSignal,
            }),
        );
    } catch (error) {
        if (error instanceof FleetError) {
            const [line = ""] = error.message.split("\n", 1);
            log(`${what}: ${line}`);
            throw ApplicationFailure.create({ message: line, type: FATAL, details: ["configuration"] });
        }
        // A fault of maloko's: tried again, it would be the same. What it says may have secrets in it.
        const { name, stack = "" } = error instanceof Error ? error : new Error();
        log(`${what}: failed in the worker\n${stack}`);
        throw ApplicationFailure.create({
            message: `${name} in the worker ${identity}`,
            type: FATAL,
            details: ["other"],
        });
    } finally {
        clearInterval(beating);
    }
    log(`${what}: ${inWords(end)}`);
    return told(end, launch, context, identity, earlier);
}

// What the attempts before this one have changed: the last heartbeat tells of it.
function earlierOf(stack: string, { info }: Context): EarlierChanges {
    const { changes = {} } = (info.heartbeatDetails ?? {}) as { changes?: Record<string, number> };
    return new EarlierChanges({ [stack]: changes });
}

// Another attempt follows this one: it is told what this one has changed.
function handOver(end: End, context: Context, earlier: EarlierChanges): void {
    earlier.add(end.wire());
    const changes = earlier.of(end.stack);
    // A beat costs the server something.
    if (Object.keys(changes).length > 0) {
        context.heartbeat({ changes });
    }
}

function inWords({ outcome, seconds, text, changes }: End): string {
    const counts = Object.keys(changes).sort();
    const more = text || counts.map((op) => `${changes[op]} ${op}`).join(", ");
    return `${outcome} after ${seconds.toFixed(1)} s${more === "" ? "" : `: ${more}`}`;
}

function told(end: End, launch: Launch, context: Context, identity: string, earlier: EarlierChanges): StackEnd {
    const { ApplicationFailure, CancelledFailure } = temporal("common");
    if (end.mayPass) {
        handOver(end, context, earlier);
        throw ApplicationFailure.create({ message: end.text, type: end.reason, details: [end.reason] });
    }
    const { aborted, reason } = context.cancellationSignal;
    if (end.outcome === "cancelled" && aborted) {
        if (reason instanceof CancelledFailure && reason.message !== SHUTDOWN) {
            throw reason;
        }
        handOver(end, context, earlier);
        // Another worker is to go on at once.
        const [message, type] = ["the worker was stopped", "leaving"];
        throw ApplicationFailure.create({ message, type, details: [type], nextRetryDelay: AT_ONCE });
    }
    const attempts = Math.floor(launch.number / ATTEMPTS_A_START) + context.info.attempt;
    // What the others do does not change what is read.
    const read = launch.verb === "up" ? end.read : [];
    return { ...earlier.inAll(end.wire()), read, worker: identity, attempts };
}
