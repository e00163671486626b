// Fleets under everything that happens to one: failures, a dead worker, a server that restarts, a cancel.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS, FleetFolder, PYTHON_PROGRAMS, type ToldEnd } from "../support/fleet-kit";
import { ended, FleetServer, sharedServer, until } from "../support/fleet-server";
import { atNight } from "../support/night";

const nightly = atNight(test);

/** Two stacks that others need. */
const NETWORKS = {
    project: "net",
    program: "tenant.cjs#network",
    stack: "{region}",
    for: { region: ["eu", "us"] },
};

/** Tenants of both networks, each with values of its own. */
function tenants(count: number, config: Record<string, string> = {}, fails: Record<number, string> = {}) {
    const rows = Array.from({ length: count }, (_, number) => ({
        tenant: `t${number}`,
        region: number % 2 === 1 ? "eu" : "us",
        fails: fails[number] ?? "",
    }));
    return {
        project: "tenant",
        program: "tenant.cjs#tenant",
        stack: "{tenant}",
        for: rows,
        config: { fails: "{fails}", network: "{region}", ...config },
        needs: ["net/{region}"],
    };
}

/** Tenants without networks. */
function free(count: number, config: Record<string, string>) {
    return { ...tenants(count), needs: [], config };
}

const server = sharedServer();

test("forty stacks survive a killed worker and a server that restarts", async () => {
    const own = await FleetServer.started();
    const fleet = new FleetFolder(own);
    const stacks = [NETWORKS, tenants(38, { holds: "true" }, { 5: "always", 15: "always", 10: "once", 20: "once" })];
    // A dead worker is noticed sooner.
    fleet.write(stacks, { heartbeat: "3s" });
    const lost = fleet.worker("--slots", "4");
    fleet.worker("--slots", "4");
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length >= 6, "stacks that both workers are at");
    await ended(lost, "SIGKILL");
    await own.stop();
    fleet.letGo();
    await own.start();

    const { ends } = fleet.results(run, 1);

    const failed = Object.values(ends).filter(({ outcome }) => outcome === "failed");
    expect(failed.map(({ id }) => id).sort()).toEqual(["tenant/t15", "tenant/t5"]);
    expect(failed).toMatchObject(
        [1, 2].map(() => ({ reason: "provider", text: expect.stringContaining("no room") as string })),
    );
    // A worker that was killed may have made what the next one finds.
    const well = Object.values(ends).filter(({ outcome }) => outcome === "done" || outcome === "unchanged");
    expect(well).toHaveLength(38);
    expect(ends["tenant/t10"]?.attempts).toBeGreaterThan(1);
    const objects = Object.entries(fleet.objects()).filter(([name]) => !["t5", "t15"].includes(name));
    expect(objects.filter(([name, count]) => count !== (name.startsWith("t") ? 3 : 1))).toEqual([]);
    expect(objects).toHaveLength(38);
    fleet.expectWhole(["t5", "t15"]);
    // The SDK would tell of each try while the server is away.
    expect(fleet.workerLogs()).not.toContain("WARN");
});

test("a failed stack takes along those that need it and retry does the rest", () => {
    const fleet = new FleetFolder(server());
    const base = { project: "base", program: "tenant.cjs#tenant" };
    const stacks = [
        { ...base, stack: "a", config: { fails: "always" } },
        { ...base, stack: "b", needs: ["a"] },
        { ...base, stack: "c" },
    ];
    fleet.write(stacks, { retry: { provider: 1 } });
    fleet.worker();

    const { run, ends } = fleet.run(["up"], 1);

    expect(ends).toMatchObject({
        "base/a": { outcome: "failed" },
        "base/b": { outcome: "skipped", text: "needs base/a, which failed" },
        "base/c": { outcome: "done" },
    });
    expect(fleet.told(["history"])).toMatchObject([{ state: "failed", failed: 1 }]);
    expect(fleet.command(["logs", "b"]).stdout).toBe("No run of the fleet has worked on base/b\n");
    expect(fleet.command(["logs", "b", "--run", run], 1).stderr).toContain("base/b has nothing on record of run");
    // The files as they are now count.
    fleet.write([{ ...base, stack: "a" }, ...stacks.slice(1)]);
    expect(fleet.run(["retry", run]).ends).toMatchObject({
        "base/a": { outcome: "done" },
        "base/b": { outcome: "done" },
    });
    fleet.expectWhole();
});

