// Where a run stands, as its workflow and the server say it one after the other.
import { expect, test } from "vitest";
import { countsWith } from "../node_modules/maloko/dist/fleet/progress.js";

const NONE = { done: 0, unchanged: 0, failed: 0, skipped: 0, cancelled: 0, running: 0, retrying: 0, waiting: 0 };

test.each([
    { counts: { running: 3 }, attempts: [1, 2], expected: { running: 1, retrying: 1, waiting: 1 } },
    { counts: { running: 1, waiting: 1 }, attempts: [1, 1], expected: { waiting: 2 } },
    { counts: { waiting: 2 }, attempts: [1, 1], expected: { waiting: 2 } },
])("what begins between both answers is counted once", ({ counts, attempts, expected }) => {
    const pending = attempts.map((attempt) => ({ isRunning: false, attempt }));
    expect(countsWith({ ...NONE, ...counts }, pending)).toEqual({ ...NONE, ...expected });
});
