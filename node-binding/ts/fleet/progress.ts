// Where a run stands: what its workflow knows, with what the server knows of the workers.
import type { WorkflowHandle } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import { isArray, parseJson } from "../originals";
import { VARIABLE } from "./codec";
import { ofRecords } from "./connection";
import { outcomeOf } from "./course/course";
import { type EndedRun, endsLeft, leftBy, progressLeft } from "./ended-runs";
import { End, FleetError, NoAnswerError, UnreadableError } from "./ends";
import { temporal } from "./packages";
import { stackOf } from "./queues";
import type { Counts, ProgressAnswer, StackEnd } from "./wire";

/** A stack that is worked on, or waits to be. */
export interface StackProgress {
    stack: string;
    /** Who works on it, or did last; empty before the first one. */
    worker: string;
    attempt: number;
    /** Is a worker at it now? */
    isRunning: boolean;
    /** Resources that are done, by the worker's last heartbeat. */
    done: number | undefined;
    total: number | undefined;
    /** What the attempt before came to, without secrets. */
    failure: string;
    /** Since this attempt began. */
    seconds: number;
    /** Seconds until it is tried again; 0 where it is a worker that it waits for. */
    waits: number;
    /** How many attempts there are, where it waits because its provider failed. */
    maxAttempts: number | undefined;
    /** How many stacks its worker was given with it, which come after it. */
    others: number;
}

/** Where a run stands. */
export class Progress {
    /** @internal */
    constructor(
        readonly run: string,
        readonly verb: string,
        readonly seconds: number,
        readonly wave: number,
        readonly waves: number,
        readonly stacks: number,
        /** `done`, `unchanged`, `running`, `retrying`, `failed`, `skipped`, `cancelled` and `waiting`. */
        readonly counts: Counts,
        readonly state: "running" | "paused" | "stopping" | "ended",
        /** Once it has ended. */
        readonly outcome: "done" | "failed" | "cancelled" | undefined,
        /** Seconds since 1970. */
        readonly began: number,
        /** Why nothing begins any more. */
        readonly stopped: string,
        /** The longest first. */
        readonly atWork: StackProgress[],
        /** The last ones. */
        readonly failures: End[],
        readonly failuresInAll: number,
    ) {}

    /** Stacks that ended a minute; undefined in the first seconds. */
    get perMinute(): number | undefined {
        const ended = this.counts.done + this.counts.unchanged + this.counts.failed;
        return ended > 0 && this.seconds >= 1 ? (ended * 60) / this.seconds : undefined;
    }

    /** Seconds until the end, as it goes now; undefined where nobody can say. */
    get remaining(): number | undefined {
        const { running, retrying, waiting } = this.counts;
        const rate = this.perMinute;
        // The rate says nothing about stacks that wait after a failure.
        const known = rate !== undefined && running + waiting > 0;
        return known && this.state === "running" ? ((running + retrying + waiting) * 60) / rate : undefined;
    }
}

type Description = Awaited<ReturnType<WorkflowHandle["describe"]>>;
type Pending = NonNullable<Description["raw"]["pendingActivities"]>[number];

/** How the server names a run that goes on. */
const GOES_ON = ["RUNNING", "CONTINUED_AS_NEW"];
/** How it calls an activity that no worker has. */
const SCHEDULED = 1;
/** How it calls the limit that a worker without a heartbeat has passed. */
const HEARTBEAT = 4;
/** Milliseconds: the server does not wait longer for a worker that answers a question. */
const ANSWERS_WITHIN = 10_000;
/** The same for what the server itself knows, once nobody has answered. */
const DESCRIBED_WITHIN = 2000;
/** How it says that one may not ask: PERMISSION_DENIED, UNAUTHENTICATED. */
const REFUSALS: unknown[] = [7, 16];

/** Has the workflow ended? */
export function hasEnded(description: Description): boolean {
    return !GOES_ON.includes(description.status.name);
}

/** How far a run is, as its workflow says or its result. Throws a `NoAnswerError` when nobody answers in its place. */
export function progressAnswer(handle: WorkflowHandle): Promise<ProgressAnswer> {
    return answerOf(handle, () => handle.query<ProgressAnswer>("progress"), progressLeft);
}

