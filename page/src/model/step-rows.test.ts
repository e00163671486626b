import { expect, test } from "vitest";
import type { Step } from "../data.ts";
import { changing, stepLines, stepRows, telling } from "./step-rows.ts";

function step(resource: number, op: string, more: Partial<Step> = {}): Step {
    return { resource, op, status: "done", began: 0, ...more };
}

const changes = [{ path: "size", kind: "update" as const, old: 1, new: 2 }];
const STEPS = [
    step(0, "create-replacement", { changes }),
    step(1, "update"),
    step(0, "replace"),
    step(2, "delete-replaced"),
    step(0, "delete-replaced", { status: "failed" }),
    step(1, "refresh"),
];

test("the steps of a replacement are one row, at the place of the first", () => {
    const rows = stepRows(STEPS);
    expect(rows.map(({ main, parts, op, failed }) => [main, parts, op, failed])).toEqual([
        [2, [0, 2, 4], "replace", true],
        [1, [1], "update", false],
        [3, [3], "replace", false],
        [5, [5], "refresh", false],
    ]);
    const [first] = rows;
    if (!first) throw new Error("no row");
    expect(changing(STEPS, first)).toBe(STEPS[0]);
    expect(telling(STEPS, first)).toBe(STEPS[4]);
});

test("a row unfolds by hand, or because one of its steps is chosen", () => {
    const rows = stepRows(STEPS);
    const shown = (...args: [Set<number>, number | undefined]) =>
        stepLines(rows, ...args).map(({ index, part }) => (part ? `+${index}` : `${index}`));
    expect(shown(new Set(), undefined)).toEqual(["2", "1", "3", "5"]);
    expect(shown(new Set(), 2)).toEqual(["2", "1", "3", "5"]);
    expect(shown(new Set(), 4)).toEqual(["2", "+0", "+4", "1", "3", "5"]);
    expect(shown(new Set([2, 1]), undefined)).toEqual(["2", "+0", "+4", "1", "3", "5"]);
});
