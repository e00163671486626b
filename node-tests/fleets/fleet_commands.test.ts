// `maloko fleet`, as people and scripts use it.
import { type ChildProcess, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { childrenOf, FleetFolder } from "../support/fleet-kit";
import { ended, freePort, isServed, sharedServer, until, VENV } from "../support/fleet-server";
import { atNight } from "../support/night";

// By day in Python.
const nightly = atNight(test);

function stacksOf(count: number, config: Record<string, string> = {}) {
    const rows = Array.from({ length: count }, (_, number) => ({
        tenant: `t${number}`,
        ring: number === 0 ? "canary" : "rest",
    }));
    return [{ project: "tenant", program: "tenant.cjs#tenant", stack: "{tenant}", for: rows, config }];
}

function exitOf(child: ChildProcess): Promise<number | null> {
    return new Promise((resolve) => child.once("exit", resolve));
}

const server = sharedServer();

test("a run is watched paused and goes on", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(4, { holds: "true" }), { limits: { at_a_time: 1 } });
    fleet.worker();
    const { stderr } = fleet.command(["up", "--yes", "--detach", "--message", "the first one"]);
    const run = /run (\S+):/.exec(stderr)?.[1] ?? "";
    await until(() => fleet.marks("held").length > 0, "a stack at work");

    fleet.command(["pause", run]);
    fleet.letGo();
    const made = () => Object.values(fleet.objects()).reduce((sum, count) => sum + count, 0);
    await until(() => made() === 3, "the stack at work to end");
    const status = fleet.told(["status"]);

    expect(status).toMatchObject({ run, state: "paused", counts: { waiting: 3 } });
    expect(fleet.command(["history"]).stdout).toContain("paused");
    const results = fleet.beside("results", run);
    await until(() => results.said().split("\n").length > 2, "what is waited for");
    const [first, second] = results.said().split("\n");
    expect(first).toBe(`run ${run} has not ended: waiting for its end. Ctrl-C leaves it; the run goes on`);
    expect(second).toContain("paused");
    expect(await ended(results.child, "SIGINT")).toBe(130);
    fleet.command(["resume", run]);
    expect(fleet.command(["watch", run]).stdout).toContain("4 done");
    expect(fleet.told(["history"])).toMatchObject([
        { run, state: "done", verb: "up", stacks: 4, failed: 0, message: "the first one" },
    ]);
    expect(fleet.told(["history", "--stack", "t3"])).toMatchObject([{ run, attempt: 1, changes: { create: 4 } }]);
    expect(fleet.command(["history", "--stack", "t9"], 2).stderr).toContain("no stack is named 't9'");
    expect(fleet.command(["logs", "t3"]).stdout).toContain("file-2");
    // A stack's own history needs no server.
    const away = { engine: "temporal://127.0.0.2:9/default" };
    fleet.write(stacksOf(4, { holds: "true" }), away);
    expect(fleet.command(["logs", "t3", "--run", run]).stdout).toContain("file-2");
    expect(fleet.command(["logs", "t3", "--run", "gone"], 1).stderr).toContain("has nothing on record of run gone");
    fleet.write(stacksOf(4, { holds: "true" }));
    // Nobody reads what comes after the first lines.
    const unread = fleet.beside("history");
    unread.child.stdout?.destroy();
    expect(await exitOf(unread.child)).toBe(0);
    expect(unread.said()).toBe("");
    // What a fleet labels is found without it.
    expect(fleet.stacksWith("tenant=t2")).toEqual(["t2"]);
    fleet.command(["page", run, "--output", "run.html"]);
    expect(readFileSync(join(fleet.folder, "run.html"), "utf8")).toContain(run);
});

nightly("a stack that a stop keeps from its next start says of what it failed", () => {
    const fleet = new FleetFolder(server());
    const settings = { limits: { at_a_time: 1 }, retry: { provider: 2, first_wait: "1s" }, stop_after: 1 };
    fleet.write(stacksOf(2, { fails: "always", files: "2" }), settings);
    fleet.worker();

    const { run, ends } = fleet.run(["up"], 1);

    expect(ends["tenant/t0"]?.outcome).toBe("failed");
    expect(ends["tenant/t1"]).toMatchObject({ outcome: "skipped", text: expect.stringContaining("no room") });
    expect(ends["tenant/t1"]?.text).toMatch(/^1 failed, and the run stops after 1; it failed before: /);
    // A resource has its URN for programs, and its name for people.
    expect(ends["tenant/t0"]?.text).toContain("::pulumi-nodejs:dynamic:Resource::file-1: Error");
    const shown = fleet.command(["results", run], 1).stdout;
    expect(shown).toContain("Resource file-1: Error: the service has no room");
    expect(shown).not.toContain("urn:");
    expect(fleet.command(["logs", "t0"]).stdout.split("\n")).toContain("    maloko.attempt: 2");
});

