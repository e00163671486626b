import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { Echo, newStack, type Props, Recording, Thing } from "../support/kit";

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

test("create update and delete get what they always got", async () => {
    const stack = newStack();
    const provider = new Recording();
    await stack.up(() => void new Thing(provider, "a", { n: 1 }));
    await stack.up(() => void new Thing(provider, "a", { n: 2 }));
    await stack.destroy(() => void new Thing(provider, "a", { n: 2 }));
    expect(provider.calls).toEqual([
        ["check", {}, { n: 1 }],
        ["create", { n: 1 }],
        ["check", { n: 1 }, { n: 2 }],
        ["diff", "made", { n: 1 }, { n: 2 }],
        ["update", "made", { n: 1 }, { n: 2 }],
        ["delete", "made", { n: 2 }],
    ]);
});

test("unknown values reach check as the SDK has them", async () => {
    const provider = new Recording();
    await newStack().preview(() => {
        const first = new Thing(new Echo(), "first", {}, {}, ["out"]);
        new Thing(provider, "second", { from: first.out });
    });
    expect(provider.calls).toEqual([["check", {}, { from: UNKNOWN }]]);
});

test("every call gets property bags of its own", async () => {
    const seen: Props[] = [];
    const provider = {
        async check(_olds: Props, news: Props) {
            news.list.push("checked");
            return { inputs: { ...news, list: [1] } };
        },
        async create(inputs: Props) {
            seen.push(structuredClone(inputs));
            inputs.list.push("created");
            return { id: "made", outs: { list: [1] } };
        },
    };
    await newStack().up(() => void new Thing(provider, "a", { list: [1] }));
    expect(seen).toEqual([{ list: [1] }]);
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("synchronous and asynchronous methods work alike", async () => {
    const stack = newStack();
    const provider = {
        check: (_olds: Props, news: Props) => ({ inputs: news }),
        create: (inputs: Props) => ({ id: "sync", outs: inputs }),
        delete: () => {},
    };
    await stack.up(() => void new Thing(provider, "a", { n: 1 }));
    expect(stack.resources().a).toMatchObject({ id: "sync", outputs: { n: 1 } });
    await stack.destroy(() => void new Thing(provider, "a", { n: 1 }));
});

test("config stack name and log work inside methods", async () => {
    const provider = {
        async create() {
            await pulumi.log.info("from inside");
            return { id: `${pulumi.getStack()}-${new pulumi.Config().require("key")}`, outs: {} };
        },
    };
    const stack = newStack({ config: { "project:key": "value" } });
    const summary = await stack.up(() => void new Thing(provider, "a"));
    expect(stack.resources().a?.id).toBe("dev-value");
    const message = summary.diagnostics.find(({ message }) => message === "from inside");
    expect(message?.urn).toMatch(/::a$/);
});

test("methods that a provider lacks are answered as the dynamic server does", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Echo(), "a", { n: 1 }));
    const changed = await stack.up(() => void new Thing(new Echo(), "a", { n: 2 }));
    expect(changed.changes).toMatchObject({ update: 1 });
    expect(stack.resources().a).toMatchObject({ inputs: { n: 2 } });
    expect(Object.keys(stack.resources().a?.outputs ?? {})).not.toContain("n");
    await stack.destroy(() => void new Thing(new Echo(), "a", { n: 2 }));
    expect(stack.resources()).toEqual({});
});

test("diff answers all four things", async () => {
    const stack = newStack();
    const calls: string[] = [];
    const provider = {
        create: async (inputs: Props) => {
            calls.push("create");
            return { id: `id-${inputs.n}`, outs: inputs };
        },
        delete: async (id: string) => void calls.push(`delete ${id}`),
        diff: async () => ({ changes: true, replaces: ["n"], stables: ["x"], deleteBeforeReplace: true }),
    };
    await stack.up(() => void new Thing(provider, "a", { n: 1 }));
    const summary = await stack.up(() => void new Thing(provider, "a", { n: 2 }));
    expect(calls).toEqual(["create", "delete id-1", "create"]);
    expect(summary.changes).toMatchObject({ replace: 1 });
});

test("refresh stores what read says", async () => {
    const stack = newStack();
    const provider = { ...literal(), read: async (id: string) => ({ id, props: { n: 5 } }) };
    await stack.up(() => void new Thing(provider, "a", { n: 1 }));
    await stack.refresh(() => void new Thing(provider, "a", { n: 1 }));
    expect(stack.resources().a?.outputs).toMatchObject({ n: 5 });
});

test("refresh forgets what read does not find", async () => {
    const stack = newStack();
    const provider = { ...literal(), read: async () => ({ id: "", props: {} }) };
    await stack.up(() => void new Thing(provider, "a", { n: 1 }));
    await stack.refresh(() => void new Thing(provider, "a", { n: 1 }));
    expect(stack.resources()).toEqual({});
});

function literal() {
    return { create: async (inputs: Props) => ({ id: "made", outs: inputs }) };
}

test("an update without outputs is allowed", async () => {
    const stack = newStack();
    const provider = { ...literal(), update: async () => undefined };
    await stack.up(() => void new Thing(provider, "a", { n: 1 }));
    const summary = await stack.up(() => void new Thing(provider, "a", { n: 2 }));
    expect(summary.changes).toMatchObject({ update: 1 });
});
