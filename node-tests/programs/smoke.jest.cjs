// All in Node alone: the same package in jest, as far as it could differ
// The same engine under jest, whose tests run in a realm of their own.
const { expect, test } = require("maloko/jest");
const pulumi = require("@pulumi/pulumi");

class Thing extends pulumi.dynamic.Resource {}

test("a provider is called live, and what it makes is kept", async ({ stack }) => {
    const create = jest.fn(async (inputs) => ({ id: "made", outs: { ...inputs, list: [1, { a: null }] } }));
    const s = stack(() => void new Thing({ create }, "a", { n: 1 }));
    const { plan } = await s.up();
    expect(plan).toPlan({ a: "create" });
    expect(create).toHaveBeenCalledWith({ n: 1 });
    expect(s.outputs("a")).toMatchObject({ n: 1, list: [1, { a: null }] });
});

test("a failure is the very error object, and no test is failed by a stray rejection", async ({ stack }) => {
    const boom = new Error("boom");
    const s = stack(() => void new Thing({ create: () => Promise.reject(boom) }, "a", {}));
    await expect(s.up()).rejects.toBe(boom);
});
