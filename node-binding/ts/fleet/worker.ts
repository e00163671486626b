// Workers: processes that take stacks of a fleet and work on them.
import * as os from "node:os";
import type { NativeConnection, WorkerOptions as TemporalOptions, Worker as TemporalWorker } from "@temporalio/worker";
import { Sdk } from "../sdk";
import { stackActivities } from "./activities";
import { workflowBundle } from "./bundle";
import { dataConverter } from "./codec";
import { connectWorker } from "./connection";
import { temporal } from "./packages";
import { Fleet } from "./plan";
import { tellByStack } from "./printed";
import { loadPrograms } from "./programs";
import { flowQueue, nameOfWorker, stackQueue } from "./queues";
import type { Plan } from "./wire";

/** Heartbeats are sent at least so often, and with them one hears of a cancelled run. */
const HEARD_WITHIN = "2s";
const LANGUAGE = "nodejs";
/** What is logged at least. What becomes of stacks is told by their runs. */
const SAID = "ERROR";

/** How a worker works. */
export interface WorkerOptions {
    /** The queues that it serves (`queue` in the fleet's file); `default` when not given. */
    queues?: readonly string[];
    /** Stacks at a time; 8 when not given. */
    slots?: number;
    /** A connection of the caller's own, in place of one to the server that the fleet names. */
    connection?: NativeConnection;
    /** The namespace of that connection. */
    namespace?: string;
    /** Whether it serves the workflows of runs, too; it does when not said. */
    flow?: boolean;
    /** Is told when it is ready, of programs that cannot be loaded, and of each stack that begins and ends, a line each. */
    onLine?: (line: string) => void;
}

/** Works on stacks of a fleet, and on the workflows of its runs. */
export class Worker {
    /** By what name runs tell of it. */
    readonly identity = `${os.hostname()}:${process.pid}`;
    readonly #fleet: Fleet;
    readonly #options: WorkerOptions;
    readonly #workers: TemporalWorker[] = [];
    #stopped = false;

    /** `fleet`: the fleet, or the path of its file. */
    constructor(fleet: Fleet | string, options: WorkerOptions = {}) {
        this.#fleet = typeof fleet === "string" ? new Fleet(fleet) : fleet;
        this.#options = options;
    }

    /**
     * Works until SIGTERM, Ctrl-C or `stop`; what it is working on then ends in order, and others go on with it. Throws a
     * `FleetError` where none of its programs can be loaded, or the server cannot be reached.
     */
    async run(): Promise<void> {
        const plan = this.#fleet.plan("up");
        // Before what reads TypeScript, which would look at each of its files.
        temporal("worker");
        // With the first stack there is no time for that.
        Sdk.prepare(plan.directory);
        const queues = queuesOf(this.#options.queues);
        const mine = plan.stacks.filter(({ language, queue }) => language === LANGUAGE && queues.has(queue));
        for (const warning of await loadPrograms(plan.directory, mine)) {
            this.#options.onLine?.(`warning: ${warning}`);
        }
        sayErrorsAlone();
        tellByStack();
        const { connection: given, namespace = "default" } = this.#options;
        const place = given === undefined ? await connectWorker(plan.engine) : { connection: given, namespace };
        try {
            await this.#begin(plan, place);
            await this.#wait(plan);
        } finally {
            if (given === undefined) {
                await place.connection.close();
            }
        }
    }

    /** Has `run` come to its end: what it is working on ends in order, and others go on with it. */
    stop(): void {
        this.#stopped = true;
        for (const worker of this.#workers) {
            if (worker.getState() === "RUNNING") {
                worker.shutdown();
            }
        }
    }

    async #begin(plan: Plan, place: { connection: NativeConnection; namespace: string }): Promise<void> {
        const { queues, slots = 8, flow = true, onLine = () => {} } = this.#options;
        const { Worker: Made } = temporal("worker");
        const common = { ...place, identity: this.identity, dataConverter: dataConverter() };
        const code = plan.code[LANGUAGE];
        if (flow) {
            const bundled = { taskQueue: flowQueue(plan.fleet), workflowBundle: await workflowBundle() };
            const has = { worker: this.identity, code: code ?? "-", queues: [...queuesOf(queues)] };
            this.#workers.push(await Made.create({ ...common, ...bundled, identity: nameOfWorker(has) }));
        }
        if (code === undefined) {
            return;
        }
        const activities = stackActivities({ directory: plan.directory, identity: this.identity, log: onLine });
        const ofStacks: Partial<TemporalOptions> = {
            maxConcurrentActivityTaskExecutions: slots,
            maxHeartbeatThrottleInterval: HEARD_WITHIN,
            defaultHeartbeatThrottleInterval: HEARD_WITHIN,
            // Those that it works on end in order, and are begun elsewhere.
            shutdownGraceTime: 0,
        };
        for (const queue of queuesOf(queues)) {
            const taskQueue = stackQueue(plan.fleet, queue, LANGUAGE, code);
            this.#workers.push(await Made.create({ ...common, ...ofStacks, taskQueue, activities }));
        }
    }

    #whatItDoes(hasPrograms: boolean): string {
        const { queues, slots = 8 } = this.#options;
        if (!hasPrograms) {
            return `the runs alone, for the fleet has no program in ${LANGUAGE}`;
        }
        const names = [...queuesOf(queues)];
        const stacks = slots === 1 ? "1 stack" : `${slots} stacks`;
        return `${stacks} at a time, ${names.length === 1 ? "queue" : "queues"} ${names.join(", ")}`;
    }

    // If one of them fails, the others end in order first.
    async #wait({ code }: Plan): Promise<void> {
        const running = this.#workers.map(async (worker) => {
            try {
                await worker.run();
            } finally {
                this.stop();
            }
        });
        // What was told to end while it began can be ended only now.
        if (this.#stopped) {
            this.stop();
        } else {
            this.#options.onLine?.(`ready: ${this.#whatItDoes(code[LANGUAGE] !== undefined)}`);
        }
        const ends = await Promise.allSettled(running);
        const failed = ends.find((end) => end.status === "rejected");
        if (failed !== undefined) {
            throw failed.reason;
        }
    }
}

function queuesOf(queues: readonly string[] = []): Set<string> {
    return new Set(queues.length === 0 ? ["default"] : queues);
}

// Where the caller has installed a runtime of its own, it logs as that says.
function sayErrorsAlone(): void {
    const { DefaultLogger, Runtime } = temporal("worker");
    // Its core would tell of each try while the server is away; who asks for that by RUST_LOG, has it.
    const logging = { filter: { core: SAID, other: SAID }, console: {} } as const;
    const quiet = process.env.RUST_LOG === undefined ? { telemetryOptions: { logging } } : {};
    try {
        Runtime.install({ logger: new DefaultLogger(SAID), ...quiet });
    } catch (error) {
        if (!(error instanceof Error && error.name === "IllegalStateError")) {
            throw error;
        }
    }
}