test("the same run twice is two in history", () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    fleet.worker();
    const { run } = fleet.run(["up"]);
    expect(fleet.run(["up"]).run).toBe(run);

    const rows = fleet.told(["history"]) as { run: string }[];
    const [newest = "", older = ""] = rows.map((row) => row.run);

    expect([newest, older.split("/")[0]]).toEqual([run, run]);
    const [again, first] = [newest, older].map((name) => fleet.results(name).counts);
    expect(again).toMatchObject({ done: 0, unchanged: 1 });
    expect(first).toMatchObject({ done: 1, unchanged: 0 });
    expect(fleet.told(["status", older])).toMatchObject({ run: older });
    expect(fleet.command(["page", older, "--output", "-"]).stdout).toContain(older);
    fleet.run(["drift"]);
    // What a look has left is nothing to be done again.
    expect(fleet.command(["retry", "--yes"], 1).stderr).toContain(`run ${run} has nothing left`);
});

test("workers of the command end with it", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(2, { holds: "true" }));
    const { child, said } = fleet.beside("up", "--yes", "--workers", "1");
    await until(() => fleet.marks("held").length === 2, "both stacks at work");

    expect(await ended(child, "SIGINT"), said()).toBe(8);
    expect(fleet.marks("told")).toEqual(["t0", "t1"]);
});

test("schedules are those of the file", async () => {
    const fleet = new FleetFolder(server());
    const entry = { every: "6h", jitter: "1m", verb: "refresh --preview-only", select: "ring=canary" };
    fleet.write(stacksOf(1), { schedules: { drift: entry } });
    const line = "drift: refresh --preview-only of ring=canary every 6h, up to 1m later";
    expect(fleet.command(["schedules"]).stdout).toContain(`${line}, not on the server`);

    fleet.variables.MALOKO_FLEET_KEY = Buffer.alloc(32).toString("base64");
    fleet.command(["schedules", "--apply"]);
    // What another key has encrypted is replaced.
    delete fleet.variables.MALOKO_FLEET_KEY;
    expect(fleet.command(["schedules", "--apply"]).stdout).toContain(`${line}, next 20`);

    expect(fleet.told(["schedules"])).toMatchObject({
        drift: { onServer: true, next: expect.stringMatching(/^\d{4}-.*\+00:00$/) as string },
    });
    fleet.write(stacksOf(1));
    // The server's list is late.
    const only = "drift: only on the server; `--apply` deletes it\n";
    await until(() => fleet.command(["schedules"]).stdout === only, "the schedule in the server's list");
    expect(fleet.command(["schedules", "--apply"]).stdout).toBe("drift: deleted\n");
    const stderr = "there are no schedules: neither in the fleet's file nor on the server\n";
    expect(fleet.command(["schedules"])).toEqual({ stdout: "", stderr });
    expect(fleet.told(["schedules"])).toEqual({});
});

nightly("a run without workers says what is missing", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    const { child, said } = fleet.beside("up", "--yes");
    await until(() => said().split("\n").length > 3, "what is missing");
    expect(await ended(child, "SIGINT")).toBe(0);
    expect(said()).toContain("no worker serves the runs of this fleet");
    expect(said()).toContain("maloko fleet worker --queue default");
    expect(said()).toContain("the run goes on");
    const run = said().split("run ")[1]?.split(":")[0] as string;
    const status = fleet.beside("status", run);
    await until(() => status.said() === `waiting for an answer of run ${run}\n`, "what is waited for");
    await ended(status.child, "SIGINT");
    fleet.worker();
    expect(JSON.parse(fleet.command(["watch", run, "--json"]).stdout).counts.done).toBe(1);
});

test("a run for which nobody answers is watched until somebody does", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    const { child, said } = fleet.beside("up", "--yes");
    const over = new Promise((resolve) => child.once("exit", resolve));
    await until(() => said().includes("does not answer"), "the warning");

    fleet.worker();

    expect(await over, said()).toBe(0);
    expect(said().split("no worker serves the runs of its fleet just now")).toHaveLength(2);
    expect(said()).toContain("1 done");
});

test("a run that begins beside another one says so", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(2, { holds: "true" }));
    fleet.worker();
    const first = fleet.detached("up");
    await until(() => fleet.command(["history", "--json"]).stdout.includes(first), "the first one in the list");
    expect(fleet.command(["up", "--yes", "--detach"]).stderr, "it is the same").not.toContain("goes on, too");

    const told = fleet.command(["up", "--stack", "t0", "--yes", "--detach", "--json"]);

    const { run: second } = JSON.parse(told.stdout) as { run: string };
    expect(second).not.toBe(first);
    expect(told.stderr).toContain(`run ${first} goes on, too: a stack that both work on waits`);
    fleet.letGo();
    expect([first, second].map((run) => fleet.results(run).outcome)).toEqual(["done", "done"]);
});

