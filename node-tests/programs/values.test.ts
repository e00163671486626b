import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { expect, onTestFinished, test } from "vitest";
import { creating, Echo, failureOf, newStack, type Props, Thing } from "../support/kit";

const SIGNATURE = "4dabf18193072939515e22adb298388d";

/** What is in the state of a resource whose `create` returns these outputs. */
async function kept(outs: unknown): Promise<Props> {
    const stack = newStack();
    await stack.up(() => void new Thing(creating(outs), "a"));
    const { __provider, ...outputs } = (stack.resources().a?.outputs ?? {}) as Props;
    return outputs;
}

function refusal(outs: unknown): Promise<string> {
    return failureOf(newStack().up(() => void new Thing(creating(outs), "a"))).then(({ message }) => message);
}

test("plain data is kept as it is", async () => {
    const data = {
        text: "ž\u{1F40E}",
        n: 1.5,
        big: 2 ** 53,
        no: false,
        list: [1, [null, {}]],
        object: { "odd key": [] },
    };
    expect(await kept(data)).toEqual(data);
});

test("undefined members are left out", async () => {
    expect(await kept({ a: undefined, b: { c: undefined, d: null }, list: [undefined] })).toEqual({
        b: { d: null },
        list: [null],
    });
});

test("instances of classes count as their data", async () => {
    class Point {
        constructor(
            readonly x: number,
            readonly y: number,
        ) {}
    }
    expect(await kept({ point: new Point(1, 2) })).toEqual({ point: { x: 1, y: 2 } });
});

const cyclic: Props = { name: "loop" };
cyclic.nested = { back: cyclic };
let deep: Props = {};
for (let level = 0; level < 200; level++) {
    deep = { deep };
}

test.each([
    [Buffer.from("x"), "outs.value holds bytes"],
    [new Uint8Array(1), "outs.value holds bytes"],
    [1n, "outs.value is the bigint 1n"],
    [() => 1, "outs.value is a function"],
    [Symbol("s"), "outs.value is a symbol"],
    [new Map(), "outs.value is a Map"],
    [new Set(), "outs.value is a Set"],
    [new Date(0), "outs.value is a Date"],
    [Promise.resolve(1), "outs.value is a Promise"],
    [{ list: [0, { when: new Date(0) }] }, "outs.value.list[1].when is a Date"],
    [{ "odd key": 1n }, 'outs.value["odd key"] is the bigint'],
    ["\ud800", "outs.value holds half of a surrogate pair"],
])("what cannot be kept is refused with its place: %#", async (value, reason) => {
    const message = await refusal({ value });
    expect(message).toContain("`create` of");
    expect(message).toContain(reason);
});

test("NaN is kept with a warning", async () => {
    const stack = newStack();
    let summary = await stack.up(() => void new Thing(creating({ nan: Number.NaN, inf: -Infinity }), "a"));
    expect(summary.outcome).toBe("succeeded");
    const seen: Props[] = [];
    const diff = async (_id: string, olds: Props) => {
        seen.push(olds);
        return { changes: false };
    };
    const provider = { ...creating({}), diff };
    summary = await stack.up(() => void new Thing(provider, "a"));
    expect(seen).toEqual([{ nan: Number.NaN, inf: -Infinity }]);
});

test("the sign of a zero is kept", async () => {
    // toEqual tells -0 from 0.
    expect(await kept({ zero: -0, list: [-0, 0] })).toEqual({ zero: -0, list: [-0, 0] });
});

test.each([
    [undefined],
    [null],
    [""],
    [5],
    [{}],
    [new Uint8Array([255, 254])],
    ["\ud83d"],
])("a create without a usable id fails: %s", async (id) => {
    const stack = newStack();
    const error = await failureOf(stack.up(() => void new Thing(creating({}, id), "a")));
    expect(error.message).toMatch(/id/);
    expect(stack.resources()).toEqual({});
});

test("secret inputs are secret in the state", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Echo(), "a", { token: pulumi.secret("hush"), plain: "seen" }));
    const { inputs, outputs } = stack.resources().a ?? {};
    const secret = { [SIGNATURE]: "1b47061264138c4ac30d75fd1eb44270" };
    expect(inputs).toMatchObject({ plain: "seen", token: secret });
    expect(outputs).toMatchObject({ plain: "seen", token: secret });
});

