// Tests that fail, each for a reason that its runner has to report: for kit_misuse.test.ts. With the kit of either runner.
const pulumi = require("@pulumi/pulumi");

class Thing extends pulumi.dynamic.Resource {}

class Cloud {
    things = new Map();

    objects() {
        return this.things;
    }
}

class Provider {
    constructor(things = new Map()) {
        this.things = things;
    }

    async create(inputs) {
        this.things.set("made", inputs);
        return { id: "made", outs: inputs };
    }
}

class Stubborn extends Provider {
    async delete() {
        throw new Error("the bucket is not empty");
    }
}

const never = () => new Promise(() => {});
const program = () => void new Thing(new Provider(), "b", { n: 1 });

module.exports = ({ test: base, expect }) => {
    const test = base.extend({ world: async ({}, use) => use(new Cloud()) });
    let kept;

    test("an operation is not awaited", async ({ stack }) => {
        stack(program).up();
    });

    test("an operation begins while another goes on", async ({ stack }) => {
        const s = stack(program);
        s.up();
        await s.preview();
    });

    test("a promise is compared with a plan", async ({ stack }) => {
        expect(stack(program).preview()).toPlan({ b: "create" });
    });

    test("something else is compared with a plan", async () => {
        expect(undefined).toPlan({});
    });

    test("a plan is not as expected", async ({ stack }) => {
        const s = stack((names) => {
            for (const [name, n] of Object.entries(names)) {
                new Thing(new Provider(), name, { n });
            }
        });
        s.set({ a: 1, b: 1, c: 1 });
        await s.up();
        s.set({ a: 2, b: 2 });
        expect(await s.preview()).toPlan({ a: "replace", c: "delete" });
    });

    test("a provider has no create", async ({ stack }) => {
        await stack(() => void new Thing({ read() {} }, "b", {})).up();
    });

    test("what is under test is no program", async ({ stack }) => {
        stack("program");
    });

    test("a program never ends", async ({ stack }) => {
        await stack(never, { quiet: 200 }).up();
    });

    test("an input never comes", async ({ stack }) => {
        await stack(() => void new Thing(new Provider(), "b", { n: never() }), { quiet: 200 }).up();
    });

    test("a call never ends", async ({ stack }) => {
        await stack(() => void new Thing({ create: never }, "b", {})).up();
    }, 3000);

    test("a stack is kept", async ({ stack }) => {
        kept = stack(program);
    });

    test("a stack is used after its test", async () => {
        await kept.preview();
    });

    test("a failure is not expected", async ({ stack }) => {
        await stack(() => void new Thing({ create: () => Promise.reject(new Error("quota")) }, "b", {})).up();
    });

    test("an object is left in the world", async ({ stack, world }) => {
        await stack(() => void new Thing(new Provider(world.things), "b", {})).up();
    });

    test("a resource cannot be deleted", async ({ stack }) => {
        await stack(() => void new Thing(new Stubborn(), "b", {})).up();
    });
};
