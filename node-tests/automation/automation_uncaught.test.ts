import { expect, test } from "vitest";
import { newStack, runScript as run } from "../support/automation-kit";
import { Echo, Thing } from "../support/kit";
import { byDay } from "../support/night";

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("an error in a timer of a program fails its own run only", () => {
    const { status, stdout, stderr } = run(`
        const bad = up(async () => {
            setTimeout(() => { throw new RangeError("late"); }, 10);
            await sleep(200);
            new Thing("a");
        }, "bad");
        const good = up(async () => { await sleep(300); new Thing("a"); }, "good");
        console.log(await bad, await good);`);
    expect([status, stdout, stderr]).toEqual([0, "CommandError: RangeError: late succeeded\n", ""]);
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("an error of nobodys run ends the process as ever", () => {
    const ways = [
        "setTimeout(() => { throw new RangeError('mine'); }, 100)",
        "void sleep(100).then(() => { throw new RangeError('mine'); })",
    ];
    for (const thrown of byDay(ways, (_way, place) => place === 0)) {
        const { status, stderr } = run(`
            ${thrown};
            console.log(await up(async () => { await sleep(5000); }));`);
        expect([status, stderr]).toEqual([1, expect.stringContaining("RangeError: mine")]);
    }
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("a listener for uncaught errors is the callers own", () => {
    const { status, stdout } = run(`
        process.on("uncaughtException", (error) => console.log("heard", error.message));
        setTimeout(() => { throw new RangeError("mine"); }, 50);
        console.log(await up(async () => { await sleep(200); new Thing("a"); }));
        console.log(process.listenerCount("uncaughtException"), process.listenerCount("unhandledRejection"));`);
    expect([status, stdout]).toEqual([0, "heard mine\nsucceeded\n1 0\n"]);
});

test("an inline program that ends the process well has registered all that it wants", async () => {
    const stack = await newStack(async () => {
        new Thing(new Echo(), "a", {});
        process.exit(0);
    });
    expect((await stack.up()).summary.resourceChanges).toEqual({ create: 2 });
});
