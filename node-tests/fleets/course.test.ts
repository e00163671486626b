// The course of a run, by the table that both languages have.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Course } from "../node_modules/maloko/dist/fleet/course/course.js";
import type {
    CourseState,
    Limits,
    Plan,
    Retry,
    StackEnd,
    StackSpec,
    Wave,
} from "../node_modules/maloko/dist/fleet/wire.js";

interface Step {
    at: number;
    pause?: boolean;
    resume?: boolean;
    cancel?: boolean;
    ends?: "all" | Record<string, string | Partial<StackEnd>>;
    begins?: string[] | number;
    waits?: number;
}

interface Case {
    about: string;
    stacks: (Partial<StackSpec> & { id: string; times?: number })[];
    waves?: Partial<Wave>[];
    limits?: Partial<Limits>;
    retry?: Retry;
    stopAfter?: number;
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
        stacks: listed.map((stack) => ({ needs: [], labels: {}, wave: 0, ...stack })),
        waves: waves.map((wave) => ({ pause: 0, unlessFailed: null, ...wave })),
        limits: { atATime: null, each: {}, startsPerSecond: {}, ...limits },
        retry: retry ?? { provider: 3, firstWait: 2, longestWait: 60 },
        stopAfter: stopAfter ?? null,
    } as Partial<Plan> as Plan;
}

function endOf(id: string, end: string | Partial<StackEnd>): StackEnd {
    const known = typeof end === "string" ? { outcome: end } : end;
    return { id, changes: {}, reason: "", text: "", attempts: 1, seconds: 1, ...known } as StackEnd;
}

function inWords({ id, outcome, reason, text, changes }: StackEnd): string {
    const ops = Object.keys(changes).sort();
    const changed = ops.length === 0 ? "" : ` [${ops.map((op) => `${op} ${changes[op]}`).join(", ")}]`;
    return `${id} ${outcome}${reason ? ` (${reason})` : ""}${text ? `: ${text}` : ""}${changed}`;
}

/** A course that is told what happens, and what it does then. */
class Told {
    course: Course;

    constructor(
        private readonly plan: Plan,
        beginsAt: number,
        private readonly anew: boolean,
    ) {
        this.course = new Course(plan, null, beginsAt);
    }

    /** Gives what begins, and how long nothing else does. */
    happens(step: Step): { begun: string[]; wait: number | undefined } {
        const now = step.at;
        if (step.pause || step.resume) {
            this.course.paused = !step.resume;
        }
        const all = (): Record<string, string> =>
            Object.fromEntries([...this.course.running.keys()].map((id) => [id, "done"]));
        for (const [id, end] of Object.entries(step.ends === "all" ? all() : (step.ends ?? {}))) {
            this.course.ended(endOf(id, end), now);
        }
        if (step.cancel) {
            this.course.stop("the run was cancelled", "cancelled", now);
        }
        const begun: string[] = [];
        for (;;) {
            this.#goOnAnew(now);
            const launches = this.course.launches(now);
            begun.push(...launches.map(([{ id }, number]) => (number === 1 ? id : `${id}#${number}`)));
            this.#goOnAnew(now);
            const counts = Object.values(this.course.counts());
            expect(counts.reduce((sum, count) => sum + count)).toBe(this.plan.stacks.length);
            const wait = this.course.wait(now);
            if (wait !== 0) {
                return { begun, wait };
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
    const told = new Told(planOf(it), it.steps[0]?.at ?? 0, it.anew);

    for (const step of it.steps) {
        const { begun, wait } = told.happens(step);
        const expected = step.begins ?? [];
        expect(typeof expected === "number" ? begun.length : begun, JSON.stringify(step)).toEqual(expected);
        expect(wait, JSON.stringify(step)).toBe(step.waits);
    }

    const ends = [...told.course.ends.values()].map(inWords);
    if (typeof it.ends === "number") {
        expect(ends.filter((end) => end.endsWith(" done"))).toHaveLength(it.ends);
    } else {
        expect(ends).toEqual(it.ends);
    }
    expect(told.course.isOver).toBe(true);
    expect(told.course.stopped).toBe(it.stopped ?? "");
});
