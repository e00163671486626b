import { expect, test } from "vitest";
import { many, service } from "../../fixtures/make.ts";
import type { Run } from "../data.ts";
import { barAt, type Lane, packedLanes, resourceLanes, runEnd, scaleStep } from "./lanes.ts";

const run = service().run as Run;

function overlaps({ bars }: Lane): boolean {
    return bars.some((bar, at) => at > 0 && bar.began < (bars[at - 1]?.ended ?? 0) - 0.02);
}

test.each([
    ["as few lanes as possible", packedLanes],
    ["lanes by resource", resourceLanes],
])("%s: every activity is there once, and none overlaps another", (_, lanes) => {
    const made = lanes(run);
    expect(made.flatMap((lane) => lane.bars.map((bar) => bar.activity)).sort((a, b) => a - b)).toEqual(
        run.activities.map((__, index) => index),
    );
    expect(made.filter(overlaps)).toEqual([]);
});

test("thirty-two calls at a time take thirty-two lanes", () => {
    const big = many(2000).run as Run;
    expect(packedLanes(big).length).toBe(32);
});

test("a resource has its name once", () => {
    const firsts = resourceLanes(run).filter((lane) => lane.first);
    expect(firsts.length).toBe(new Set(run.activities.map((one) => one.resource)).size);
});

test("what has not ended goes to the end of the run", () => {
    const open: Run = { ...run, duration: 100, steps: [], activities: [{ kind: "call", name: "create", began: 40 }] };
    expect(packedLanes(open)[0]?.bars).toEqual([{ activity: 0, began: 40, ended: 100 }]);
    expect(runEnd({ ...open, duration: 0, activities: [] })).toBe(1);
});

test("the bar under the pointer is found, or the nearest one", () => {
    const lane: Lane = {
        first: true,
        bars: [
            { activity: 0, began: 0, ended: 10 },
            { activity: 1, began: 20, ended: 30 },
        ],
    };
    expect([5, 12, 18, 15, 31, 50].map((at) => barAt(lane, at, 3)?.activity)).toEqual([
        0,
        0,
        1,
        undefined,
        1,
        undefined,
    ]);
});

test("the steps of the scale are round", () => {
    expect([41_000, 7, 0.4].map((span) => scaleStep(span, 8))).toEqual([10_000, 1, 0.05]);
});
