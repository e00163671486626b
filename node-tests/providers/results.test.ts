// What provider methods may say beyond plain results, how often they are called, and what they learn of their call.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { currentCall } from "maloko";
import { expect, test } from "vitest";
import { Echo, failureOf, newStack, type Props, Thing } from "../support/kit";
import { project } from "../support/project";
import type { Stack } from "../support/stacks";

const SIGNATURE = "4dabf18193072939515e22adb298388d";

/** Is it a secret as the state keeps it? Its value is not in the text. */
function isSecret(value: unknown): boolean {
    return (value as Props | undefined)?.[SIGNATURE] === "1b47061264138c4ac30d75fd1eb44270";
}

/** Returns secrets at several places, in every method that returns outputs. */
class Keeping {
    olds: Props = {};

    outs(n: number) {
        const deep = { open: 1, in: pulumi.secret({ x: n }) };
        return { plain: n, top: pulumi.secret(`t${n}`), deep, list: ["a", pulumi.secret("b")] };
    }

    async create() {
        return { id: "made", outs: this.outs(1) };
    }

    async diff(_id: string, olds: Props, news: Props) {
        this.olds = olds;
        return { changes: olds.plain !== news.n };
    }

    async update(_id: string, _olds: Props, news: Props) {
        return { outs: this.outs(news.n) };
    }

    async read(id: string) {
        return { id, props: this.outs(9) };
    }
}

function kept(stack: Stack): Props {
    const { __provider, ...outputs } = (stack.resources().a?.outputs ?? {}) as Props;
    return outputs;
}

test("secrets in results are secret at their own places", async () => {
    const stack = newStack();
    const provider = new Keeping();
    const expectKept = (n: number) => {
        const { plain, top, deep, list } = kept(stack);
        expect(plain).toBe(n);
        expect(deep.open).toBe(1);
        expect(list[0]).toBe("a");
        expect([top, deep.in, list[1]].map(isSecret)).toEqual([true, true, true]);
    };
    await stack.up(() => void new Thing(provider, "a", { n: 1 }));
    expectKept(1);
    await stack.up(() => void new Thing(provider, "a", { n: 2 }));
    expectKept(2);
    expect(provider.olds).toEqual({ plain: 1, top: "t1", deep: { open: 1, in: { x: 1 } }, list: ["a", "b"] });
    await stack.refresh(() => void new Thing(provider, "a", { n: 2 }));
    expectKept(9);
});

test("the program sees secrets of results as secrets", async () => {
    const seen: Props = {};
    await newStack().up(async () => {
        const thing = new Thing(new Keeping(), "a", { n: 1 }, {}, ["top", "plain"]);
        for (const name of ["top", "plain"]) {
            seen[name] = [await thing[name].promise(), await thing[name].isSecret];
        }
    });
    expect(seen).toEqual({ top: ["t1", true], plain: [1, false] });
});

test("a failure in part keeps object and secrets and is tried again", async () => {
    const stack = newStack();
    const calls: string[] = [];
    const partly = (properties: Props, ...reasons: string[]) =>
        Object.assign(new Error("not started"), { id: "half", properties, reasons });
    const starting = {
        async create() {
            calls.push("create");
            throw partly({ key: pulumi.secret("hush"), n: 1 }, "no answer");
        },
        async update() {
            calls.push("update");
            if (calls.length === 2) {
                throw partly({ n: 2 }, "still none", "at all");
            }
            return { outs: { n: 3 } };
        },
    };
    const program = () => void new Thing(starting, "a", { size: 1 });
    expect((await stack.run("update", program)).outcome).toBe("failed");
    expect(stack.resources().a).toMatchObject({ id: "half", initErrors: ["no answer"] });
    expect(kept(stack).n).toBe(1);
    expect(isSecret(kept(stack).key)).toBe(true);
    expect((await stack.run("update", program)).outcome).toBe("failed");
    expect(stack.resources().a).toMatchObject({ id: "half", initErrors: ["still none", "at all"] });
    expect(kept(stack)).toEqual({ n: 2 });
    expect((await stack.run("update", program)).outcome).toBe("succeeded");
    expect(stack.resources().a).not.toHaveProperty("initErrors");
    expect(kept(stack)).toEqual({ n: 3 });
    expect(calls).toEqual(["create", "update", "update"]);
});

