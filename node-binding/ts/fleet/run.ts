// A run of a fleet, from wherever it is watched.
import type { Client, WorkflowHandle } from "@temporalio/client";
import { elapsed } from "../process/waiting";
import { dataConverter } from "./codec";
import { connect } from "./connection";
import { End, FleetError, NoAnswerError, UnreadableError } from "./ends";
import { temporal } from "./packages";
import { described, endsAnswer, hasEnded, type Progress, progressAnswer, progressOf, refusalOf } from "./progress";
import { flowQueue } from "./queues";
import { type Counts, type Engine, type Order, type Plan, RUN, type RunEnd, type RunOptions, verbOf } from "./wire";

const PAGE = 500;
/** How often it is looked which stacks have ended, in milliseconds. */
const LOOK = 500;
/** Between two questions that nobody has answered, in milliseconds. */
const AGAIN = 1000;
/** Failures that a message names. */
const NAMED = 3;
/** How much of a plan's hash is in a name. */
const HASH_LENGTH = 8;

/** How a run ended. */
export class Result {
    /** @internal */
    constructor(
        readonly run: string,
        readonly fleet: string,
        readonly verb: string,
        /** `failed`: a stack failed or was skipped. */
        readonly outcome: "done" | "failed" | "cancelled",
        /** Why it stopped before its last stack; empty where it did not. */
        readonly stopped: string,
        readonly seconds: number,
        /** How many stacks ended with which outcome. */
        readonly counts: Counts,
        /** In the order in which they ended. */
        readonly ends: End[],
    ) {}

    /** Throws a `FleetError` that names the first stacks that did not succeed, if there is one. */
    throwForFailures(): void {
        const left = this.ends.filter((end) => !end.succeeded);
        if (left.length === 0) {
            return;
        }
        const named = left.slice(0, NAMED).map((end) => `\n  ${end.stack} ${end.outcome}: ${end.text}`);
        const more = left.length > NAMED ? `\n  and ${left.length - NAMED} more` : "";
        const head = `run ${this.run}: ${left.length} of ${this.ends.length} stacks did not succeed`;
        throw new FleetError(head + named.join("") + more);
    }
}

/** A run of a fleet. Any number of processes may hold one for the same run; it goes on without them. */
export class Run {
    /**
     * Its name: `FLEET-VERB-HASH`, the same for the same stacks and settings. With `/` and the server's own id behind it where it was
     * attached to by that, as one of several of the same name.
     */
    readonly id: string;
    readonly #client: Client;
    readonly #handle: WorkflowHandle;
    readonly #runId: string | undefined;

    /** @internal */
    constructor(client: Client, handle: WorkflowHandle, runId?: string) {
        this.#client = client;
        this.#handle = handle;
        this.#runId = runId;
        this.id = runId === undefined ? handle.workflowId : `${handle.workflowId}/${runId}`;
    }

    /** @internal The way to its server. */
    get client(): Client {
        return this.#client;
    }

