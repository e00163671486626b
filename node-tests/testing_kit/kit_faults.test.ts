// Failures that a test expects, and those that it makes: stubs, hanging calls, time.
import { direct, expect } from "maloko/vitest";
import { type Props, Thing } from "../support/kit";
import { BucketProvider, bucket, Cloud, test } from "./cloud";

const inputs = { name: "one" };

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("what is thrown need not be an error", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs });
    s.stub("create", { throws: "a text" });
    await expect(s.up()).toFail("b", { method: "create", match: "a text" });
});

test("a method is stubbed", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs });
    await s.up();
    s.set({ acl: "public" });
    {
        using stub = s.stub({ provider: BucketProvider, method: "diff" }, { returns: { changes: false } });
        expect(await s.preview()).toPlan({});
        expect(stub.count).toBe(1);
    }
    expect(await s.preview()).toPlan({ b: "update" });
    s.stub("delete", { calls: (id: string) => world.things.delete(id), after: true });
    await s.destroy();
    expect(s.calls.delete.b?.faulted).toBe(true);
});

test("a fault strikes one resource and one call", async ({ stack, world }) => {
    const s = stack((names: Props) => {
        for (const name of names.all) {
            new Thing(new BucketProvider(world), name, { name });
        }
    });
    s.set({ all: ["a", "b"] });
    const first = s.stub({ resource: "a*", method: "create", nth: 1 }, { throws: new Error("once") });
    await expect(s.up({ continueOnError: true })).toFail("a", { method: "create" });
    expect(world.things.size).toBe(1);
    await s.up();
    expect(first.count).toBe(1);
    expect(world.things.size).toBe(2);
});

test("a fault after the call loses its answer", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs });
    await s.up();
    s.set({ acl: "public" });
    const stub = s.stub("update", { throws: new Error("connection reset"), after: true });
    await expect(s.up()).toFail("b", { method: "update" });
    expect(world.things.get("bucket-1")).toMatchObject({ acl: "public" });
    stub.restore();
    await s.up();
    expect(s.outputs("b").acl).toBe("public");
});

const within = (world: Cloud, create: string, provider = BucketProvider) => {
    return () => void new Thing(new provider(world), "b", inputs, { customTimeouts: { create } });
};

test("a call that hangs is given up by its time limit", async ({ stack, world }) => {
    const s = stack(within(world, "10m"));
    s.stub("create", { hangs: true });
    await expect(s.up()).toFail("b", { method: "create", match: "took longer than the 600s" });
});

test("a call that hangs without a limit ends with the run", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs });
    s.stub("create", { hangs: true });
    await expect(s.up()).toFail("b", { method: "create" });
    expect(s.calls.create.b?.error).toContain("hung until it was given up");
});

test("a delay passes on the stack's clock", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs, settle: false });
    s.stub("create", { delay: 3600 });
    expect((await s.up()).seconds).toBe(3600);
});

test("time that a method lets pass ends it", async ({ stack, world }) => {
    let advance = (): void => {};
    class Slow extends BucketProvider {
        override async create(given: Props) {
            advance();
            return super.create(given);
        }
    }
    const s = stack(within(world, "1m", Slow));
    advance = () => s.clock.advance({ minutes: 2 });
    await expect(s.up()).toFail("b", { match: "took longer than the 60s" });
    s.leave("the bucket of the call that was given up belongs to nobody");
});

test("a fault that makes no sense is refused", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs });
    expect(() => s.stub("create", {})).toThrow("a stub does exactly one thing");
    expect(() => s.stub("create", { returns: 1, hangs: true })).toThrow("but was given returns and hangs");
    expect(() => s.stub("make", { hangs: true })).toThrow("'make' is no method of a provider: there are configure");
    expect(() => s.stub({ nth: 0 }, { hangs: true })).toThrow("nth is 0; the first call is `nth: 1`");
});

test("a provider is called without an engine", async () => {
    const cloud = new Cloud();
    const provider = direct(new BucketProvider(cloud));
    const { id, outs } = await provider.create({ name: "one", tags: undefined });
    expect(outs).toEqual({ name: "one" });
    expect(await provider.diff(id, outs, { name: "two" })).toMatchObject({ changes: true, replaces: ["name"] });
    expect(await provider.check({}, { name: "one" })).toEqual({ inputs: { name: "one" }, failures: [] });
    expect((await provider.update(id, outs, { name: "one", acl: "x" })).outs).toEqual({ name: "one", acl: "x" });
    expect((await provider.read(id)).props).toEqual({ name: "one", acl: "x" });
    await provider.delete(id);
    expect((await provider.read(id)).id).toBe("");
});

test("a result that cannot be used is refused", async () => {
    const returning = (outs: unknown) => direct({ create: () => ({ id: "x", outs }) }).create({});
    await expect(returning({ at: new Date(0) })).rejects.toThrow("outs.at is a Date: return text");
    await expect(direct({ create: () => ({ outs: {} }) }).create({})).rejects.toThrow("has no id");
    await expect(direct({ create: () => ({ id: "x" }) }).create({ f: () => {} })).rejects.toThrow("inputs.f");
    await expect(direct({ read: () => undefined }).create({})).rejects.toThrow("every provider needs one");
});

test("what a method throws without an engine is the very object", async () => {
    const quota = new Error("quota");
    await expect(direct({ create: () => Promise.reject(quota) }).create({})).rejects.toBe(quota);
});

test("types are those that the engine hands over", async () => {
    const seen: unknown[] = [];
    class Configured {
        configure(request: { config: { get(key: string): unknown; require(key: string): unknown } }) {
            seen.push(request.config.require("token"), request.config.get("aws:region"));
        }

        create() {
            return { id: "x", outs: {} };
        }
    }
    await direct(Configured).configure({ token: "t", "aws:region": "eu" });
    expect(seen).toEqual(["t", "eu"]);
});
