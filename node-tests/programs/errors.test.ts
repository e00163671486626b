import * as pulumi from "@pulumi/pulumi";
import { registerProvider } from "maloko";
import { expect, onTestFinished, test } from "vitest";
import { Echo, failureOf, newStack, type Props, Thing } from "../support/kit";
import { forgetProviders } from "../support/stacks";

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

test("what was made before the program failed is kept", async () => {
    const stack = newStack();
    await failureOf(
        stack.up(async () => {
            const made = new Thing(new Echo(), "a", { n: 1 });
            await new Promise((resolve) => made.n.apply(resolve));
            throw new Error("midway");
        }),
    );
    expect(Object.keys(stack.resources())).toEqual(["a"]);
});

test("a run error is shown without a stack", async () => {
    const result = await newStack().run("update", () => {
        throw new pulumi.RunError("please set the region");
    });
    const messages = result.diagnostics.map(({ message }) => message).join("\n");
    expect(messages).toContain("please set the region");
    expect(messages).not.toContain("    at ");
});

test("failures of check are all told", async () => {
    const provider = {
        check: async (_olds: Props, news: Props) => ({
            inputs: news,
            failures: [
                { property: "color", reason: "is no colour" },
                { property: "size", reason: "is too large" },
                { property: "", reason: "nothing fits" },
            ],
        }),
        create: async () => ({ id: "made", outs: {} }),
    };
    const result = await newStack().run("update", () => void new Thing(provider, "a", { color: "?" }));
    const errors = result.diagnostics.filter(({ severity, urn }) => severity === "error" && urn?.endsWith("::a"));
    expect(errors.map(({ message }) => message).join("\n")).toMatch(
        /color.*is no colour[\s\S]*size.*is too large[\s\S]*nothing fits/,
    );
});

test("a partial failure keeps the object", async () => {
    const stack = newStack();
    const provider = {
        create: async (inputs: Props) => {
            throw Object.assign(new Error("not ready"), { id: "half", properties: inputs, reasons: ["no capacity"] });
        },
    };
    const result = await stack.run("update", () => void new Thing(provider, "a", { n: 1 }));
    expect(result.outcome).toBe("failed");
    expect(result.diagnostics.map(({ message }) => message).join()).toContain("no capacity");
    expect(stack.resources().a).toMatchObject({ id: "half", outputs: { n: 1 } });
});

test("a failure does not stop what is in flight", async () => {
    const stack = newStack();
    let release = () => {};
    const started = new Promise<void>((resolve) => {
        release = resolve;
    });
    const slow = {
        create: async () => {
            release();
            await new Promise((resolve) => setTimeout(resolve, 50));
            return { id: "slow", outs: {} };
        },
    };
    const failing = {
        create: async () => {
            await started;
            throw new Error("boom");
        },
    };
    await failureOf(
        stack.up(() => {
            new Thing(slow, "slow");
            new Thing(failing, "failing");
        }),
    );
    expect(stack.resources().slow?.id).toBe("slow");
    expect(stack.resources().failing).toBeUndefined();
});

test("two resources with one URN are refused", async () => {
    const error = await failureOf(
        newStack().up(() => {
            new Thing(new Echo(), "twin");
            new Thing(new Echo(), "twin");
        }),
    );
    expect(error.message).toContain("Duplicate resource URN");
    expect(error.message).toContain("twin");
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

function latch(): { open: () => void; opened: Promise<void> } {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
        open = resolve;
    });
    return { open, opened };
}

const began = latch();
const late = latch();

/** Its deletion goes on until a resource is being registered that the program did not wait for. */
class Slow {
    async create(outs: Props) {
        return { id: "made", outs };
    }

    async delete() {
        began.open();
        await late.opened;
    }
}

test("a resource that is registered when deletions have begun is refused", async () => {
    onTestFinished(forgetProviders);
    registerProvider(Echo, () => new Echo());
    registerProvider(Slow, () => new Slow());
    const stack = newStack();
    await stack.up(() => {
        new Thing(new Echo(), "victim", { size: 1 });
        new Thing(new Slow(), "slow", { size: 1 });
    });
    const transforms = [
        () => {
            late.open();
            return undefined;
        },
    ];
    const result = await stack.run("update", () => {
        void began.opened.then(() => new Thing(new Echo(), "victim", { size: 1 }, { transforms }));
    });
    expect(result.outcome).toBe("failed");
    const errors = result.diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map(({ message }) => message).join()).toContain("it was registered after the program had ended");
    expect(result.steps).not.toContainEqual({ op: "same", urn: expect.stringMatching(/::victim$/) });
    expect(Object.keys(stack.resources())).not.toContain("victim");
    expect((await stack.up(() => {})).outcome).toBe("succeeded");
});
