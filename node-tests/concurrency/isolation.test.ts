import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as pulumi from "@pulumi/pulumi";
import { expect, onTestFinished, test } from "vitest";
import { Echo, failureOf, newStack, type Props, Thing } from "../support/kit";
import { atNight } from "../support/night";

const nightly = atNight(test);

test("stacks run side by side without mixing", async () => {
    const seen: Props = {};
    const names = ["one", "two", "three", "four", "five", "six"];
    const stacks = names.map((stack) => newStack({ stack, config: { "project:name": stack } }));
    await Promise.all(
        stacks.map((stack, index) =>
            stack.up(() => {
                const thing = new Thing(new Echo(), "a", { from: new pulumi.Config().require("name") });
                thing.from.apply((from: string) => {
                    seen[names[index] ?? ""] = [from, pulumi.getStack(), new pulumi.Config().require("name")];
                });
            }),
        ),
    );
    expect(seen).toEqual(Object.fromEntries(names.map((name) => [name, [name, name, name]])));
});

test("no socket listens during a run", async () => {
    let servers: string[] = ["not looked"];
    await newStack().up(async () => {
        const hook = { create: async (inputs: Props) => ({ id: "made", outs: inputs }) };
        const thing = new Thing(hook, "a", { n: 1 });
        await new Promise((resolve) => thing.n.apply(resolve));
        servers = process.getActiveResourcesInfo().filter((type) => /Server/.test(type));
    });
    expect(servers).toEqual([]);
});

test("the seams are out of the way after a run", async () => {
    const get = WeakMap.prototype.get;
    await newStack().up(() => void new Thing(new Echo(), "a"));
    expect(WeakMap.prototype.get).toBe(get);
    expect((globalThis as Props).stackResource).toBeUndefined();
});

test("mocks still work after a run", async () => {
    await newStack().up(() => void new Thing(new Echo(), "a"));
    await pulumi.runtime.setMocks({
        newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
        call: ({ inputs }) => inputs,
    });
    const provider = { create: async () => ({ id: "never", outs: {} }) };
    const thing = new Thing(provider, "mocked", { n: 1 });
    expect(await new Promise((resolve) => thing.id.apply(resolve))).toBe("mocked-id");
});

test("another stacks failure is its own", async () => {
    const boom = new Error("boom");
    const good = newStack({ stack: "good" });
    const failed = failureOf(
        newStack({ stack: "bad" }).up(() => void new Thing({ create: () => Promise.reject(boom) }, "a")),
    );
    const results = await Promise.all([
        good.up(async () => {
            await failed;
            new Thing(new Echo(), "a");
        }),
        failed,
    ]);
    expect(results[0].outcome).toBe("succeeded");
    expect(results[1]).toBe(boom);
    expect(Object.keys(good.resources())).toEqual(["a"]);
});

test("provider objects are let go after a run", async () => {
    let lost = false;
    const registry = new FinalizationRegistry(() => {
        lost = true;
    });
    const stack = newStack();
    await stack.up(() => {
        const provider = { create: async () => ({ id: "made", outs: {} }) };
        registry.register(provider, "provider");
        new Thing(provider, "a");
    });
    const { setFlagsFromString } = await import("node:v8");
    const { runInNewContext } = await import("node:vm");
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    // Nobody promises after how many collections it is told.
    for (let round = 0; round < 1000 && !lost; round++) {
        await new Promise((resolve) => setImmediate(resolve));
        collect();
    }
    expect(lost).toBe(true);
});

const BODY = `const pulumi = require("@pulumi/pulumi");
const provider = exports.provider = { create: async () => ({ id: "made", outs: {} }), delete: async () => {} };
new (class Net extends pulumi.dynamic.Resource { constructor() { super(provider, "net", {}); } })();`;

/** A file of its own beside the tests, so that it finds the SDK. */
function bodyFile(): string {
    const directory = mkdtempSync(join(__dirname, "body-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, "net.cjs");
    writeFileSync(file, BODY);
    return file;
}

test("what a module registered that does not run again is not deleted", async () => {
    const [stack, file, load] = [newStack(), bodyFile(), createRequire(import.meta.url)];
    const program = () => {
        load(file);
        new Thing(new Echo(), "app");
    };
    await stack.up(program);
    expect(Object.keys(stack.resources()).sort()).toEqual(["app", "net"]);
    const again = await stack.run("update", program);
    expect(again.outcome).toBe("failed");
    const errors = again.diagnostics.filter(({ severity, urn }) => severity === "error" && urn?.endsWith("::net"));
    expect(errors[0]?.message).toContain(`the body of ${file} registers it`);
    expect(errors[0]?.message).toContain("Nothing is deleted");
    expect(Object.keys(stack.resources()).sort()).toEqual(["app", "net"]);
    expect((await stack.run("update", program, { dryRun: true })).outcome).toBe("failed");
    delete load.cache[file];
    expect((await stack.up(program)).changes).toEqual({ same: 3 });
    // Without the module, the program no longer has the resource: it would be deleted, had it not taken its provider along.
    delete load.cache[file];
    const without = await stack.run("update", () => void new Thing(new Echo(), "app"));
    expect(without.diagnostics.map(({ message }) => message).join()).toContain("no provider object for");
    expect(without.diagnostics.map(({ message }) => message).join()).not.toContain("Nothing is deleted");
});

test("what a module registered that was collected as garbage holds nothing back", async () => {
    const [stack, file] = [newStack(), bodyFile()];
    await stack.up(() => {
        const load = createRequire(import.meta.url);
        load(file);
        delete load.cache[file];
    });
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    // What a weak reference was asked for in a turn of the loop stays until its end.
    await new Promise(setImmediate);
    collect();
    const without = await stack.run("update", () => void new Thing(new Echo(), "app"));
    expect(without.diagnostics.map(({ message }) => message).join()).not.toContain("Nothing is deleted");
});

test("a destroy deletes what a module registered too", async () => {
    const [stack, file, load] = [newStack(), bodyFile(), createRequire(import.meta.url)];
    const program = () => void load(file);
    await stack.up(program);
    await stack.destroy(program);
    expect(stack.resources()).toEqual({});
});

nightly("the native module outlives the thread that loaded it", async () => {
    // Allocators keep things per thread: the first one's must not be what the others lean on.
    const script = join(mkdtempSync(join(__dirname, "body-")), "workers.cjs");
    onTestFinished(() => rmSync(dirname(script), { recursive: true, force: true }));
    const file = join(__dirname, "..", "support", "sample-package", "worker.cjs");
    writeFileSync(
        script,
        `const { Worker } = require("node:worker_threads");
        const one = () => new Promise((resolve, reject) => {
            const worker = new Worker(${JSON.stringify(file)});
            worker.on("message", (ids) => console.log(ids.a)).on("error", reject).on("exit", resolve);
        });
        one().then(one).then(one);`,
    );
    expect(execFileSync(process.execPath, [script], { encoding: "utf8" })).toBe("from the worker\n".repeat(3));
});
