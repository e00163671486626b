import { expect, test } from "vitest";
import { fleetOf, fleetRun } from "../../fixtures/fleet.ts";
import { paceOf, rateWords, runWords, timeOf } from "./words.ts";

test("a run says how it stands", () => {
    const words = (more: object) => runWords(fleetOf([], [], [], more));
    expect(words({ state: "paused" })).toBe("up is paused");
    expect(words({ outcome: "done" })).toBe("up is done");
    expect(words({ verb: "destroy", outcome: "failed" })).toBe("destroy failed");
    expect(words({ outcome: "cancelled" })).toBe("up was cancelled");
});

test("the rate counts what was worked on, and what is left follows from it", () => {
    const data = fleetRun(1000);
    const { done, unchanged, failed, running, retrying, waiting } = data.counts;
    const perMinute = ((done + unchanged + failed) * 60) / data.seconds;
    expect(paceOf(data)).toEqual({ perMinute, left: ((running + retrying + waiting) * 60) / perMinute });
    expect(paceOf({ ...data, state: "paused" })).toEqual({ perMinute });
    expect(paceOf({ ...data, seconds: 0 })).toEqual({});
    expect(paceOf(fleetOf([{ id: "a", wave: 0 }], []))).toEqual({});
});

test("rates and times are short", () => {
    expect([rateWords(0.44), rateWords(1528.4)]).toEqual(["0.4 a minute", "1,528 a minute"]);
    expect(timeOf(1_795_168_951.5)).toBe("2026-11-20T10:02:31.500Z");
    expect(timeOf(1e300)).toBe("1e+300");
});