nightly("runs of another key are listed and cancelled", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(2, { holds: "true" }));
    fleet.variables.MALOKO_FLEET_KEY = Buffer.alloc(32).toString("base64");
    fleet.worker();
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length === 2, "both stacks at work");
    fleet.variables.MALOKO_FLEET_KEY = Buffer.alloc(32, 1).toString("base64");

    expect(fleet.told(["history"])).toMatchObject([
        { run, verb: "up", state: "running", stacks: null, failed: null, readable: false },
    ]);
    expect(fleet.command(["history"]).stdout).toContain("encrypted with another key than MALOKO_FLEET_KEY");
    const other = `run ${run} is encrypted with another key than that in MALOKO_FLEET_KEY: set it to the key`;
    expect(fleet.command(["status"], 1).stderr).toContain(other);
    delete fleet.variables.MALOKO_FLEET_KEY;
    const none = `run ${run} is encrypted, and MALOKO_FLEET_KEY is not set: set it to the key`;
    expect(fleet.command(["page"], 1).stderr).toContain(none);
    expect(fleet.command(["cancel"]).stderr).toMatch(new RegExp(`run ${run} has ended\n$`));
    expect(fleet.marks("told")).toEqual(["t0", "t1"]);
    expect(fleet.told(["history"])).toMatchObject([{ state: "cancelled" }]);
});

nightly("a run that workers cannot read says so", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    fleet.worker();
    fleet.variables.MALOKO_FLEET_KEY = Buffer.alloc(32).toString("base64");
    const { child, said } = fleet.beside("up", "--yes");

    await until(() => said().includes("does not answer"), "the warning");

    await ended(child, "SIGINT");
    expect(said()).toContain("its worker cannot go on with it. A worker with another MALOKO_FLEET_KEY cannot read it");
});

test.each(["up", "destroy"])("what is not confirmed is not begun", (verb) => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    const file = join(fleet.folder, "fleet.yaml");
    const asked = JSON.stringify({ command: verb, file, directory: fleet.folder, interactive: true });
    const commands = join(fleet.folder, "node_modules", "maloko", "dist", "fleet", "commands");
    const code = `require(${JSON.stringify(commands)}).run(process.argv[1]).then((code) => { process.exitCode = code; });`;

    const told = spawnSync(process.execPath, ["-e", code, asked], {
        cwd: fleet.folder,
        env: fleet.variables,
        encoding: "utf8",
        input: "no\n",
    });

    expect(told.status, told.stderr).toBe(8);
    expect(told.stderr).toMatch(/not confirmed; nothing was begun\n$/);
});

test("what cannot be is told with the command that helps", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    expect(fleet.command(["up"], 2).stderr).toContain("add --yes");
    expect(fleet.command(["status", "nobody"], 1).stderr).toContain("knows no run 'nobody'");
    // A server that has to be at this machine is waited for.
    const address = `127.0.0.2:${await freePort()}`;
    fleet.write(stacksOf(1), { engine: `temporal://${address}/default` });
    const said = { "up --yes": "nobody answers there", worker: "connection refused" };
    for (const [words, why] of Object.entries(said)) {
        const away = fleet.command(words.split(" "), 1).stderr;
        expect(away).toContain(`the Temporal server at ${address} cannot be reached: ${why}. \`maloko fleet dev\``);
        expect(away).not.toMatch(/waiting|warning/);
    }
    const here = `127.0.0.1:${await freePort()}`;
    fleet.write(stacksOf(1), { engine: `temporal://${here}/default` });
    const [waited, gone] = fleet.command(["status"], 1).stderr.trimEnd().split("\n");
    expect(waited).toBe(`waiting 3 s for the server at ${here}`);
    expect(gone).toContain(`the Temporal server at ${here} cannot be reached: nobody answers there`);
    fleet.write(stacksOf(1), { engine: `temporal://127.0.0.2:${await freePort()}/default` });
    delete fleet.variables.PULUMI_CONFIG_PASSPHRASE;
    const warning = /^warning: PULUMI_CONFIG_PASSPHRASE is not set here/;
    expect(fleet.command(["worker"], 1).stderr).toMatch(warning);
    fleet.variables.MALOKO_PASSPHRASE_TENANT_T0 = "of one stack";
    expect(fleet.command(["worker"], 1).stderr).not.toContain("warning");
    const config = { token: { secretFrom: "env TENANT_TOKEN" } };
    fleet.write([{ ...stacksOf(1)[0], config }], { engine: `temporal://127.0.0.2:${await freePort()}/default` });
    const missing = /^warning: not set here: TENANT_TOKEN\. Stacks whose secrets come from there fail at this worker\n/;
    expect(fleet.command(["worker"], 1).stderr).toMatch(missing);
    fleet.write(stacksOf(1), { limit: {} });
    expect(fleet.command(["up", "--yes"], 2).stderr).toMatch(/fleet\.yaml[\s\S]*limits/);
});