nightly("two fleets over the same stacks exclude each other", async () => {
    const [one, other] = [new FleetFolder(server()), new FleetFolder(server())];
    const stacks = [free(6, { holds: "true" })];
    one.write(stacks);
    other.variables.WORLD = one.world;
    // What an attempt came to is encrypted, and told.
    other.variables.MALOKO_FLEET_KEY = Buffer.alloc(32).toString("base64");
    other.write(stacks, { backend: `file://${one.state}` });
    one.worker();
    other.worker();
    const first = one.detached("up");
    await until(() => one.marks("held").length === 6, "all stacks at work");
    const second = other.detached("up");
    const isLocked = () => other.command(["status"]).stdout.includes(`locked by run ${first}`);
    await until(isLocked, "a stack that is locked", undefined, COMMANDS);
    one.letGo();

    one.command(["results", first]);
    other.command(["results", second]);

    expect(one.objects()).toEqual(Object.fromEntries([0, 1, 2, 3, 4, 5].map((number) => [`t${number}`, 3])));
    one.expectWhole();
});

// By day Python asks it: who needs whom is the same Rust code, and who begins again behind another one is the test below.
nightly("a reference orders stacks although nobody wrote it down", () => {
    const fleet = new FleetFolder(server());
    const user = { project: "tenant", program: "tenant.cjs#tenant", stack: "user", config: { network: "eu" } };
    fleet.write([user, { project: "net", program: "tenant.cjs#network", stack: "eu" }]);
    fleet.worker();

    const made = fleet.run(["up", "--at-a-time", "1"]);

    expect(Object.keys(made.ends)).toEqual(["net/eu", "tenant/user"]);
    // The last state says who needs whom.
    expect(Object.keys(fleet.run(["destroy"]).ends)).toEqual(["tenant/user", "net/eu"]);
    expect(fleet.objects()).toEqual({ eu: 0, user: 0 });
});

test("runs of the library follow references too", () => {
    const fleet = new FleetFolder(server());
    const user = { project: "tenant", program: "tenant.cjs#tenant", stack: "user", config: { network: "eu" } };
    fleet.write([{ project: "net", program: "tenant.cjs#network", stack: "eu" }, user]);
    fleet.worker();
    fleet.run(["up"]);
    const code = `require("maloko/fleet").load().destroy().then((run) => run.result())
        .then(({ ends }) => console.log(ends.map(({ stack }) => stack).join()));`;

    const options = { cwd: fleet.folder, env: fleet.variables, encoding: "utf8" } as const;
    const told = spawnSync(process.execPath, ["-e", code], options);

    expect(told.stdout, told.stderr).toBe("tenant/user,net/eu\n");
});

test("who reads a stack while it is made for the first time begins again behind it", async () => {
    const fleet = new FleetFolder(server());
    const users = ["strict", "lenient"].map((early) => ({
        project: "tenant",
        program: "tenant.cjs#tenant",
        stack: early,
        config: { network: "eu", early },
    }));
    fleet.write([...users, { project: "net", program: "tenant.cjs#network", stack: "eu", config: { holds: "true" } }]);
    fleet.worker();
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").includes("eu"), "the network to be made");
    const isNetworkAlone = () => {
        const { running, waiting } = fleet.told<{ counts: Record<string, number> }>(["status", run]).counts;
        return running === 1 && waiting === 2;
    };
    await until(isNetworkAlone, "the users to wait for the network", undefined, COMMANDS);
    fleet.letGo();

    const { ends: made } = fleet.told<{ ends: ToldEnd[] }>(["watch", run]);

    const told = made.map(({ id, outcome, attempts, changes }) => [id, [outcome, attempts, changes.create]]);
    // A stack and its files.
    expect(Object.fromEntries(told)).toEqual({
        "net/eu": ["done", 1, 2],
        "tenant/strict": ["done", 2, 4],
        "tenant/lenient": ["done", 2, 4],
    });
    const outputs = Object.values(fleet.run(["up", "--outputs"]).ends).map((end) => end.outputs?.range);
    expect(outputs).toEqual(["10.0.0.0/2", "10.0.0.0/2", "10.0.0.0/2"]);
    fleet.expectWhole();
});

