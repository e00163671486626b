// Commands that change how a run goes on.
import { FleetError, NoAnswerError, UnreadableError } from "../ends";
import type { Run } from "../run";
import { runOf } from "./find";
import type { Request } from "./request";
import { say } from "./texts";
import { aMoment, follow, tell } from "./watch";

/** Milliseconds. */
const LOOK = 1000;

/** `fleet pause`. */
export async function pause(asked: Request): Promise<number> {
    const run = await runOf(asked);
    await run.pause();
    say(`paused ${run.id}: what is running goes on, nothing else begins until \`maloko fleet resume ${run.id}\``);
    return 0;
}

/** `fleet resume`. */
export async function resume(asked: Request): Promise<number> {
    const run = await runOf(asked);
    await run.resume();
    say(`${run.id} goes on`);
    return 0;
}

/** `fleet cancel`: waits until everything has ended in order. */
export async function cancel(asked: Request): Promise<number> {
    const run = await runOf(asked);
    if (await run.hasEnded()) {
        throw new FleetError(`run ${run.id} has ended: there is nothing left to cancel`);
    }
    await run.cancel();
    say(`cancelling ${run.id}: what is in flight ends in order, once a worker is there`);
    try {
        tell(await follow(run, asked), asked);
    } catch (error) {
        if (!(error instanceof UnreadableError)) {
            throw error;
        }
        // Cancelling needs no key, nor does it to see that the run is over.
        say(`warning: ${error.message}`);
        await endOf(run);
        say(`run ${run.id} has ended`);
    }
    return 0;
}

async function endOf(run: Run): Promise<void> {
    while (!(await isOver(run))) {
        await aMoment(LOOK);
    }
}

async function isOver(run: Run): Promise<boolean> {
    try {
        return await run.hasEnded();
    } catch (error) {
        if (error instanceof NoAnswerError) {
            return false;
        }
        throw error;
    }
}
