// A run of a fleet as a workflow. It decides by the course alone; what it is given and gives is JSON.
//
// A worker bundles this file and runs it apart: what it imports has to be plain code of this folder or `@temporalio/workflow`.
import {
    ActivityCancellationType,
    ActivityFailure,
    type ActivityOptions,
    ApplicationFailure,
    CancellationScope,
    CancelledFailure,
    condition,
    continueAsNew,
    defineQuery,
    defineSignal,
    isCancellation,
    proxyActivities,
    setHandler,
    TimeoutFailure,
    upsertMemo,
    workflowInfo,
} from "@temporalio/workflow";
import { SECONDS } from "./course/batches";
import { Course, outcomeOf, type StackStart } from "./course/course";
import { batchId, stackQueue } from "./queues";
import {
    ATTEMPTS_A_START,
    type Batch,
    type BatchEnd,
    type Launch,
    type Order,
    type ProgressAnswer,
    type RunEnd,
    SHOWN,
    STACK,
    STACKS,
    type StackEnd,
    type StackSpec,
    verbOf,
    type Work,
} from "./wire";

/** After so many the run goes on with a new history; a history of the server must not become too long. */
const STACKS_AN_EXECUTION = 1000;
const FIRST_WAIT = "1s";
const MAX_WAIT = "30s";
/** Characters that the server takes of a key for turns. */
const KEY_LENGTH = 64;

const PROGRESS = defineQuery<ProgressAnswer>("progress");
const ENDS = defineQuery<StackEnd[], [since: number, most: number]>("ends");
const PAUSE = defineSignal("pause");
const RESUME = defineSignal("resume");

/** The workflow of a run: from its plan to the end of its last stack. */
async function fleetRun(order: Order): Promise<RunEnd> {
    return new FleetRun(order).run();
}

export { fleetRun as "maloko.FleetRun" };

const now = (): number => Date.now() / 1000;
const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;

class FleetRun {
    readonly #order: Order;
    readonly #began: number;
    readonly #course: Course;
    readonly #before: number;
    readonly #running = new Map<string, Promise<void>>();
    // What the last start of each stack came to.
    readonly #texts = new Map<string, string>();
    readonly #run: string;
    #somethingEnded = false;
    #draining = false;
    #stopIsTold = false;

    constructor(order: Order) {
        this.#order = order;
        this.#began = order.began || now();
        this.#course = new Course(order.plan, order.state, now());
        this.#before = this.#course.ends.size;
        const { workflowId, firstExecutionRunId } = workflowInfo();
        this.#run = `${workflowId}/${firstExecutionRunId}`;
        setHandler(PROGRESS, () => this.#progress());
        // What has ended, in that order, from a number on.
        setHandler(ENDS, (since, most) => [...this.#course.ends.values()].slice(since, since + most));
        // Nothing begins until `resume`; what is running goes on.
        setHandler(PAUSE, () => {
            this.#course.paused = true;
            upsertMemo({ paused: true });
        });
        setHandler(RESUME, () => {
            this.#course.paused = false;
            this.#somethingEnded = true;
            upsertMemo({ paused: false });
        });
    }

    async run(): Promise<RunEnd> {
        try {
            await this.#goOn();
        } catch (error) {
            if (isCancellation(error)) {
                await this.#endInOrder();
            }
            throw error;
        }
        const result = this.#result();
        upsertMemo({ failed: result.counts.failed, outcome: result.outcome });
        return result;
    }

    async #goOn(): Promise<void> {
        const course = this.#course;
        while (!course.isOver) {
            this.#draining ||= this.#needsNewHistory();
            if (this.#draining && course.isIdle) {
                const { plan, options } = this.#order;
                await continueAsNew<(order: Order) => Promise<RunEnd>>({
                    plan,
                    options,
                    began: this.#began,
                    state: course.state(),
                });
            }
            if (!this.#draining) {
                for (const batch of course.launches(now())) {
                    const [first, ...others] = batch;
                    this.#running.set(
                        first[0].id,
                        others.length === 0 ? this.#work(...first) : this.#workOnBatch(batch),
                    );
                }
            }
            if (course.isOver) {
                return;
            }
            this.#somethingEnded = false;
            const wait = this.#draining ? undefined : course.wait(now());
            const somethingEnded = (): boolean => this.#somethingEnded;
            await (wait === undefined
                ? condition(somethingEnded)
                : condition(somethingEnded, Math.max(Math.ceil(wait * 1000), 1)));
        }
    }

    #needsNewHistory(): boolean {
        const many = this.#course.ends.size - this.#before >= STACKS_AN_EXECUTION;
        return many || workflowInfo().continueAsNewSuggested;
    }

    // What is at work was cancelled with the workflow. It is waited for: nothing goes on once the run is over.
    async #endInOrder(): Promise<void> {
        this.#course.stop("the run was cancelled", "cancelled", now());
        await CancellationScope.nonCancellable(async () => {
            await Promise.all(this.#running.values());
        });
    }