test("cancel reaches providers and the run ends last", async () => {
    const fleet = new FleetFolder(server());
    fleet.write([free(12, { holds: "true" })]);
    fleet.worker("--slots", "3");
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length === 3, "three stacks at work");
    const held = fleet.marks("held");

    fleet.command(["cancel", run]);

    expect(fleet.marks("told")).toEqual(held);
    const { ends } = fleet.results(run, 8);
    const made = Object.values(ends).filter(({ changes }) => changes.create !== undefined);
    expect(made.map(({ id }) => id.replace("tenant/", "")).sort(), "what they had made is told").toEqual(held);
    expect(fleet.told(["history"])).toMatchObject([{ state: "cancelled" }]);
});

// By day Python asks it, where stacks are to be retried.
nightly.each(["paused", "to be retried", "without workers"])(
    "cancel ends a run of which nothing is at work: %s",
    async (phase) => {
        const fleet = new FleetFolder(server());
        const configs: Record<string, Record<string, string>> = {
            "to be retried": { fails: "always" },
            paused: { holds: "true" },
        };
        const retry = { provider: 5, first_wait: "1h", longest_wait: "1h" };
        fleet.write([free(2, configs[phase] ?? {})], { limits: { at_a_time: 1 }, retry });
        // One that serves no stacks answers in place of the run.
        fleet.worker(...(phase === "without workers" ? ["--queue", "none"] : []));
        const run = fleet.detached("up");
        const counts = () => fleet.told<{ counts: Record<string, number> }>(["status", run]).counts;
        if (phase === "to be retried") {
            await until(() => counts().retrying === 2, "both stacks to fail", undefined, COMMANDS);
        }
        if (phase === "paused") {
            await until(() => fleet.marks("held").length > 0, "the first stack to be at work");
            fleet.command(["pause", run]);
            fleet.letGo();
            const hasEnded = () => counts().running === 0 && counts().done === 1;
            await until(hasEnded, "the first stack to end", undefined, COMMANDS);
        }

        fleet.command(["cancel", run]);

        const outcomes = Object.values(fleet.results(run, 8).ends).map(({ outcome }) => outcome);
        expect(outcomes.sort()).toEqual(phase === "paused" ? ["cancelled", "done"] : ["cancelled", "cancelled"]);
        expect(fleet.told(["history"])).toMatchObject([{ state: "cancelled" }]);
        fleet.expectWhole();
    },
);

test("a worker that is told to end hands its stacks over", async () => {
    const fleet = new FleetFolder(server());
    fleet.write([free(4, { holds: "true" })]);
    const leaving = fleet.worker("--slots", "2", "--processes", "2");
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length === 4, "four stacks at work");
    fleet.worker("--slots", "4");

    expect(await ended(leaving, "SIGTERM")).toBe(0);
    expect(fleet.marks("told")).toHaveLength(4);
    fleet.letGo();
    const made = Object.values(fleet.results(run).ends);
    expect(new Set(Object.values(fleet.objects()))).toEqual(new Set([3]));
    // The first worker has made the stack's own resource, and the second one the files.
    expect(made.map(({ outcome, changes }) => [outcome, changes.create])).toEqual([0, 1, 2, 3].map(() => ["done", 4]));
    fleet.expectWhole();
});