    /**
     * Counts, and the stacks that are worth a look. Throws a `FleetError` when nobody answers: no worker serves the run just now, or
     * the server is away.
     */
    progress(): Promise<Progress> {
        return progressOf(this.id, this.#handle);
    }

    /**
     * The stacks as they end, until the last one has. While no worker serves the run or the server is away, it waits: each second it
     * asks again, until the caller leaves the loop. Throws a `FleetError` when the server does not know the run, or the run cannot be
     * read with this key.
     */
    async *ends(): AsyncGenerator<End, void, undefined> {
        for (let since = 0; ; ) {
            const [page, over] = await this.#page(since);
            yield* page;
            since += page.length;
            if (over && page.length === 0) {
                return;
            }
        }
    }

    /**
     * Waits for the end of the run, as `ends` does: also while no worker serves it or the server is away. Throws a `FleetError` when
     * its workflow failed or was ended by force, or the run cannot be read with this key.
     */
    async result(): Promise<Result> {
        while (true) {
            try {
                return await this.#result();
            } catch (error) {
                if (!(error instanceof NoAnswerError)) {
                    throw error;
                }
            }
            await elapsed(AGAIN);
        }
    }

    async #result(): Promise<Result> {
        const { WorkflowFailedError } = temporal("client");
        const { CancelledFailure } = temporal("common");
        let told: RunEnd;
        try {
            told = (await this.#handle.result()) as RunEnd;
        } catch (error) {
            if (error instanceof WorkflowFailedError) {
                if (error.cause instanceof CancelledFailure) {
                    return this.#cancelled();
                }
                const cause = error.cause?.message ?? error.message;
                throw new FleetError(`run ${this.id} was ended from outside: ${cause}`);
            }
            throw refusalOf(this.id, error);
        }
        const { fleet, verb, outcome, stopped, seconds, counts } = told;
        const ends = told.ends.map((end) => new End(end));
        return new Result(this.id, fleet, verb, outcome, stopped, seconds, counts, ends);
    }

    /** Has its last stack ended? The server says so; no worker is asked. */
    async hasEnded(): Promise<boolean> {
        return hasEnded(await described(this.#handle));
    }

    /** Nothing begins until `resume`; what is running goes on. */
    async pause(): Promise<void> {
        await this.#tell(this.#handle.signal("pause"));
    }

    /** Stacks begin again. */
    async resume(): Promise<void> {
        await this.#tell(this.#handle.signal("resume"));
    }

    /** Ends the run in order: providers are told, nothing new begins, and what is in flight is recorded. */
    async cancel(): Promise<void> {
        await this.#tell(this.#handle.cancel());
    }

    async #tell(telling: Promise<unknown>): Promise<void> {
        const { WorkflowNotFoundError } = temporal("common");
        try {
            await telling;
        } catch (error) {
            if (error instanceof WorkflowNotFoundError) {
                throw new FleetError(
                    `run ${this.id} has ended: there is nothing left to pause, resume or cancel. ` +
                        "`maloko fleet retry` begins its failed stacks again",
                );
            }
            throw refusalOf(this.id, error);
        }
    }

    /** @internal What has ended so far. */
    async allEnds(): Promise<End[]> {
        const ends: End[] = [];
        for (let page = await this.#ends(0); page.length > 0; page = await this.#ends(ends.length)) {
            ends.push(...page);
        }
        return ends;
    }

    /** @internal What it was asked to do, from its history. */
    async order(): Promise<Order> {
        const { workflowService, options } = this.#client;
        const execution = { workflowId: this.#handle.workflowId, runId: this.#runId ?? null };
        const asked = { namespace: options.namespace, execution, maximumPageSize: 1 };
        const { history } = await workflowService.getWorkflowExecutionHistory(asked);
        const { input } = history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
        let payloads = input?.payloads ?? [];
        try {
            for (const codec of [...(dataConverter().payloadCodecs ?? [])].reverse()) {
                payloads = await codec.decode(payloads);
            }
        } catch (error) {
            throw error instanceof UnreadableError ? error.of(this.id) : error;
        }
        const [payload] = payloads;
        if (payload === undefined) {
            throw new FleetError(`the server keeps no history of run ${this.id}`);
        }
        return temporal("common").defaultPayloadConverter.fromPayload<Order>(payload);
    }

    // What has ended from a number on, and whether all have. Waits a moment where nothing is told.
    async #page(since: number): Promise<[page: End[], over: boolean]> {
        try {
            const page = await this.#ends(since);
            if (page.length > 0) {
                return [page, false];
            }
            if (hasEnded(await described(this.#handle))) {
                // What ended between the two questions.
                return [await this.#ends(since), true];
            }
        } catch (error) {
            if (!(error instanceof NoAnswerError)) {
                throw error;
            }
            await elapsed(AGAIN);
            return [[], false];
        }
        await elapsed(LOOK);
        return [[], false];
    }

    async #ends(since: number): Promise<End[]> {
        const told = await endsAnswer(this.#handle, since, PAGE);
        return told.map((end) => new End(end));
    }

    // A workflow that was cancelled has no result; it still answers.
    async #cancelled(): Promise<Result> {
        const { fleet, verb, stopped, began, now, counts } = await progressAnswer(this.#handle);
        const ends = await this.allEnds();
        const seconds = Math.round((now - began) * 1000) / 1000;
        return new Result(this.id, fleet, verb, "cancelled", stopped, seconds, counts, ends);
    }
}

/** @internal Begins a run, or gives the one that does the same already. */
export async function start(plan: Plan, options: RunOptions, client?: Client): Promise<Run> {
    const asked = client ?? (await connect(plan.engine));
    const order: Order = { plan, options, began: 0, state: null };
    const handle = await asked.workflow.start(RUN, {
        args: [order],
        workflowId: runName(plan, options),
        taskQueue: flowQueue(plan.fleet),
        workflowIdConflictPolicy: "USE_EXISTING",
        memo: memoOf(plan, options),
    });
    return new Run(asked, handle);
}

/** @internal What a run's record at the server says of it. */
export function memoOf(plan: Plan, options: RunOptions): Record<string, unknown> {
    const { fleet, stacks } = plan;
    return { fleet, verb: verbOf(plan, options), stacks: stacks.length, message: options.message };
}

/** @internal What a run is called: the same plan has the same name, so that it is one run that does it. */
export function runName(plan: Plan, options: RunOptions): string {
    return `${plan.fleet}-${verbOf(plan, options)}-${plan.hash.slice(0, HASH_LENGTH)}`;
}

/**
 * A run that goes on or has ended. `run`: its name (of several with the same name that is the newest one, and `NAME/ID` one of the
 * others, as `maloko fleet history` shows it); `engine`: the server, such as `temporal://127.0.0.1:7233/default`; else
 * Temporal's own variables say it. Throws a `FleetError` when there is no run of that name.
 */
export async function attach(run: string, engine?: string | Engine): Promise<Run> {
    const place = typeof engine === "string" ? engineOf(engine) : (engine ?? null);
    return attachBy(await connect(place), run);
}

/** @internal The same, by a client. */
export async function attachBy(client: Client, run: string): Promise<Run> {
    const [name = "", runId] = run.split("/", 2);
    const handle = client.workflow.getHandle(name, runId);
    await described(handle);
    return new Run(client, handle, runId);
}

function engineOf(address: string): Engine {
    const [, place, namespace] = /^temporal:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
    if (place === undefined) {
        throw new FleetError(`the engine '${address}' is no temporal://HOST:PORT/NAMESPACE`);
    }
    return { address: place, namespace: namespace || "default" };
}
