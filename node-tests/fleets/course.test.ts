// The course of a run, by the table that both languages have.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Course, type StackStart } from "../node_modules/maloko/dist/fleet/course/course.js";
import type {
    BatchEnd,
    CourseState,
    Limits,
    Plan,
    Retry,
    StackEnd,
    StackSpec,
    Wave,
} from "../node_modules/maloko/dist/fleet/wire.js";

type End = string | Partial<StackEnd> | { interrupted: Record<string, number> };

interface After {
    stacks: number;
    seconds: number;
}

interface Step {
    at: number;
    pause?: boolean;
    resume?: boolean;
    cancel?: boolean;
    ends?: "all" | Record<string, End>;
    seconds?: number;
    begins?: string[] | number;
    waits?: number;
    /** By stack that waits after a failure: which attempt comes then. */
    retries?: Record<string, number>;
}

interface Case {
    about: string;
    stacks: (Partial<StackSpec> & { id: string; times?: number })[];
    waves?: Partial<Wave>[];
    limits?: Partial<Limits>;
    retry?: Retry;
    stopAfter?: number;
    after?: After;
    steps: Step[];
    ends: string[] | number;
    stopped?: string;
}

const TABLE = new URL("../../conformance/fleets/course.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(TABLE, "utf8")) as { cases: Case[] };

function planOf({ stacks, waves = [{ name: "all" }], limits, retry, stopAfter }: Case): Plan {
    const listed = stacks.flatMap(({ times, ...stack }) =>
        times === undefined
            ? [stack]
            : Array.from({ length: times }, (_, at) => ({ ...stack, id: `${stack.id}${at}` })),
    );
    return {
        stacks: listed.map((stack) => ({
            needs: [],
            labels: {},
            wave: 0,
            queue: "default",
            language: "python",
            ...stack,
        })),
        waves: waves.map((wave) => ({ pause: 0, unlessFailed: null, ...wave })),
        limits: { atATime: null, each: {}, startsPerSecond: {}, ...limits },
        retry: retry ?? { provider: 3, firstWait: 2, longestWait: 60 },
        stopAfter: stopAfter ?? null,
    } as Partial<Plan> as Plan;
}

function endOf(id: string, end: End, seconds = 1): StackEnd {
    const known = typeof end === "string" ? { outcome: end } : end;
    return { id, changes: {}, reason: "", text: "", attempts: 1, seconds, ...known } as StackEnd;
}

/** A batch whose worker tells of its first stacks, and maybe of one more that was interrupted. */
function batchEndOf(ids: string[], told: Record<string, End>, seconds?: number): BatchEnd | undefined {
    const ended = ids.filter((id) => id in told);
    const last = told[ended.at(-1) ?? ""];
    if (last === "lost") {
        return undefined;
    }
    const ends = ended.map((id) => endOf(id, told[id] as End, seconds));
    const isInterrupted = typeof last === "object" && "interrupted" in last;
    return isInterrupted ? { ends: ends.slice(0, -1), interrupted: last.interrupted } : { ends, interrupted: null };
}

/** The state of a run whose first stacks have ended, each after so many seconds. */
function stateAfter({ stacks }: Plan, after: After, now: number): CourseState {
    return {
        ends: stacks.slice(0, after.stacks).map(({ id }) => endOf(id, "done", after.seconds)),
        ...{ tries: {}, later: [], turns: [], awaits: {}, changes: {}, givenUp: [], nextStarts: [] },
        ...{ wave: 0, waveBegins: now, paused: false, stopped: "" },
    };
}

function inWords({ id, outcome, reason, text, changes }: StackEnd): string {
    const ops = Object.keys(changes).sort();
    const changed = ops.length === 0 ? "" : ` [${ops.map((op) => `${op} ${changes[op]}`).join(", ")}]`;
    return `${id} ${outcome}${reason ? ` (${reason})` : ""}${text ? `: ${text}` : ""}${changed}`;
}

/** A course that is told what happens, and what it does then. */
class Told {
    course: Course;
    /** Those that are at work, each by its first stack. */
    readonly #batches = new Map<string, string[]>();

    constructor(
        private readonly plan: Plan,
        beginsAt: number,
        private readonly anew: boolean,
        after?: After,
    ) {
        this.course = new Course(plan, after === undefined ? null : stateAfter(plan, after, beginsAt), beginsAt);
    }

    /** Gives what begins, and how long nothing else does. */
    happens(step: Step): { begun: string[]; wait: number | undefined } {
        const now = step.at;
        if (step.pause || step.resume) {
            this.course.paused = !step.resume;
        }
        this.#end(step, now);
        if (step.cancel) {
            this.course.stop("the run was cancelled", "cancelled", now);
        }
        const begun: string[] = [];
        for (;;) {
            this.#goOnAnew(now);
            const launches = this.course.launches(now);
            begun.push(...launches.map((batch) => this.#begun(batch)));
            this.#goOnAnew(now);
            const counts = Object.values(this.course.counts());
            expect(counts.reduce((sum, count) => sum + count)).toBe(this.plan.stacks.length);
            const wait = this.course.wait(now);
            if (wait !== 0) {
                return { begun, wait };
            }
        }
    }

    #atWork(): string[] {
        return this.plan.stacks.map(({ id }) => id).filter((id) => this.course.running.has(id));
    }

    #begun(batch: readonly StackStart[]): string {
        const ids = batch.map(([{ id }]) => id);
        const numbers = batch.map(([, number]) => number);
        const first = ids[0] as string;
        if (ids.length > 1) {
            expect(new Set(numbers)).toEqual(new Set([1]));
            this.#batches.set(first, ids);
            return ids.join(" + ");
        }
        return numbers[0] === 1 ? first : `${first}#${numbers[0]}`;
    }

    #end({ ends = {}, seconds }: Step, now: number): void {
        const told = ends === "all" ? Object.fromEntries(this.#atWork().map((id) => [id, "done"])) : ends;
        for (const [id, end] of Object.entries(told)) {
            const ids = this.#batches.get(id);
            if (ids !== undefined) {
                this.#batches.delete(id);
                this.course.batchEnded(ids, batchEndOf(ids, told, seconds), now);
            } else if (this.course.running.has(id)) {
                this.course.ended(endOf(id, end, seconds), now);
            }
        }
    }

    #goOnAnew(now: number): void {
        if (this.anew && this.course.isIdle) {
            const state = JSON.parse(JSON.stringify(this.course.state())) as CourseState;
            this.course = new Course(this.plan, state, now);
        }
    }
}

const rows = cases.flatMap((it) => [
    { ...it, anew: false, how: "in one go" },
    { ...it, anew: true, how: "with new histories" },
]);

test.each(rows)("a run goes as its case says: $about, $how", (it) => {
    const told = new Told(planOf(it), it.steps[0]?.at ?? 0, it.anew, it.after);

    for (const step of it.steps) {
        const { begun, wait } = told.happens(step);
        const expected = step.begins ?? [];
        expect(typeof expected === "number" ? begun.length : begun, JSON.stringify(step)).toEqual(expected);
        expect(wait, JSON.stringify(step)).toBe(step.waits);
        if (step.retries !== undefined) {
            const retries = told.course.retries().map(([id, , number]) => [id, number]);
            expect(Object.fromEntries(retries), JSON.stringify(step)).toEqual(step.retries);
        }
    }

    const ends = [...told.course.ends.values()].slice(it.after?.stacks ?? 0).map(inWords);
    if (typeof it.ends === "number") {
        expect(ends.filter((end) => end.endsWith(" done"))).toHaveLength(it.ends);
    } else {
        expect(ends).toEqual(it.ends);
    }
    expect(told.course.isOver).toBe(true);
    expect(told.course.stopped).toBe(it.stopped ?? "");
});
