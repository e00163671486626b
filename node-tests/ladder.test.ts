import { createRequire } from "node:module";
import { registerProvider } from "maloko";
import { beforeEach, expect, test } from "vitest";
import { failureOf, newStack, Thing } from "./kit";

const require = createRequire(import.meta.url);
type Labelled = { new (label: string): object; built: number };
const { Shipped, Configured, Secretive, constant, deleted } = require("./sample-package/providers.cjs") as {
    Shipped: Labelled;
    Configured: Labelled;
    Secretive: new () => object;
    constant: object;
    deleted: unknown[][];
};

const nothing = () => {};

beforeEach(() => {
    deleted.length = 0;
    Shipped.built = 0;
});

class WithClient {
    readonly client = new Map();

    constructor(readonly label: string) {}

    async create() {
        return { id: "made", outs: {} };
    }

    async delete(id: string) {
        deleted.push([this.label, id]);
    }
}

test("the object registered for the resource serves it", async () => {
    const stack = newStack();
    const provider = new WithClient("live");
    await stack.up(() => void new Thing(provider, "a"));
    await stack.destroy(() => void new Thing(provider, "a"));
    expect(deleted).toEqual([["live", "made"]]);
});

test("an equal object of this run serves a resource that was removed", async () => {
    const stack = newStack();
    await stack.up(() => {
        new Thing(new Shipped("x"), "a");
        new Thing(new Shipped("x"), "b");
    });
    Shipped.built = 0;
    await stack.up(() => void new Thing(new Shipped("x"), "a"));
    expect(deleted).toEqual([["x", "x-1"]]);
    expect(Shipped.built).toBe(1);
});

test("an object registered by hand serves what cannot be rebuilt", async () => {
    const stack = newStack();
    class ByHand extends WithClient {}
    await stack.up(() => void new Thing(new ByHand("first"), "a"));
    registerProvider(ByHand, () => new ByHand("by hand"));
    await stack.up(nothing);
    expect(deleted).toEqual([["by hand", "made"]]);
});

test("an object is rebuilt from its reference without its constructor", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Shipped("again"), "a"));
    Shipped.built = 0;
    await stack.up(nothing);
    expect(deleted).toEqual([["again", "again-1"]]);
    expect(Shipped.built).toBe(0);
});

test("an object literal is found again as the constant that holds it", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(constant, "a"));
    await stack.up(nothing);
    expect(deleted).toEqual([["constant", "constant"]]);
});

test("a rebuilt object is configured before it is called", async () => {
    const stack = newStack({ config: { "project:token": "abc" } });
    await stack.up(() => void new Thing(new Configured("c"), "a"));
    deleted.length = 0;
    await stack.up(nothing);
    expect(deleted).toEqual([
        ["configure", "abc"],
        ["abc", "made"],
    ]);
});

test("an object with a client is an error that names the attribute", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new WithClient("first"), "a"));
    const error = await failureOf(stack.up(nothing));
    expect(error.message).toContain("WithClient");
    expect(error.message).toContain("registerProvider");
    expect(Object.keys(stack.resources())).toEqual(["a"]);
    expect(deleted).toEqual([]);
});

test("two objects of one class with clients of their own are never mixed up", async () => {
    const stack = newStack();
    await stack.up(() => {
        new Thing(new WithClient("one"), "a");
        new Thing(new WithClient("two"), "b");
    });
    const error = await failureOf(stack.up(() => void new Thing(new WithClient("one"), "a")));
    expect(error.message).toContain("::b");
    expect(deleted).toEqual([]);
    expect(Object.keys(stack.resources()).sort()).toEqual(["a", "b"]);
});

test("an object with private fields is an error that says so", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Secretive(), "a"));
    const result = await stack.run("update", nothing);
    expect(result.diagnostics.map(({ message }) => message).join()).toContain("private");
    expect(Object.keys(stack.resources())).toEqual(["a"]);
});

test("an orphan does not keep other resources from being deleted", async () => {
    const stack = newStack();
    await stack.up(() => {
        new Thing(new WithClient("lost"), "a");
        new Thing(new Shipped("kept"), "b");
    });
    const result = await stack.run("update", nothing);
    expect(result.outcome).toBe("failed");
    expect(deleted).toEqual([["kept", "kept-1"]]);
    expect(Object.keys(stack.resources())).toEqual(["a"]);
});
