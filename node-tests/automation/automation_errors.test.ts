// What fails an operation of the automation API, and what ends it.
import * as officialErrors from "@pulumi/pulumi/automation/errors";
import {
    CommandError,
    ConcurrentUpdateError,
    fullyQualifiedStackName,
    LocalWorkspace,
    RemoteWorkspace,
    Stack,
    UnsupportedError,
} from "maloko/automation";
import { expect, test } from "vitest";
import { echo, newStack, placed, runScript as run } from "../support/automation-kit";
import { Echo, failureOf, heldCreate, type Props, Thing } from "../support/kit";
import { byDay } from "../support/night";

test("what a listener throws comes after the end", async () => {
    const boom = new Error("boom");
    const stack = await newStack(echo);
    const onOutput = () => {
        throw boom;
    };
    expect(await failureOf(stack.up({ onOutput }))).toBe(boom);
    expect((await stack.up()).summary.resourceChanges).toEqual({ same: 2 });
});

class QuotaExceeded extends Error {}

test("the error of a provider is the cause", async () => {
    const boom = new QuotaExceeded("too many");
    const stack = await newStack(async () => void new Thing({ create: () => Promise.reject(boom) }, "a"));
    const error = await failureOf(stack.up());
    expect(error).toBeInstanceOf(CommandError);
    expect(error).toBeInstanceOf(officialErrors.CommandError);
    const { cause, urn, method, code, stdout } = error as CommandError;
    expect(cause).toBe(boom);
    expect([urn, method, code]).toEqual(["urn:pulumi:dev::project::pulumi-nodejs:dynamic:Resource::a", "create", 1]);
    expect(stdout).toContain("QuotaExceeded: too many");
    expect(error.message).toContain("QuotaExceeded: too many");
    expect((await stack.info())?.result).toBe("failed");
});

test("the error of a program is the cause", async () => {
    const boom = new QuotaExceeded("too many");
    const stack = await newStack(async () => {
        throw boom;
    });
    const error = (await failureOf(stack.preview())) as CommandError;
    expect(error.cause).toBe(boom);
    expect([error.urn, error.method]).toEqual([undefined, undefined]);
    expect(error.stdout).toContain("QuotaExceeded: too many");
});

// In Node alone: Python's SDK waits for all that its program has begun, also where that never comes
test("a program that fails while a resource waits for what never comes ends", async () => {
    const boom = new Error("boom");
    const stack = await newStack(async () => {
        new Thing(new Echo(), "a", { n: new Promise<number>(() => {}) });
        throw boom;
    });
    expect(((await failureOf(stack.up())) as CommandError).cause).toBe(boom);
});

test("a stack without resources is destroyed and refreshed without its program", async () => {
    let runs = 0;
    const stack = await newStack(async () => {
        runs += 1;
        throw new Error("there is nothing to read");
    });
    for (const { stdout } of [await stack.destroy(), await stack.refresh()]) {
        expect(stdout).not.toContain("there is nothing to read");
    }
    expect(runs).toBe(0);
});

test("an error that nobody catches fails its own run only", async () => {
    const boom = new Error("boom");
    const bad = await newStack(async () => {
        const thing = new Thing(new Echo(), "a", { n: 1 });
        thing.n.apply(() => {
            throw boom;
        });
    });
    const good = await newStack(echo);
    const [failed, done] = await Promise.all([failureOf(bad.up()), good.up()]);
    expect((failed as CommandError).cause).toBe(boom);
    expect(done.summary.result).toBe("succeeded");
});

test("a program that ends the process fails its own run only", async () => {
    const stack = await newStack(async () => process.exit(3));
    expect((await failureOf(stack.up())).message).toContain("the program ended with process.exit(3)");
});

test("changes that nobody expects are an error", async () => {
    const stack = await newStack(echo);
    const error = (await failureOf(stack.preview({ expectNoChanges: true }))) as CommandError;
    expect([error.name, error.code]).toEqual(["CommandError", 7]);
    await stack.up();
    expect((await stack.up({ expectNoChanges: true })).summary.resourceChanges).toEqual({ same: 2 });
});

test("a signal ends an operation gracefully", async () => {
    const stop = new AbortController();
    const made: string[] = [];
    const provider = {
        create: async (inputs: Props) => {
            made.push(inputs.name);
            stop.abort();
            return { id: "made", outs: inputs };
        },
    };
    const stack = await newStack(async () => {
        const first = new Thing(provider, "a", { name: "a" });
        new Thing(provider, "b", { name: first.name.apply(() => "b") });
    });
    const error = (await failureOf(stack.up({ signal: stop.signal }))) as CommandError;
    expect([error.name, error.code, error.cause]).toEqual(["CommandError", 8, stop.signal.reason]);
    expect(made).toEqual(["a"]);
    const { deployment } = await stack.exportStack();
    expect(deployment.resources.map(({ urn }: { urn: string }) => urn.split("::").at(-1))).toContain("a");
    expect((await failureOf(stack.up({ signal: stop.signal }))) instanceof CommandError).toBe(true);
});

