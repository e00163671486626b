import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { Echo, failureOf, newStack, type Props, Thing } from "./kit";

test("stacks run side by side without mixing", async () => {
    const seen: Props = {};
    const names = ["one", "two", "three", "four", "five", "six"];
    const stacks = names.map((stack) => newStack({ stack, config: { "project:name": stack } }));
    await Promise.all(
        stacks.map((stack, index) =>
            stack.up(() => {
                const thing = new Thing(new Echo(), "a", { from: new pulumi.Config().require("name") });
                thing.from.apply((from: string) => {
                    seen[names[index] ?? ""] = [from, pulumi.getStack(), new pulumi.Config().require("name")];
                });
            }),
        ),
    );
    expect(seen).toEqual(Object.fromEntries(names.map((name) => [name, [name, name, name]])));
});

test("no socket listens during a run", async () => {
    let servers: string[] = ["not looked"];
    await newStack().up(async () => {
        const hook = { create: async (inputs: Props) => ({ id: "made", outs: inputs }) };
        const thing = new Thing(hook, "a", { n: 1 });
        await new Promise((resolve) => thing.n.apply(resolve));
        servers = process.getActiveResourcesInfo().filter((type) => /Server/.test(type));
    });
    expect(servers).toEqual([]);
});

test("the seams are out of the way after a run", async () => {
    const get = WeakMap.prototype.get;
    await newStack().up(() => void new Thing(new Echo(), "a"));
    expect(WeakMap.prototype.get).toBe(get);
    expect((globalThis as Props).stackResource).toBeUndefined();
});

test("mocks still work after a run", async () => {
    await newStack().up(() => void new Thing(new Echo(), "a"));
    await pulumi.runtime.setMocks({
        newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
        call: ({ inputs }) => inputs,
    });
    const provider = { create: async () => ({ id: "never", outs: {} }) };
    const thing = new Thing(provider, "mocked", { n: 1 });
    expect(await new Promise((resolve) => thing.id.apply(resolve))).toBe("mocked-id");
});

test("another stacks failure is its own", async () => {
    const boom = new Error("boom");
    const good = newStack({ stack: "good" });
    const results = await Promise.all([
        good.up(async () => {
            await new Promise((resolve) => setTimeout(resolve, 30));
            new Thing(new Echo(), "a");
        }),
        failureOf(newStack({ stack: "bad" }).up(() => void new Thing({ create: () => Promise.reject(boom) }, "a"))),
    ]);
    expect(results[0].outcome).toBe("succeeded");
    expect(results[1]).toBe(boom);
    expect(Object.keys(good.resources())).toEqual(["a"]);
});

test("provider objects are let go after a run", async () => {
    let lost = false;
    const registry = new FinalizationRegistry(() => {
        lost = true;
    });
    const stack = newStack();
    await stack.up(() => {
        const provider = { create: async () => ({ id: "made", outs: {} }) };
        registry.register(provider, "provider");
        new Thing(provider, "a");
    });
    const { setFlagsFromString } = await import("node:v8");
    const { runInNewContext } = await import("node:vm");
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    for (let round = 0; round < 20 && !lost; round++) {
        await new Promise((resolve) => setImmediate(resolve));
        collect();
    }
    expect(lost).toBe(true);
});
