// What a run that has ended left at the server: its result answers in place of its workers.
import type { WorkflowHandle } from "@temporalio/client";
import { temporal } from "./packages";
import { type ProgressAnswer, type RunEnd, SHOWN, type StackEnd } from "./wire";

type Description = Awaited<ReturnType<WorkflowHandle["describe"]>>;

/** What is left of a run, with the time at which it began. */
export type EndedRun = RunEnd & { began: number };

/** The result of a run; undefined while it goes on, and where it left none, as one that was cancelled. */
export async function leftBy(
    handle: WorkflowHandle,
    { status, closeTime }: Description,
): Promise<EndedRun | undefined> {
    if (status.name !== "COMPLETED") {
        return undefined;
    }
    const { ServiceError } = temporal("client");
    try {
        const told = (await handle.result()) as RunEnd;
        return { began: closeTime === undefined ? 0 : closeTime.getTime() / 1000 - told.seconds, ...told };
    } catch (error) {
        if (error instanceof ServiceError) {
            // Its history may be gone. Whoever asks is told so by the question itself.
            return undefined;
        }
        throw error;
    }
}

/** What its workflow would answer when it is asked how far it is. */
export function progressLeft(told: EndedRun): ProgressAnswer {
    const { fleet, verb, began, seconds, wave = 1, waves = 1, counts, stopped, ends } = told;
    const failures = ["skipped", "failed"].flatMap((outcome) => ends.filter((end) => end.outcome === outcome));
    return {
        fleet,
        verb,
        began,
        now: began + seconds,
        wave,
        waves,
        stacks: ends.length,
        counts,
        paused: false,
        stopped,
        retries: [],
        maxAttempts: 0,
        failures: failures.slice(-SHOWN),
        failuresInAll: failures.length,
    };
}

/** Which stacks have ended, all at once: they are here, and the next question would fetch the result anew. */
export function endsLeft({ ends }: EndedRun, since: number): StackEnd[] {
    return ends.slice(since);
}
