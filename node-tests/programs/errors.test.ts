import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { Echo, failureOf, newStack, Thing } from "../support/kit";

test("an error of a provider is raised as the same object", async () => {
    const boom = new TypeError("boom");
    const provider = {
        create: () => {
            throw boom;
        },
    };
    expect(await failureOf(newStack().up(() => void new Thing(provider, "a")))).toBe(boom);
    const rejecting = { create: () => Promise.reject(boom) };
    expect(await failureOf(newStack().up(() => void new Thing(rejecting, "a")))).toBe(boom);
});

test("the message names the resource and shows the users frames only", async () => {
    class Failing {
        async create() {
            throw new Error("no such host");
        }
    }
    const result = await newStack().run("update", () => void new Thing(new Failing(), "a"));
    const error = result.diagnostics.find(({ severity }) => severity === "error");
    expect(error?.urn).toMatch(/::a$/);
    expect(error?.message).toContain("no such host");
    expect(error?.message).toContain("errors.test.ts");
    expect(error?.message).not.toMatch(/maloko.dist|node:internal/);
    expect(error?.message.match(/no such host/g)).toHaveLength(1);
});

test.each([
    ["text"],
    [undefined],
    [null],
    [42],
    [{ code: 7 }],
    [Object.create(null)],
])("no exception of a provider hangs or ends the process: %s", async (thrown) => {
    const provider = {
        create: async () => {
            throw thrown;
        },
    };
    const result = await newStack().run("update", () => void new Thing(provider, "a"));
    expect(result.outcome).toBe("failed");
    expect(result.thrown).toEqual({ value: thrown });
});

test("an error of the program is raised as the same object", async () => {
    const boom = new Error("boom");
    const raising = () => {
        throw boom;
    };
    expect(await failureOf(newStack().up(raising))).toBe(boom);
    expect(await failureOf(newStack().up(async () => raising()))).toBe(boom);
});

test("an error in an apply fails the program", async () => {
    const boom = new Error("in apply");
    const program = () => {
        new Thing(new Echo(), "a", { n: 1 }).n.apply(() => {
            throw boom;
        });
    };
    expect(await failureOf(newStack().up(program))).toBe(boom);
});

test("an asynchronous program that raises fails", async () => {
    const boom = new Error("async");
    const program = async () => {
        await Promise.resolve();
        throw boom;
    };
    expect(await failureOf(newStack().up(program))).toBe(boom);
});

test("a run error is shown without a stack", async () => {
    const result = await newStack().run("update", () => {
        throw new pulumi.RunError("please set the region");
    });
    const messages = result.diagnostics.map(({ message }) => message).join("\n");
    expect(messages).toContain("please set the region");
    expect(messages).not.toContain("    at ");
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("a failing component child leaves no unhandled rejection", async () => {
    class Component extends pulumi.ComponentResource {
        constructor(name: string, provider: object) {
            super("test:index:Component", name);
            const child = new Thing(provider, `${name}-child`, {}, { parent: this }, ["out"]);
            this.registerOutputs({ out: child.out });
        }
    }
    const boom = new Error("boom");
    const provider = { create: () => Promise.reject(boom) };
    // vitest fails a run with unhandled rejections.
    expect(await failureOf(newStack().up(() => void new Component("c", provider)))).toBe(boom);
});

const REFUSED = new Error("connect ECONNREFUSED 127.0.0.1:1");
const CHAINED: [name: string, error: Error, said: string][] = [
    [
        "a cause",
        new TypeError("fetch failed", { cause: REFUSED }),
        "TypeError: fetch failed (caused by Error: connect ECONNREFUSED 127.0.0.1:1)",
    ],
    [
        "the cause of a cause",
        new Error("outer", { cause: new Error("middle", { cause: REFUSED }) }),
        "Error: outer (caused by Error: middle; Error: connect ECONNREFUSED 127.0.0.1:1)",
    ],
    [
        "a group",
        new AggregateError([new Error("one"), new Error("two")], "several"),
        "AggregateError: several (caused by Error: one; Error: two)",
    ],
    [
        "a large group",
        new AggregateError(
            ["one", "two", "three", "four"].map((text) => new Error(text)),
            "several",
        ),
        "AggregateError: several (caused by Error: one; Error: two; Error: three)",
    ],
    ["a cause that is told", new Error(`no: ${REFUSED.message}`, { cause: REFUSED }), `Error: no: ${REFUSED.message}`],
];

test.each(CHAINED)("the first line of an error tells what caused it: %s", async (_name, error, said) => {
    const provider = {
        create: async () => {
            throw error;
        },
    };
    const result = await newStack().run("update", () => void new Thing(provider, "a"));
    const shown = result.diagnostics.find(({ severity, urn }) => severity === "error" && urn?.endsWith("::a"));
    expect(shown?.message.split("\n")[0]).toBe(said);
    expect(result.thrown).toEqual({ value: error });
});

// After the end of the program.
