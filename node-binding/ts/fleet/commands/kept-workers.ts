// Workers in processes of their own: where one ends, another takes its place.
import type { ChildProcess } from "node:child_process";
import { FleetError } from "../ends";
import type { Plan } from "../wire";
import { end, isRunning, queuesOf, STDERR, startWorker, warnOfEnvironment } from "./helpers";
import { uninterrupted } from "./interrupts";
import type { Request } from "./request";
import { say } from "./texts";

/** A worker that ends so soon after its start may be one that cannot work. */
const EARLY_SECONDS = 10;
/** After so many of them in a row nothing is started any more. */
const MAX_EARLY_ENDS = 3;

/** So many workers, until they are told to end. */
export class KeptWorkers {
    #earlyEnds = 0;
    readonly #began = new Map<ChildProcess, number>();

    /** `begin` starts one. */
    constructor(
        count: number,
        private readonly begin: () => ChildProcess,
    ) {
        for (let number = 0; number < count; number++) {
            this.#start();
        }
    }

    /**
     * Says which ones have ended since the last look, and starts others in their places. Throws a `FleetError` where they end again
     * and again right after their start.
     */
    look(): void {
        for (const [worker, began] of [...this.#began]) {
            if (isRunning(worker)) {
                continue;
            }
            this.#began.delete(worker);
            this.#earlyEnds = performance.now() - began < EARLY_SECONDS * 1000 ? this.#earlyEnds + 1 : 0;
            if (this.#earlyEnds === MAX_EARLY_ENDS) {
                throw new FleetError(
                    `workers ended ${MAX_EARLY_ENDS} times within ${EARLY_SECONDS} s of their start; the last was ` +
                        `process ${worker.pid}, which ${howItEnded(worker)}\n` +
                        "What they wrote above says why: mend it, and start this command again",
                );
            }
            const { pid } = this.#start();
            say(`warning: a worker, process ${worker.pid}, ${howItEnded(worker)}: process ${pid} takes its place`);
        }
    }

    /** Ends them in order. */
    async end(): Promise<void> {
        await uninterrupted(() => end([...this.#began.keys()]));
    }

    #start(): ChildProcess {
        const worker = this.begin();
        this.#began.set(worker, performance.now());
        return worker;
    }
}

/** Has the workers that a run was asked to have here (`--workers N`) for the time of some work, which gets what looks after them. */
export async function withWorkers<T>(asked: Request, plan: Plan, work: (look: () => void) => Promise<T>): Promise<T> {
    if (asked.workers) {
        warnOfEnvironment(plan, queuesOf(plan));
    }
    // What programs print is no part of what the command prints.
    const begin = (): ChildProcess => startWorker(asked.file, queuesOf(plan), undefined, STDERR);
    const kept = new KeptWorkers(asked.workers ?? 0, begin);
    try {
        return await work(() => kept.look());
    } finally {
        await kept.end();
    }
}

/** What a sentence says of a process that has ended, such as `was ended by SIGKILL`. */
export function howItEnded({ exitCode, signalCode }: ChildProcess): string {
    return signalCode === null ? `ended with exit code ${exitCode}` : `was ended by ${signalCode}`;
}
