import { AsyncLocalStorage } from "node:async_hooks";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import {
    type InlineProgramArgs,
    LocalWorkspace,
    type LocalWorkspaceOptions,
    type Stack,
    StackAlreadyExistsError,
} from "maloko/automation";
import { expect, onTestFinished, test } from "vitest";
import { newStack, placed } from "../support/automation-kit";
import { Echo, type Props, Thing } from "../support/kit";
import { atNight, NIGHT } from "../support/night";

const nightly = atNight(test);

type Made = [InlineProgramArgs, LocalWorkspaceOptions];

const HERE = dirname(fileURLToPath(import.meta.url));

/** A directory beside the tests, whose files find the packages. */
function besides(files: Record<string, string>): string {
    const made = mkdtempSync(join(HERE, "body-"));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(made, name)), { recursive: true });
        writeFileSync(join(made, name), text);
    }
    return made;
}

// By day six of them.
test("twenty stacks at once keep apart", async () => {
    const { envVars } = placed();
    const running = new Set<string>();
    let most = 0;
    let meet = () => {};
    const meeting = new Promise<void>((resolve) => {
        meet = resolve;
    });
    const names = Array.from({ length: NIGHT ? 20 : 6 }, (_, index) => `s${index}`);
    const provider = {
        create: async (inputs: Props) => {
            running.add(inputs.from);
            most = Math.max(most, running.size);
            if (most > 1) {
                meet();
            }
            // However slow the machine is, two meet.
            await meeting;
            running.delete(inputs.from);
            return { id: inputs.from, outs: inputs };
        },
    };
    const program = async () => {
        const thing = new Thing(provider, "a", { from: new pulumi.Config().require("name") });
        const seen = thing.from.apply((from: string) => [from, pulumi.getStack(), new pulumi.Config().require("name")]);
        return { seen };
    };
    const results = await Promise.all(
        names.map(async (stackName) => {
            const options = { ...placed(), envVars: envVars ?? {} };
            const stack = await LocalWorkspace.createStack({ stackName, projectName: "project", program }, options);
            await stack.setConfig("name", { value: stackName });
            const { outputs, summary } = await stack.up();
            return [outputs.seen?.value, summary.resourceChanges];
        }),
    );
    expect(results).toEqual(names.map((name) => [[name, name, name], { create: 2 }]));
    expect(most).toBeGreaterThan(1);
});

test("configuration that is set at once is all kept", async () => {
    const stack = await newStack(async () => {});
    const keys = Array.from({ length: 12 }, (_, index) => `project:key${index}`);
    await Promise.all(keys.map((key, index) => stack.setConfig(key, { value: key, secret: index % 2 === 0 })));
    expect(Object.keys(await stack.getAllConfig()).sort()).toEqual(keys.sort());
});

test("what has not begun is dropped when it is cancelled", async () => {
    const { envVars = {} } = placed();
    const names = Array.from({ length: 40 }, (_, index) => `s${index}`);
    const ends = new AbortController();
    const args = (stackName: string) => ({ stackName, projectName: "project", program: async () => {} });
    // Each has a key of its own to derive, which takes its time.
    const cheap = process.env.MALOKO_CHEAP_KEYS;
    delete process.env.MALOKO_CHEAP_KEYS;
    onTestFinished(() => {
        process.env.MALOKO_CHEAP_KEYS = cheap;
    });
    const options = new Map(names.map((name) => [name, { ...placed(), envVars, signal: ends.signal }]));
    const making = names.map((name) => LocalWorkspace.createOrSelectStack(args(name), options.get(name)));
    ends.abort(new Error("enough"));
    const ended = await Promise.allSettled(making);
    const dropped = ended.flatMap((end) => (end.status === "rejected" ? [String(end.reason.cause)] : []));
    expect(new Set(dropped)).toEqual(new Set(["Error: enough"]));
    // The first may be made before this thread comes to cancel.
    expect(dropped.length, "those that wait for a processor are dropped").toBeGreaterThan(names.length / 2);
    const stacks = join(fileURLToPath(envVars.PULUMI_BACKEND_URL ?? ""), ".pulumi", "stacks", "project");
    const made = existsSync(stacks) ? readdirSync(stacks).filter((name) => name.endsWith(".json")) : [];
    expect(made.length, "nothing is made of what was dropped").toBeLessThan(names.length / 2);
    // What was made of the others is whole.
    const stack = await LocalWorkspace.createOrSelectStack(args("s0"), { ...options.get("s0"), signal: undefined });
    expect((await stack.up()).summary.resourceChanges).toEqual({ create: 1 });
});