nightly("stacks get the key of the fleet", () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(2, { plan: "gold" }), { key: "stack" });
    fleet.worker();
    fleet.run(["up"]);
    fleet.write(stacksOf(2, { plan: "gold" }));
    expect(fleet.command(["adopt"], 2).stderr).toContain("one passphrase will open all 2 stacks");

    fleet.command(["adopt", "--yes"]);

    const salts = ["t0", "t1"].map((stack) => {
        const { checkpoint } = JSON.parse(fleet.stateOf("tenant", stack)) as {
            checkpoint: { latest: { secrets_providers: { state: { salt: string } } } };
        };
        return checkpoint.latest.secrets_providers.state.salt;
    });
    expect(salts[0]).toBe(salts[1]);
});

async function startedDev(fleet: FleetFolder, ...words: string[]) {
    fleet.variables.PATH = `${VENV}:${process.env.PATH}`;
    return fleet.beside("dev", "--ui-port", String(await freePort()), ...words);
}

test("dev has a server and workers until ctrl c", async () => {
    const fleet = new FleetFolder(server());
    const port = await freePort();
    fleet.write(stacksOf(2, { plan: "gold" }), { engine: `temporal://127.0.0.1:${port}/default` });
    const up = fleet.beside("up", "--yes");
    const over = new Promise((resolve) => up.child.once("exit", resolve));
    await until(() => up.said() === `waiting 20 s for the server at 127.0.0.1:${port}\n`, "a command that waits");
    const { child, said } = await startedDev(fleet, "--slots", "1");
    await until(() => said().startsWith(`server 127.0.0.1:${port}`), "the server");

    expect(await over, up.said()).toBe(0);
    expect(up.said()).toContain("2 done");
    await until(() => said().split(" ready: 1 stack at a time, queue default\n").length === 3, "both workers");
    // The server is the child that was started first.
    const [, killed = 0] = childrenOf(child);
    process.kill(killed, "SIGKILL");
    const ends = `a worker, process ${killed}, was ended by SIGKILL: process `;
    await until(() => said().includes(ends), "another worker");
    const taken = fleet.command(["dev"], 2).stderr;
    expect(taken).toContain(
        `error: port ${port} of 127.0.0.1, for the server, cannot be had (address already in use): `,
    );
    expect(taken).toContain("or change `engine` in the fleet's file for another\n");
    // As `timeout` does: to the process, and to its group.
    child.kill("SIGTERM");
    expect(await ended(child, "SIGTERM")).toBe(0);
    expect(await isServed(port)).toBe(false);
});

nightly("dev says that its server has ended", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1), { engine: undefined });
    const port = await freePort();
    const { child, said } = await startedDev(fleet, "--port", String(port));
    const over = new Promise((resolve) => child.once("exit", resolve));
    await until(() => said().includes(`TEMPORAL_ADDRESS=127.0.0.1:${port}`), "the server");
    await until(() => said().split(" ready: ").length === 3, "both workers");
    const [first = 0] = childrenOf(child);

    process.kill(first, "SIGKILL");

    expect(await over).toBe(1);
    const ends = `error: the server, process ${first}, was ended by SIGKILL, and its runs are gone with it: start`;
    await until(() => said().includes(ends), "the message");
});

test("dev refuses a port that the file contradicts", () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    const lines = readFileSync(join(fleet.folder, "fleet.yaml"), "utf8").split("\n");
    const line = lines.findIndex((text) => text.includes('"engine"')) + 1;
    const { port } = server();

    expect(fleet.command(["dev", "--port", String(port + 1)], 2).stderr).toBe(
        `error: \`--port\` says ${port + 1}, and fleet.yaml:${line} has the engine at 127.0.0.1:${port}, where workers and ` +
            "commands look for it: leave `--port` out, or change `engine`\n",
    );
    fleet.write(stacksOf(1), { engine: "temporal://far.example:7233/default" });
    expect(fleet.command(["dev"], 2).stderr).toContain(`fleet.yaml:${line} has the engine at far.example:7233`);
});

test("without its packages it says which", () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    const hidden = join(fleet.folder, "hidden.cjs");
    writeFileSync(
        hidden,
        `const Module = require("node:module");
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
    if (request.startsWith("@temporalio/")) {
        throw Object.assign(new Error("hidden"), { code: "MODULE_NOT_FOUND" });
    }
    return resolve.call(this, request, ...rest);
};
`,
    );
    fleet.variables.NODE_OPTIONS = `--require ${hidden}`;

    expect(fleet.command(["up", "--yes"], 2).stderr).toContain("npm install @temporalio/client");
    expect(fleet.command(["check"]).stdout).toContain("1 stack");
});
