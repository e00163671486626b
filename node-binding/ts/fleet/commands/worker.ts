// `fleet worker`: takes stacks, until it is told to end.
import { Worker } from "../worker";
import { startWorker, warnOfEnvironment, warnOfQueues } from "./helpers";
import { Interrupt, waitedFor } from "./interrupts";
import { KeptWorkers } from "./kept-workers";
import { fleetOf, type Request } from "./request";
import { say } from "./texts";
import { aMoment } from "./watch";

/** Milliseconds. */
const LOOK = 500;
const SLOTS = 8;

/** One worker in this process, or several in processes of their own. */
export async function run(asked: Request): Promise<number> {
    const plan = fleetOf(asked).plan("up");
    const queues = asked.queues === undefined || asked.queues.length === 0 ? ["default"] : asked.queues;
    warnOfQueues(plan, queues);
    warnOfEnvironment(plan, queues);
    const count = asked.processes ?? 1;
    return count === 1 ? inThisProcess(asked, queues) : inOthers(asked, queues, count);
}

async function inThisProcess(asked: Request, queues: string[]): Promise<number> {
    const { slots = SLOTS } = asked;
    const worker = new Worker(fleetOf(asked), { queues, slots, onLine });
    const running = worker.run();
    try {
        await waitedFor(running);
    } catch (error) {
        if (!(error instanceof Interrupt)) {
            throw error;
        }
        worker.stop();
        await running;
    }
    return 0;
}

async function inOthers(asked: Request, queues: string[], count: number): Promise<number> {
    const kept = new KeptWorkers(count, () => startWorker(asked.file, queues, asked.slots));
    try {
        while (true) {
            await aMoment(LOOK);
            kept.look();
        }
    } catch (error) {
        if (!(error instanceof Interrupt)) {
            throw error;
        }
        return 0;
    } finally {
        await kept.end();
    }
}

// What the worker tells, with the time.
function onLine(line: string): void {
    const now = new Date();
    const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString();
    say(`${local.slice(0, -1).replace("T", " ").replace(".", ",")} ${line}`);
}
