import { expect, test } from "vitest";
import { moveRange, rangeWith, within, zoomRange } from "./scale.ts";

test("a zoom keeps its moment where it is, and within the run", () => {
    expect(zoomRange({ from: 0, to: 100 }, 0.5, 20, 100)).toEqual({ from: 10, to: 60 });
    expect(zoomRange({ from: 10, to: 60 }, 10, 20, 100)).toEqual({ from: 0, to: 100 });
    expect(within({ from: 50, to: 50 }, 100)).toEqual({ from: 50, to: 50.5 });
});

test("the range does not leave the run", () => {
    expect(moveRange({ from: 10, to: 30 }, -50, 100)).toEqual({ from: 0, to: 20 });
    expect(moveRange({ from: 10, to: 30 }, 500, 100)).toEqual({ from: 80, to: 100 });
});

test("what is chosen comes into the range", () => {
    expect(rangeWith({ from: 0, to: 50 }, 10, 20, 100)).toEqual({ from: 0, to: 50 });
    expect(rangeWith({ from: 0, to: 10 }, 60, 64, 100)).toEqual({ from: 57, to: 67 });
});
