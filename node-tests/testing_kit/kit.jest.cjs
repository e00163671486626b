// The testing kit under jest, whose tests run in a realm of their own.
const pulumi = require("@pulumi/pulumi");
const { ANY, capture, crashEverywhere, direct, expect, test: base } = require("maloko/jest");

class Cloud {
    things = new Map();

    objects() {
        return this.things;
    }
}

class Provider {
    constructor(cloud) {
        this.cloud = cloud;
    }

    async create(inputs) {
        const id = `made-${inputs.name}`;
        this.cloud.things.set(id, inputs);
        return { id, outs: { ...inputs, list: [1, { a: null }] } };
    }

    async update(id, _olds, news) {
        this.cloud.things.set(id, news);
        return { outs: news };
    }

    async delete(id) {
        this.cloud.things.delete(id);
    }
}

class Thing extends pulumi.dynamic.Resource {}

const test = base.extend({ world: async (_, use) => use(new Cloud()) });

// In Node alone: the same package in jest, as far as it could differ
test("a stack is planned, made, changed and removed", async ({ stack, world }) => {
    const s = stack(({ n }) => void new Thing(new Provider(world), "b", { name: "one", n }), { inputs: { n: 1 } });
    expect(await s.preview()).toPlan({ b: "create" });
    const { plan } = await s.up();
    expect(plan).toEqual({ b: expect.objectContaining({ action: "create", name: "b" }) });
    expect(await s.preview()).toPlan({});
    s.set({ n: 2 });
    expect(await s.preview()).toPlan({ b: { action: "update", changes: { n: { old: 1, new: 2 } } } });
    await s.up();
    expect(Array.isArray(s.calls.create.b.result.outs.list)).toBe(true);
    expect(s.calls.create.b.args).toEqual({ props: { name: "one", n: 1 } });
    expect(s.history("b").ids).toEqual(["made-one"]);
    const n = capture();
    expect(s.outputs("b")).toEqual(expect.objectContaining({ name: ANY, n }));
    expect(n.value).toBe(2);
    await s.destroy();
    expect(world.things.size).toBe(0);
});

// In Node alone: the same package in jest, as far as it could differ
test("a failure is the very error object, with its resource and method", async ({ stack, world }) => {
    const s = stack(() => void new Thing(new Provider(world), "b", { name: "one" }));
    const boom = new Error("quota exceeded");
    const stub = s.stub("create", { throws: boom });
    await expect(s.up()).rejects.toBe(boom);
    await expect(s.up()).toFail("b", { method: "create", match: /quota/ });
    expect(stub.count).toBe(2);
    stub.restore();
    await s.up();
});

test("a provider is called without an engine", async () => {
    const cloud = new Cloud();
    const created = await direct(new Provider(cloud)).create({ name: "x" });
    expect(created).toEqual({ id: "made-x", outs: { name: "x", list: [1, { a: null }] } });
});

crashEverywhere(
    ["kill", "raise_before"],
    async function recovers({ stack, world }) {
        const s = stack(() => void new Thing(new Provider(world), "b", { name: "one" }), { settle: false });
        await s.up();
        expect(world.things.size).toBe(1);
    },
    { world: Cloud },
);
