// Where a run stands, as its workflow and the server say it one after the other.
import { expect, test } from "vitest";
import { countsWith } from "../node_modules/maloko/dist/fleet/progress.js";
import { stackOf } from "../node_modules/maloko/dist/fleet/queues.js";

const NONE = { done: 0, unchanged: 0, failed: 0, skipped: 0, cancelled: 0, running: 0, retrying: 0, waiting: 0 };

const IDLE = { isRunning: false, attempt: 1, others: 0 };
const AGAIN = { isRunning: false, attempt: 2, others: 0 };

test.each([
    { counts: { running: 3 }, pending: [IDLE, AGAIN], expected: { running: 1, retrying: 1, waiting: 1 } },
    { counts: { running: 1, waiting: 1 }, pending: [IDLE, IDLE], expected: { waiting: 2 } },
    { counts: { waiting: 2 }, pending: [IDLE, IDLE], expected: { waiting: 2 } },
])("what begins between both answers is counted once", ({ counts, pending, expected }) => {
    expect(countsWith({ ...NONE, ...counts }, pending)).toEqual({ ...NONE, ...expected });
});

test("of a batch one stack runs, and the others wait", () => {
    const pending = [
        { isRunning: true, attempt: 1, others: 3 },
        { isRunning: false, attempt: 1, others: 2 },
    ];
    const expected = { ...NONE, running: 2, waiting: 7 };
    // One stack more runs by itself, and one waits.
    expect(countsWith({ ...NONE, running: 8, waiting: 1 }, pending)).toEqual(expected);
});

test.each([
    { id: "shop/acme", stack: "shop/acme", others: 0 },
    { id: "shop/acme/2", stack: "shop/acme", others: 0 },
    { id: "shop/acme +7", stack: "shop/acme", others: 7 },
])("the server's name of the work on stacks says which they are: $id", ({ id, ...expected }) => {
    expect(stackOf(id)).toEqual(expected);
});