test("async storages of the caller reach program and provider", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const provider = {
        create: async (inputs: Props) => {
            seen.push(`create ${storage.getStore()}`);
            return { id: "made", outs: inputs };
        },
    };
    const program = async () => {
        seen.push(`program ${storage.getStore()}`);
        new Thing(provider, "a").id.apply(() => seen.push(`apply ${storage.getStore()}`));
    };
    const up = (name: string) =>
        storage.run(name, async () => {
            const stack = await newStack(program);
            await stack.up({ onOutput: () => seen.push(`output ${storage.getStore()}`) });
        });
    await Promise.all([up("one"), up("two")]);
    const expected = ["one", "two"].flatMap((name) =>
        ["program", "create", "apply", "output"].map((where) => `${where} ${name}`),
    );
    expect([...new Set(seen)].sort()).toEqual(expected.sort());
});

test("a program may drive another stack", async () => {
    const inner = await newStack(async () => ({ from: "inner" }));
    const outer = await newStack(async () => {
        const { outputs } = await inner.up();
        const thing = new Thing(new Echo(), "a", { from: outputs.from?.value });
        return { stack: pulumi.getProject(), from: thing.from };
    });
    expect((await outer.up()).outputs).toMatchObject({ stack: { value: "project" }, from: { value: "inner" } });
});

const WORKER = `
const { parentPort, workerData } = require("node:worker_threads");
const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("maloko/automation");
const provider = { create: async (inputs) => ({ id: "made", outs: inputs }) };
class Thing extends pulumi.dynamic.Resource { constructor(from) { super(provider, "a", { from }); } }
(async () => {
    const program = async () => ({ from: new Thing(pulumi.getStack()).from });
    const args = { stackName: workerData.name, projectName: "project", program };
    const stack = await LocalWorkspace.createStack(args, workerData.options);
    parentPort.postMessage((await stack.up()).outputs.from.value);
})();`;

// By day the worker that is ended has another one that runs to its end.
// In Node alone: worker threads, and copies of the SDK that npm may install twice
nightly("stacks run in worker threads", () => {
    const directory = besides({
        "worker.cjs": WORKER,
        "main.cjs": `
const { Worker } = require("node:worker_threads");
const one = ({ name, options }) => new Promise((resolve, reject) => {
    const worker = new Worker(require.resolve("./worker.cjs"), { workerData: { name, options } });
    let told;
    worker.on("message", (message) => { told = message; }).on("error", reject).on("exit", () => resolve(told));
});
Promise.all(JSON.parse(process.argv[2]).map(one)).then((all) => console.log(all.join(" ")));`,
    });
    const tasks = ["one", "two", "three"].map((name) => ({ name, options: placed() }));
    const args = [join(directory, "main.cjs"), JSON.stringify(tasks)];
    expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("one two three\n");
});

const ENDED = `
const { parentPort, workerData } = require("node:worker_threads");
const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("maloko/automation");
const { wait, options } = workerData;
const create = async (inputs) => {
    parentPort.postMessage("begun");
    await (wait ? new Promise(() => setInterval(() => {}, 1000)) : undefined);
    return { id: "made", outs: inputs };
};
class Thing extends pulumi.dynamic.Resource { constructor() { super({ create }, "a", {}); } }
(async () => {
    const args = { stackName: "dev", projectName: "project", program: async () => void new Thing() };
    const stack = await LocalWorkspace.createOrSelectStack(args, options);
    const failure = (error) => error.name;
    parentPort.postMessage(await stack.up().then(({ stdout }) => /its create was .*/.test(stdout) && "unresolved", failure));
})();`;

// In Node alone: worker threads, and copies of the SDK that npm may install twice
test("a worker that is ended in the middle leaves the process whole", () => {
    const directory = besides({
        "worker.cjs": ENDED,
        "main.cjs": `
const { Worker } = require("node:worker_threads");
const options = JSON.parse(process.argv[2]);
const start = (wait) => new Worker(require.resolve("./worker.cjs"), { workerData: { wait, options } });
const first = start(true);
first.once("message", async () => {
    await first.terminate();
    const again = () => start(false).on("message", (message) => {
        if (message === "ConcurrentUpdateError") { again(); } else { console.log(message); }
    });
    again();
});`,
    });
    const args = [join(directory, "main.cjs"), JSON.stringify(placed())];
    expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("begun\nunresolved\n");
});

// In Node alone: worker threads, and copies of the SDK that npm may install twice
test("two copies of the sdk share a run", async () => {
    const directory = besides({
        "lib.cjs": `const pulumi = require("@pulumi/pulumi");
const provider = { create: async (inputs) => ({ id: "made", outs: inputs }) };
class Theirs extends pulumi.dynamic.Resource { constructor(from) { super(provider, "theirs", { from }); } }
exports.pulumi = pulumi;
exports.make = (from) => new Theirs(from);`,
    });
    const copy = join(directory, "node_modules", "@pulumi", "pulumi");
    cpSync(join(HERE, "..", "node_modules", "@pulumi", "pulumi"), copy, { recursive: true });
    const lib = createRequire(import.meta.url)(join(directory, "lib.cjs"));
    expect(lib.pulumi).not.toBe(pulumi);
    const stack = await newStack(async () => {
        const mine = new Thing(new Echo(), "mine", { from: "me" });
        return { theirs: lib.make(mine.from).from };
    });
    const result = await stack.up();
    expect([result.outputs.theirs?.value, result.summary.resourceChanges]).toEqual(["me", { create: 3 }]);
});