/** Which of a run's stacks have ended, from a number on, in the same way. */
export function endsAnswer(handle: WorkflowHandle, since: number, most: number): Promise<StackEnd[]> {
    const ask = () => handle.query<StackEnd[], [number, number]>("ends", since, most);
    return answerOf(handle, ask, (left) => endsLeft(left, since));
}

// What the workflow of a run answers; of one that has ended, what its result says of that.
async function answerOf<T>(handle: WorkflowHandle, ask: () => Promise<T>, ofLeft: (left: EndedRun) => T): Promise<T> {
    let refusal: unknown;
    try {
        const left = await leftBy(handle, await described(handle));
        return left === undefined ? await handle.client.withDeadline(Date.now() + ANSWERS_WITHIN, ask) : ofLeft(left);
    } catch (error) {
        refusal = refusalOf(handle.workflowId, error);
    }
    throw refusal instanceof NoAnswerError && (await isStuck(handle))
        ? new NoAnswerError(handle.workflowId, true)
        : refusal;
}

/** What the server knows of a run, whichever key it has; throws a `NoAnswerError` when the server does not answer. */
export async function described(handle: WorkflowHandle, within = ANSWERS_WITHIN): Promise<Description> {
    const { client, workflowId } = handle;
    const ask = () => ofRecords(client).workflow.getHandle(workflowId).describe();
    try {
        return await client.withDeadline(Date.now() + within, ask);
    } catch (error) {
        throw refusalOf(workflowId, error);
    }
}

/** What it means that a question about a run has failed. */
export function refusalOf(run: string, error: unknown): unknown {
    const { QueryNotRegisteredError, ServiceError } = temporal("client");
    const { NamespaceNotFoundError, WorkflowNotFoundError } = temporal("common");
    if (error instanceof UnreadableError) {
        return error.of(run);
    }
    if (error instanceof WorkflowNotFoundError) {
        return new FleetError(`the server knows no run '${run}': \`maloko fleet history\` lists those that it keeps`);
    }
    if (error instanceof QueryNotRegisteredError) {
        // A worker with another key says so in its answer.
        return error.message.includes(VARIABLE)
            ? new NoAnswerError(run, true)
            : new FleetError(`run ${run}: its worker cannot answer: ${error.message}`);
    }
    if (error instanceof NamespaceNotFoundError) {
        return new FleetError(`run ${run}: the server refuses to tell of it: ${error.message}`);
    }
    if (error instanceof ServiceError) {
        const { code, message } = (error.cause ?? {}) as { code?: unknown; message?: string };
        return REFUSALS.includes(code)
            ? new FleetError(`run ${run}: the server refuses to tell of it: ${message}`)
            : new NoAnswerError(run);
    }
    return error;
}

// Has a worker tried to go on with the run, in vain?
async function isStuck(handle: WorkflowHandle): Promise<boolean> {
    try {
        const { raw } = await described(handle, DESCRIBED_WITHIN);
        return (raw.pendingWorkflowTask?.attempt ?? 0) > 1;
    } catch {
        return false;
    }
}

/** Asks the run and the server; throws a `NoAnswerError` when nobody answers. */
export async function progressOf(run: string, handle: WorkflowHandle): Promise<Progress> {
    const told = await progressAnswer(handle);
    const description = await described(handle);
    const infos = description.raw.pendingActivities ?? [];
    const pending = await Promise.all(infos.map(async (info) => atWork(info, await failureOf(info, handle))));
    const counts = countsWith(told.counts, pending);
    const ended = hasEnded(description);
    const now = (ended ? (description.closeTime ?? new Date()) : new Date()).getTime() / 1000;
    const waiting = told.retries.map(([stack, at, attempt, text]) => ({
        stack,
        worker: "",
        attempt,
        isRunning: false,
        done: undefined,
        total: undefined,
        failure: text || "the provider failed",
        seconds: 0,
        waits: Math.max(at - now, 0),
        maxAttempts: told.maxAttempts,
        others: 0,
    }));
    return new Progress(
        run,
        told.verb,
        Math.max(now - told.began, 0),
        told.wave,
        told.waves,
        told.stacks,
        counts,
        ended ? "ended" : told.stopped ? "stopping" : told.paused ? "paused" : "running",
        ended ? outcomeOf(counts) : undefined,
        told.began,
        told.stopped,
        [...pending.sort((left, right) => right.seconds - left.seconds), ...waiting],
        told.failures.map((end) => new End(end)),
        told.failuresInAll,
    );
}