test("cancel ends what this process does to the stack", async () => {
    const options = placed();
    let other: Stack | undefined;
    const provider = {
        create: async (inputs: Props) => {
            await other?.cancel();
            return { id: "made", outs: inputs };
        },
    };
    const program = async () => {
        const first = new Thing(provider, "a", { text: "1" });
        new Thing(provider, "b", { text: first.text });
    };
    const stack = await newStack(program, options);
    other = await Stack.select("dev", await LocalWorkspace.create(options));
    expect(((await failureOf(stack.up())) as CommandError).code).toBe(8);
    const { deployment } = await stack.exportStack();
    const names = deployment.resources.map(({ urn }: { urn: string }) => urn.split("::").at(-1));
    // What was in flight is recorded.
    expect([names.includes("a"), names.includes("b")]).toEqual([true, false]);
    await stack.cancel();
});

test("a stack that is worked on is refused to others", async () => {
    const options = placed();
    const { provider, begun, letGo } = heldCreate();
    const stack = await newStack(async () => void new Thing(provider, "a"), options);
    const first = stack.up();
    await begun;
    const error = await failureOf(stack.up());
    expect(error).toBeInstanceOf(ConcurrentUpdateError);
    expect((error as ConcurrentUpdateError).code).toBe(10);
    // It waits for the first one, which ends when that is told.
    const onError = (text: string) => text.includes("waiting for 240 s at most") && letGo();
    const second = await stack.up({ lockTimeout: "4m", onError });
    expect([(await first).summary.result, second.summary.result]).toEqual(["succeeded", "succeeded"]);
});

test("what only pulumi cloud can do is an error of its own", async () => {
    const stack = await newStack(echo);
    for (const asked of [
        () => stack.addEnvironments("prod"),
        () => stack.listEnvironments(),
        () => stack.orgGetDefault(),
        () => RemoteWorkspace.selectStack({ stackName: "dev" }),
    ]) {
        expect(await failureOf(asked())).toBeInstanceOf(UnsupportedError);
    }
    await expect(stack.up({ policyPacks: ["nowhere"] })).rejects.toThrow(/nowhere has no PulumiPolicy.yaml/);
    const warnings: string[] = [];
    const listen = (warning: Error) => warnings.push(warning.message);
    process.on("warning", listen);
    await stack.preview({ logVerbosity: 3 });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", listen);
    expect(warnings.join()).toContain("`logVerbosity` has no effect");
    expect(fullyQualifiedStackName("organization", "project", "dev")).toBe("organization/project/dev");
});

test("wrong arguments are told", async () => {
    await expect(LocalWorkspace.create({ workDir: "/does/not/exist" })).rejects.toThrow(
        "'/does/not/exist' does not exist",
    );
    await expect(LocalWorkspace.createStack({ stackName: "dev" } as never)).rejects.toThrow("not by { stackName }");
    const error = await failureOf(
        newStack(echo, placed({ projectSettings: { name: "bad name!", runtime: "nodejs" } })),
    );
    expect(error.message).toContain("Pulumi.yaml");
    const stack = await newStack(echo, placed());
    for (const wrong of ["bug", 3, undefined] as never[]) {
        const told = `the value of 'k' is ${JSON.stringify(wrong)}; it has to be { value, secret }`;
        await expect(stack.setConfig("k", wrong)).rejects.toThrow(told);
        await expect(stack.setAllConfig({ k: wrong })).rejects.toThrow(told);
    }
    await expect(stack.setConfig("k", { value: 3 as never })).rejects.toThrow(
        "the value of 'k' is { value: 3 }, which is no text",
    );
    expect(await stack.getAllConfig()).toEqual({});
    await expect(stack.up({ target: "urn:pulumi:one" as never })).rejects.toThrow(
        '`target` takes a list, not "urn:pulumi:one": write { target: ["urn:pulumi:one"] }',
    );
    await expect(
        LocalWorkspace.createStack({ stackName: "dev", projectName: "project", program: "index.ts" as never }),
    ).rejects.toThrow('`program` must be a function, and is "index.ts"');
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("an error in a timer of a program fails its own run only", () => {
    const { status, stdout, stderr } = run(`
        const bad = up(async () => {
            setTimeout(() => { throw new RangeError("late"); }, 10);
            await sleep(200);
            new Thing("a");
        }, "bad");
        const good = up(async () => { await sleep(300); new Thing("a"); }, "good");
        console.log(await bad, await good);`);
    expect([status, stdout, stderr]).toEqual([0, "CommandError: RangeError: late succeeded\n", ""]);
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("an error of nobodys run ends the process as ever", () => {
    const ways = [
        "setTimeout(() => { throw new RangeError('mine'); }, 100)",
        "void sleep(100).then(() => { throw new RangeError('mine'); })",
    ];
    for (const thrown of byDay(ways, (_way, place) => place === 0)) {
        const { status, stderr } = run(`
            ${thrown};
            console.log(await up(async () => { await sleep(5000); }));`);
        expect([status, stderr]).toEqual([1, expect.stringContaining("RangeError: mine")]);
    }
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("a listener for uncaught errors is the callers own", () => {
    const { status, stdout } = run(`
        process.on("uncaughtException", (error) => console.log("heard", error.message));
        setTimeout(() => { throw new RangeError("mine"); }, 50);
        console.log(await up(async () => { await sleep(200); new Thing("a"); }));
        console.log(process.listenerCount("uncaughtException"), process.listenerCount("unhandledRejection"));`);
    expect([status, stdout]).toEqual([0, "heard mine\nsucceeded\n1 0\n"]);
});

test("an inline program that ends the process well has registered all that it wants", async () => {
    const stack = await newStack(async () => {
        new Thing(new Echo(), "a", {});
        process.exit(0);
    });
    expect((await stack.up()).summary.resourceChanges).toEqual({ create: 2 });
});
