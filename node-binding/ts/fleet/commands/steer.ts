// Commands that change how a run goes on.
import { FleetError } from "../ends";
import { runOf } from "./find";
import type { Request } from "./request";
import { say } from "./texts";
import { follow, tell } from "./watch";

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
    tell(await follow(run, asked), asked);
    return 0;
}