// What the attempt before came to; it may be encrypted.
async function failureOf(info: Pending, { client }: WorkflowHandle): Promise<string> {
    const { message, encodedAttributes, timeoutFailureInfo } = info.lastFailure ?? {};
    if (timeoutFailureInfo?.timeoutType === HEARTBEAT) {
        // The one that is at it now is another one.
        return info.state !== SCHEDULED ? "its worker was lost" : `worker ${info.lastWorkerIdentity} was lost`;
    }
    if (encodedAttributes === undefined || encodedAttributes === null) {
        return message ?? "";
    }
    let payloads: Payload[] = [encodedAttributes];
    for (const codec of client.options.loadedDataConverter.payloadCodecs) {
        payloads = await codec.decode(payloads);
    }
    const told = parseJson(Buffer.from(payloads[0]?.data ?? []).toString()) as { message?: string };
    return told.message ?? "";
}

type Unbegun = Pick<StackProgress, "isRunning" | "attempt" | "others">;

/**
 * The counts of a run, which takes all that it has given to the server for running, by what the server says. The server is asked a
 * moment later. What the run has given to it in that moment is counted as waiting already.
 */
export function countsWith(counts: Counts, pending: readonly Unbegun[]): Counts {
    const idle = pending.filter(({ isRunning }) => !isRunning);
    const unbegun = pending.reduce((sum, { others }) => sum + others, idle.length);
    const waiting = Math.min(unbegun, counts.running);
    const again = Math.min(idle.filter(({ attempt }) => attempt > 1).length, waiting);
    return {
        ...counts,
        running: counts.running - waiting,
        retrying: counts.retrying + again,
        waiting: counts.waiting + waiting - again,
    };
}

function atWork(info: Pending, failure: string): StackProgress {
    const isRunning = info.state !== SCHEDULED;
    const { done, total, ...where } = countsOf(info);
    const since = secondsOf(info.lastStartedTime);
    const nextAt = secondsOf(info.scheduledTime);
    const named = stackOf(info.activityId ?? "");
    return {
        stack: where.stack ?? named.stack,
        worker: info.lastWorkerIdentity ?? "",
        attempt: info.attempt ?? 1,
        isRunning,
        done,
        total,
        failure,
        seconds: isRunning && since !== undefined ? Math.max(Date.now() / 1000 - since, 0) : 0,
        waits: !isRunning && nextAt !== undefined ? Math.max(nextAt - Date.now() / 1000, 0) : 0,
        maxAttempts: undefined,
        others: where.others ?? named.others,
    };
}

// A time of the server in seconds since 1970.
function secondsOf(time: Pending["scheduledTime"]): number | undefined {
    const { seconds, nanos } = time ?? {};
    return seconds === undefined || seconds === null ? undefined : Number(seconds) + (nanos ?? 0) / 1e9;
}

interface Beat {
    done?: number;
    total?: number;
    /** Of a batch, the stack that is worked on, and how many come after it. */
    stack?: string;
    others?: number;
}

// The counts of the last heartbeat; those that are encrypted stay unread.
function countsOf({ heartbeatDetails }: Pending): Beat {
    for (const { metadata, data } of heartbeatDetails?.payloads ?? []) {
        if (Buffer.from(metadata?.encoding ?? []).toString() === "json/plain") {
            const counts: unknown = parseJson(Buffer.from(data ?? []).toString());
            return counts !== null && typeof counts === "object" && !isArray(counts) ? counts : {};
        }
    }
    return {};
}