test("a program with a folder of its own runs in its own process", () => {
    const fleet = new FleetFolder(server());
    const app = join(fleet.folder, "app");
    mkdirSync(app);
    writeFileSync(join(app, "Pulumi.yaml"), "name: app\nruntime: nodejs\n");
    writeFileSync(
        join(app, "index.js"),
        'const { tenant } = require("../tenant.cjs");\nmodule.exports = async () => ({ ...(await tenant()), process: process.pid });\n',
    );
    writeFileSync(join(app, "Pulumi.a.yaml"), "config:\n  app:files: '2'\n");
    fleet.write([{ program: "app", stack: ["a", "b"], config: { plan: "gold" } }]);
    const worker = fleet.worker();

    const { ends } = fleet.run(["up", "--outputs"]);

    // The settings of the program's own file count.
    expect(fleet.objects()).toEqual({ a: 2, b: 3 });
    const processes = new Set(Object.values(ends).map(({ outputs }) => outputs?.process));
    expect(processes.size).toBe(2);
    expect(processes).not.toContain(worker.pid);
    expect(readdirSync(app).filter((name) => name.startsWith("Pulumi"))).toEqual(["Pulumi.a.yaml", "Pulumi.yaml"]);
    fleet.expectWhole();
});

test("stacks take over what is there", () => {
    const fleet = new FleetFolder(server());
    fleet.write([free(2, { plan: "gold" })]);
    fleet.worker();
    const objects = join(fleet.world, "objects", "t1");
    mkdirSync(objects, { recursive: true });
    writeFileSync(join(objects, "by-hand"), "");
    mkdirSync(join(fleet.folder, "imports"));
    const found = { type: "pulumi-nodejs:dynamic:Resource", name: "old", id: "t1/by-hand" };
    writeFileSync(join(fleet.folder, "imports", "t1.json"), JSON.stringify({ resources: [found] }));

    const { ends } = fleet.run(["import", "--from", "imports/{stack}.json"]);

    // The first one has nothing to take over.
    const warnings = ["it takes nothing over: there is no file imports/t0.json at this worker"];
    const t0 = { outcome: "unchanged", warnings };
    expect(ends).toMatchObject({ "tenant/t0": t0, "tenant/t1": { changes: { import: 1 } } });
    expect(ends["tenant/t1"]).not.toHaveProperty("warnings");
    expect(fleet.stateOf("tenant", "t1")).toContain("t1/by-hand");
});

// In Node alone: one run has programs of both languages, whichever suite begins it.
test("programs of both languages refer to each other in one run", () => {
    const fleet = new FleetFolder(server());
    cpSync(join(PYTHON_PROGRAMS, "tenant.py"), join(fleet.folder, "tenant.py"));
    const network = (program: string, stack: string) => ({ project: "net", program, stack });
    const tenant = (program: string, stack: string, of: string) => ({
        project: "tenant",
        program,
        stack,
        config: { network: of },
        needs: [`net/${of}`],
    });
    fleet.write([
        tenant("tenant.cjs#tenant", "node", "eu"),
        tenant("tenant.py:tenant", "python", "us"),
        network("tenant.py:network", "eu"),
        network("tenant.cjs#network", "us"),
    ]);
    fleet.worker();
    fleet.pythonWorker();

    const { ends } = fleet.run(["up", "--outputs"]);

    expect(ends).toMatchObject({
        "tenant/node": { outcome: "done", outputs: { range: "10.0.0.0/2" } },
        "tenant/python": { outcome: "done", outputs: { range: "10.0.0.0/2" } },
    });
    expect(fleet.objects()).toEqual({ eu: 1, us: 1, node: 3, python: 3 });
    const destroyed = Object.keys(fleet.run(["destroy"]).ends);
    expect(destroyed.indexOf("net/eu")).toBeGreaterThan(destroyed.indexOf("tenant/node"));
    expect(destroyed.indexOf("net/us")).toBeGreaterThan(destroyed.indexOf("tenant/python"));
    fleet.expectWhole();
});