    async #work(stack: StackSpec, number: number): Promise<void> {
        const began = now();
        let end: StackEnd;
        try {
            const activities = proxyActivities<{ [STACK](launch: Launch): Promise<StackEnd> }>({
                activityId: number === 1 ? stack.id : `${stack.id}/${number}`,
                retry: { initialInterval: FIRST_WAIT, maximumInterval: MAX_WAIT },
                ...this.#whereAndHowLong(stack),
            });
            const before = (number - 1) * ATTEMPTS_A_START;
            end = await activities[STACK]({ ...this.#inCommon(), number: before, stack });
        } catch (error) {
            end = endOf(stack, number, now() - began, error);
        }
        this.#course.ended(end, now());
        this.#isOver(stack, [end]);
    }

    async #workOnBatch(batch: readonly [StackStart, ...StackStart[]]): Promise<void> {
        const stacks = batch.map(([stack]) => stack);
        const [[first]] = batch;
        let told: BatchEnd | undefined;
        try {
            const activities = proxyActivities<{ [STACKS](batch: Batch): Promise<BatchEnd> }>({
                activityId: batchId(first.id, stacks.length - 1),
                // What is to be tried again, each of the stacks tries by itself.
                retry: { maximumAttempts: 1 },
                ...this.#whereAndHowLong(first),
            });
            told = await activities[STACKS]({ ...this.#inCommon(), stacks, seconds: SECONDS });
        } catch {
            // Its worker is lost, or the run was cancelled before it had one.
        }
        const ids = stacks.map(({ id }) => id);
        this.#course.batchEnded(ids, told, now());
        this.#isOver(first, told?.ends ?? []);
    }

    // The options that all activities have.
    #whereAndHowLong(stack: StackSpec): ActivityOptions {
        const { plan } = this.#order;
        return {
            taskQueue: stackQueue(plan.fleet, stack.queue, stack.language, plan.code[stack.language] ?? ""),
            heartbeatTimeout: plan.heartbeat * 1000,
            scheduleToCloseTimeout: Math.ceil(Math.max(this.#began + plan.deadline - now(), 1) * 1000),
            cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            ...this.#priority(stack),
        };
    }

    // A stack, or the batch that begins with it, is at work no more.
    #isOver(first: StackSpec, ends: readonly StackEnd[]): void {
        this.#running.delete(first.id);
        for (const { id, text } of ends) {
            this.#texts.set(id, text);
        }
        this.#tellOfEarlierFailures();
        this.#somethingEnded = true;
    }

    // Stacks that were to be tried again when the run was stopped: their ends say of what they failed.
    #tellOfEarlierFailures(): void {
        if (this.#course.stopped === "" || this.#stopIsTold) {
            return;
        }
        this.#stopIsTold = true;
        for (const end of this.#course.ends.values()) {
            const text = this.#texts.get(end.id);
            if (end.reason === "stopped" && text) {
                end.text = `${end.text}; it failed before: ${text}`;
            }
        }
    }

    #inCommon(): Work {
        const { plan, options } = this.#order;
        const { fleet, verb, backend, key, keep, heartbeat } = plan;
        return { fleet, run: this.#run, verb, options, backend, key, keep, heartbeat };
    }

    // Stacks with different values of the first label that has a limit take turns where workers are few.
    #priority({ labels }: StackSpec): Pick<ActivityOptions, "priority"> {
        const label = Object.keys(this.#order.plan.limits.each)[0];
        const value = label === undefined ? undefined : labels[label];
        return value === undefined ? {} : { priority: { fairnessKey: value.slice(0, KEY_LENGTH) } };
    }

    #result(): RunEnd {
        const { plan, options } = this.#order;
        const { fleet } = plan;
        const counts = this.#course.counts();
        return {
            fleet,
            verb: verbOf(plan, options),
            outcome: outcomeOf(counts),
            stopped: this.#course.stopped,
            seconds: rounded(now() - this.#began),
            counts,
            ends: [...this.#course.ends.values()],
            began: this.#began,
            wave: this.#course.wave + 1,
            waves: Math.max(plan.waves.length, 1),
        };
    }

    // Counts, and the stacks that are worth a look.
    #progress(): ProgressAnswer {
        const course = this.#course;
        const { plan, options } = this.#order;
        const { fleet, waves, stacks } = plan;
        // Those that failed come last, where the newest ones are shown: what was skipped is so because of them.
        const ends = [...course.ends.values()];
        const failures = ["skipped", "failed"].flatMap((outcome) => ends.filter((end) => end.outcome === outcome));
        return {
            fleet,
            verb: verbOf(plan, options),
            began: this.#began,
            now: now(),
            wave: course.wave + 1,
            waves: Math.max(waves.length, 1),
            stacks: stacks.length,
            counts: course.counts(),
            paused: course.paused,
            stopped: course.stopped,
            retries: course
                .retries()
                .slice(0, SHOWN)
                .map(([id, at, number]) => [id, at, number, this.#texts.get(id) ?? ""]),
            maxAttempts: plan.retry.provider,
            failures: failures.slice(-SHOWN),
            failuresInAll: failures.length,
        };
    }
}

// What it means that the activity of a stack gave no result.
function endOf({ id }: StackSpec, number: number, seconds: number, error: unknown): StackEnd {
    const end: StackEnd = {
        id,
        outcome: "failed",
        changes: {},
        reason: "other",
        text: "",
        attempts: number,
        seconds: rounded(seconds),
    };
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (isCancellation(error) || cause instanceof CancelledFailure) {
        return { ...end, outcome: "cancelled", reason: "cancelled", text: "the run was cancelled" };
    }
    if (cause instanceof TimeoutFailure) {
        return { ...end, text: "no worker has finished it before the run's deadline" };
    }
    if (cause instanceof ApplicationFailure) {
        const reason = cause.details?.[0] || cause.type || "other";
        return { ...end, reason: String(reason), text: cause.message };
    }
    return { ...end, text: cause instanceof Error ? cause.message : String(cause) };
}