test("calls of a class run at most so many at a time", async () => {
    const stack = newStack({ parallel: 3 });
    let running = 0;
    const most: number[] = [];
    let meet = () => {};
    const met = new Promise<void>((resolve) => {
        meet = resolve;
    });
    class Limited extends Echo {
        static maxConcurrency = 1;

        override async create(inputs: Props) {
            most.push(++running);
            await met;
            running--;
            return super.create(inputs);
        }
    }
    let arrived = 0;
    class Other extends Echo {
        override async create(inputs: Props) {
            // The last of them lets the first go on: it must not have to wait for those of the class.
            if (++arrived === 4) {
                meet();
            }
            return super.create(inputs);
        }
    }
    await stack.up(() => {
        for (let n = 0; n < 3; n++) {
            new Thing(new Limited(), `limited${n}`);
        }
        for (let n = 0; n < 4; n++) {
            new Thing(new Other(), `other${n}`);
        }
    });
    expect(most).toEqual([1, 1, 1]);
});

test("classes of one name have limits of their own", async () => {
    let arrived = 0;
    let meet = () => {};
    const met = new Promise<void>((resolve) => {
        meet = resolve;
    });
    const limited = () =>
        class Limited extends Echo {
            static maxConcurrency = 1;

            override async create(inputs: Props) {
                if (++arrived === 2) {
                    meet();
                }
                await met;
                return super.create(inputs);
            }
        };
    const [One, Other] = [limited(), limited()];
    await newStack().up(() => {
        new Thing(new One(), "one");
        new Thing(new Other(), "other");
    });
    expect(arrived).toBe(2);
});

test.each([
    [{ maxConcurrency: 0 }, "`maxConcurrency` of provider `Odd` is 0; it must be a whole number above 0"],
    [{ minInterval: "1s" }, "`minInterval` of provider `Odd` is 1s; it must be a number of seconds"],
])("limits that are none are errors that name the class: %#", async (members, reason) => {
    class Odd extends Echo {}
    Object.assign(Odd, members);
    const error = await failureOf(newStack().up(() => void new Thing(new Odd(), "a")));
    expect(error.message).toContain(reason);
});

// In Node alone: a provider of Python is an object of a class
test("an object literal has limits of its own", async () => {
    const odd = { minInterval: "1s", create: async (outs: Props) => ({ id: "odd", outs }) };
    const error = await failureOf(newStack().up(() => void new Thing(odd, "a")));
    expect(error.message).toContain("is 1s; it must be a number of seconds");
});

test("a method learns which call it is and that it took too long", async () => {
    const seen: unknown[] = [];
    let ended = () => {};
    const end = new Promise<void>((resolve) => {
        ended = resolve;
    });
    class Slow extends Echo {
        override async create(inputs: Props) {
            const { urn, method, signal } = currentCall();
            await new Promise((resolve) => (signal.aborted ? resolve(0) : signal.addEventListener("abort", resolve)));
            seen.push(urn.split("::").at(-1), method, signal.aborted);
            ended();
            return super.create(inputs);
        }
    }
    const program = () => void new Thing(new Slow(), "a", {}, { customTimeouts: { create: "500ms" } });
    expect((await newStack().run("update", program)).outcome).toBe("failed");
    await end;
    expect(seen).toEqual(["a", "create", true]);
    const { urn, method, signal } = currentCall();
    expect([urn, method, signal.aborted]).toEqual(["", "", false]);
});

const CANCELLED = `
const pulumi = require("@pulumi/pulumi");
const { currentCall } = require("maloko");
const { writeFileSync } = require("node:fs");
const { setTimeout: sleep } = require("node:timers/promises");
let begun = 0;
const begin = () => ++begun === 2 && writeFileSync("started", "");
class Waiting {
    async create() {
        begin();
        await new Promise((resolve) => currentCall().signal.addEventListener("abort", resolve));
        return { id: "ended", outs: {} };
    }
}
class Tasked {
    async create() {
        begin();
        try {
            await sleep(60000, undefined, { signal: currentCall().signal });
        } catch (error) {
            writeFileSync("cleaned", "");
            throw error;
        }
    }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(provider, name) { super(provider, name, {}); }
}
new Thing(new Waiting(), "waiting");
new Thing(new Tasked(), "tasked");
`;

test("cancelling a run reaches the methods", async () => {
    const trial = project({ "index.js": CANCELLED });
    const { status, output } = await trial.interrupted(
        ["up", "--yes", "--skip-preview", "--stack", "dev"],
        async (child) => child.signal(),
    );
    expect(status).not.toBe(0);
    expect(existsSync(join(trial.directory, "cleaned"))).toBe(true);
    expect(output).toContain("it was cancelled before it ended; what it has done is not known");
    const state = readFileSync(join(trial.directory, ".maloko/.pulumi/stacks/test/dev.json"), "utf8");
    expect(state).toContain('"id":"ended"');
    expect(state).toContain("pending_operations");
});