test("outputs that the class does not declare are told once per class", async () => {
    const summary = await newStack().up(() => {
        new Thing(creating({ declared: 1, hidden: 2 }), "a", {}, {}, ["declared"]);
        new Thing(creating({ declared: 1, hidden: 2 }), "b", {}, {}, ["declared"]);
    });
    const warnings = summary.diagnostics.filter(({ message }) => message.includes("do not declare"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain("hidden");
    expect(warnings[0]?.message).toContain("pass it to super() as undefined");
});

test("each class is told of its own outputs", async () => {
    class Plain extends Thing {}
    class Telling extends Thing {}
    const summary = await newStack().up(() => {
        new Plain(creating({ n: 1 }), "plain", { n: 1 });
        new Telling(creating({ hidden: 1 }), "telling");
    });
    const told = summary.diagnostics.filter(({ message }) => message.includes("do not declare"));
    expect(told.map(({ message }) => message)).toEqual([expect.stringContaining("Telling (hidden)")]);
});

test("an asset with new content is a change and one with the same is none", async () => {
    const seen: boolean[] = [];
    const comparing = {
        create: async (props: Props) => ({ id: "x", outs: props }),
        diff: async (_id: string, olds: Props, news: Props) => {
            seen.push(olds.asset.hash === news.asset.hash);
            return {};
        },
        update: async (_id: string, _olds: Props, news: Props) => ({ outs: news }),
    };
    const stack = newStack();
    for (const [text, changes] of [
        ["one", "create"],
        ["one", "same"],
        ["two", "update"],
    ] as const) {
        const result = await stack.up(
            () => void new Thing(comparing, "a", { asset: new pulumi.asset.StringAsset(text) }),
        );
        expect(result.changes, changes).toHaveProperty(changes);
    }
    expect(seen).toEqual([true, false]);
});

test("an asset that cannot be read is an error that names resource and property", async () => {
    const gone = new pulumi.asset.FileAsset("gone.txt");
    const message = (await failureOf(newStack().up(() => void new Thing(new Echo(), "a", { in: [gone] })))).message;
    expect(message).toContain("'a': property 'in[0]': the file of an asset cannot be read: ");
    expect(message).toContain("gone.txt");
});

test.each([
    101, 1000,
])("inputs that are nested too deeply are errors that name resource and property %#", async (levels) => {
    let value: unknown = "x";
    for (let level = 0; level < levels; level++) {
        value = { deep: value };
    }
    const stack = newStack();
    const { message } = await failureOf(stack.up(() => void new Thing(new Echo(), "a", { flat: 1, v: value })));
    expect(message).toContain(
        "resource 'a': property 'v' is nested too deeply: values may hold 100 levels of objects and lists",
    );
    await stack.up(() => void new Thing(new Echo(), "a", { v: [[[{ a: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]] }]]] }));
});

test("inputs with values in values come back", async () => {
    for (const levels of [33, 60, 99]) {
        const stack = newStack();
        let [objects, lists]: unknown[] = ["x", "x"];
        for (let level = 0; level < levels; level++) {
            [objects, lists] = [{ deep: objects }, [lists]];
        }
        await stack.up(() => void new Thing(new Echo(), "a", { objects, lists }));
        expect(stack.resources().a?.outputs).toMatchObject({ objects, lists });
    }
});

const CIRCLE: Props = {};
CIRCLE.self = CIRCLE;

class Node {
    next: { next?: Node } = {};

    constructor() {
        this.next.next = this;
    }
}

test.each([
    [() => ({ list: [1, CIRCLE] }), "v.list[1].self"],
    [() => [CIRCLE], "v[0].self"],
    [() => pulumi.output(1).apply(() => ({ in: CIRCLE })), "v.in.self"],
    [() => ({ later: Promise.resolve([CIRCLE]) }), "v.later[0].self"],
    [() => ({ node: new Node() }), "v.node.next.next"],
] as const)("inputs that contain themselves are errors that name resource and property %#", async (make, path) => {
    const shared = { twice: [1] };
    const stack = newStack();
    await stack.up(() => void new Thing(new Echo(), "b", { v: [shared, shared, { again: shared }] }));
    const { message } = await failureOf(stack.up(() => void new Thing(new Echo(), "a", { flat: 1, v: make() })));
    expect(message).toContain(`resource 'a': property '${path}' contains itself: a value has to end somewhere`);
});

test("outputs that lead to themselves are errors that name resource and property", async () => {
    const value: Props = {};
    value.self = pulumi.output(1).apply(() => value);
    const { message } = await failureOf(newStack().up(() => void new Thing(new Echo(), "a", { v: value })));
    expect(message).toMatch(/resource 'a': property 'v\.self.*' contains itself/);
});

test("inputs with half of a surrogate pair are errors that name resource and property", async () => {
    for (const wrap of [(it: unknown) => it, (it: unknown) => pulumi.output(1).apply(() => it)]) {
        const value = { in: ["ok", "\ud800"] };
        const made = newStack().up(() => void new Thing(new Echo(), "a", { flat: 1, v: wrap(value) }));
        expect((await failureOf(made)).message).toContain(
            "resource 'a': property 'v.in[1]' holds half of a surrogate pair",
        );
    }
});

test("a pipe in an asset or archive is refused", async () => {
    const directory = mkdtempSync(join(tmpdir(), "maloko-pipe-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    execFileSync("mkfifo", [join(directory, "pipe")]);
    const { FileAsset, FileArchive, AssetArchive } = pulumi.asset;
    const pipe = new FileAsset(join(directory, "pipe"));
    const inputs = [pipe, new FileArchive(directory), new AssetArchive({ a: pipe }), new FileAsset("/dev/zero")];
    for (const value of inputs) {
        const made = newStack().up(() => void new Thing(new Echo(), "a", { in: [value] }));
        const { message } = await failureOf(made);
        expect(message).toContain("'a': property 'in[0]");
        expect(message).toContain("it is a pipe, a socket or a device, and no file");
    }
});
