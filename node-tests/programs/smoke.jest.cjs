// All in Node alone: the same package in jest, as far as it could differ
// The same engine under jest, whose tests run in a realm of their own.
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { EmbeddedStack } = require("maloko/embedded");
const pulumi = require("@pulumi/pulumi");

const directory = mkdtempSync(join(tmpdir(), "maloko-jest-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

class Thing extends pulumi.dynamic.Resource {}

test("a provider is called live, and what it makes is kept", async () => {
    const create = jest.fn(async (inputs) => ({ id: "made", outs: { ...inputs, list: [1, { a: null }] } }));
    const stack = new EmbeddedStack({ directory });
    const summary = await stack.up(() => void new Thing({ create }, "a", { n: 1 }));
    expect(summary.changes).toEqual({ create: 2 });
    expect(create).toHaveBeenCalledWith({ n: 1 });
    expect(stack.resources().a.outputs).toMatchObject({ n: 1, list: [1, { a: null }] });
});

test("a failure is the very error object, and no test is failed by a stray rejection", async () => {
    const boom = new Error("boom");
    const stack = new EmbeddedStack({ directory, stack: "failing" });
    await expect(stack.up(() => void new Thing({ create: () => Promise.reject(boom) }, "a", {}))).rejects.toBe(boom);
});