test("listening sockets are not needed", async () => {
    let during: string[] = ["not looked"];
    const stack = await newStack(async () => {
        new Thing(new Echo(), "a").id.apply(() => {
            during = process.getActiveResourcesInfo();
        });
    });
    await stack.up({ onEvent: () => {} });
    expect(during.filter((type) => /Server|ChildProcess|Process/.test(type))).toEqual([]);
});

test("temporary directories are gone with the process", () => {
    const script = join(
        besides({
            "temporary.cjs": `
const { LocalWorkspace } = require("maloko/automation");
(async () => {
    const { envVars } = JSON.parse(process.argv[2]);
    const args = { stackName: "dev", projectName: "project", program: async () => ({ done: true }) };
    const stacks = [await LocalWorkspace.createStack(args, { envVars }), await LocalWorkspace.selectStack(args, { envVars })];
    await stacks[1].up();
    console.log(JSON.stringify(stacks.map(({ workspace }) => workspace.workDir)));
})();`,
        }),
        "temporary.cjs",
    );
    const made = JSON.parse(execFileSync(process.execPath, [script, JSON.stringify(placed())], { encoding: "utf8" }));
    expect(made.map((directory: string) => existsSync(directory))).toEqual([false, false]);
});

const MANY = 100;

nightly.runIf(process.platform === "linux")("a hundred runs in a row leave nothing behind", async () => {
    const script = join(
        besides({
            "many.cjs": `
const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("maloko/automation");
const { held, settled } = require(${JSON.stringify(join(HERE, "..", "support", "held.cjs"))});
const listened = () => ({
    handles: process.getActiveResourcesInfo().filter((type) => type !== "Immediate").length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
});
let n = 0;
class Provider {
    async create(inputs) { return { id: "made", outs: inputs }; }
    async diff(id, olds, news) { return { changes: olds.n !== news.n }; }
    async update(id, olds, news) { return { outs: news }; }
}
class Thing extends pulumi.dynamic.Resource { constructor() { super(new Provider(), "a", { n: n++, text: "x".repeat(10000) }); } }
const memory = () => { gc(); return process.memoryUsage(); };
(async () => {
    const args = { stackName: "dev", projectName: "project", program: async () => ({ n: new Thing().n }) };
    const stack = await LocalWorkspace.createStack(args, JSON.parse(process.argv[2]));
    for (let round = 0; round < 20; round++) { await stack.up(); }
    const before = { ...held(), ...listened(), ...memory() };
    for (let round = 0; round < ${MANY}; round++) { await stack.up(); }
    const after = { ...(await settled(before)), ...listened(), ...memory() };
    console.log(JSON.stringify({ before, after, n: (await stack.outputs()).n.value }));
})();`,
        }),
        "many.cjs",
    );
    const args = ["--expose-gc", script, JSON.stringify(placed())];
    const { before, after, n } = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
    expect(n).toBe(MANY + 19);
    // One fewer is no leak: what was about to end before has ended.
    for (const name of ["threads", "files", "handles"]) {
        expect(after[name], name).toBeLessThanOrEqual(before[name]);
    }
    expect(after.listeners).toBe(before.listeners);
    const megabyte = 1 << 20;
    expect(after.heapUsed - before.heapUsed).toBeLessThan(4 * megabyte);
    expect(after.rss - before.rss).toBeLessThan(32 * megabyte);
});

test("a stack that several make at once is made once", async () => {
    const { envVars = {} } = placed();
    const callers = Array.from({ length: NIGHT ? 6 : 3 });
    const program = async () => {};
    const made = (make: (...how: Made) => Promise<Stack>, stackName: string) =>
        Promise.all(
            callers.map(async () => {
                try {
                    const options = { ...placed(), envVars };
                    return (await make({ stackName, projectName: "project", program }, options)).name;
                } catch (error) {
                    expect(error).toBeInstanceOf(StackAlreadyExistsError);
                    return "there is one";
                }
            }),
        );
    const created = await made((...how) => LocalWorkspace.createStack(...how), "one");
    expect(created.sort()).toEqual(["one", ...callers.slice(1).map(() => "there is one")]);
    const selected = await made((...how) => LocalWorkspace.createOrSelectStack(...how), "two");
    expect(selected).toEqual(callers.map(() => "two"));
});
