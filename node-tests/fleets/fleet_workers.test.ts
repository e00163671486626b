// Which worker a stack is at, and for how long.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS, childrenOf, FleetFolder, stacksOf, type ToldResult } from "../support/fleet-kit";
import { ended, sharedServer, until } from "../support/fleet-server";
import { atNight } from "../support/night";

// By day in Python.
const nightly = atNight(test);

interface Status {
    state: string;
    seconds: number;
    stacks: { id: string; text: string; worker: string | null; attempt: number; note: string | null }[];
}

function statusOf(fleet: FleetFolder, run: string): Status {
    return fleet.told<Status>(["status", run]);
}

const server = sharedServer();

test("a stack that takes longer than a worker may be silent stays where it is", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1, { holds: "true" }), { heartbeat: "8s" });
    const worker = fleet.worker();
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length > 0, "the stack to be at work");
    const began = statusOf(fleet, run).seconds;

    const waitedFor = (): Status | undefined => {
        const told = statusOf(fleet, run);
        return told.seconds > began + 10 || (told.stacks[0]?.attempt ?? 0) > 1 ? told : undefined;
    };
    const { stacks } = await until(
        waitedFor,
        "the worker to have been at it for longer than that",
        undefined,
        2 * COMMANDS,
    );

    expect(stacks).toMatchObject([{ id: "tenant/t0", attempt: 1 }]);
    expect(stacks[0]?.worker).toMatch(new RegExp(`:${worker.pid}$`));
    expect(stacks[0]?.text, "heartbeats tell how far it is").toContain(" of ");
    fleet.letGo();
    expect(fleet.results(run).ends).toMatchObject({ "tenant/t0": { outcome: "done", attempts: 1 } });
    expect(fleet.objects()).toEqual({ t0: 3 });
});

nightly("status says what a stack waits for", async () => {
    const fleet = new FleetFolder(server());
    const held = { ...stacksOf(1, { holds: "true" })[0], for: [{ tenant: "held" }] };
    const retry = { provider: 5, first_wait: "1h", longest_wait: "1h" };
    fleet.write([...stacksOf(1, { fails: "always", files: "2" }), held], { heartbeat: "2s", retry });
    // This one answers in place of the run, and stays.
    fleet.worker("--queue", "none");
    const run = fleet.detached("up");
    const row = (stack: string, text: string) =>
        statusOf(fleet, run).stacks.find((found) => found.id === stack && found.text.includes(text));

    await until(() => row("tenant/t0", "waits for a worker"), "the run to begin", undefined, COMMANDS);
    const lost = fleet.worker();
    await until(() => fleet.marks("held").length > 0, "a stack to be at work");
    const waits = await until(() => row("tenant/t0", "no room"), "the stack to wait", undefined, COMMANDS);
    expect(waits.text).toMatch(/^waits 3[56]\d\d s: urn:\S+: Error: the service has no room/);
    expect(waits).toMatchObject({ attempt: 2, note: "of 5" });
    const shown = fleet.command(["status", run]).stdout;
    expect(shown).toContain("s: Resource file-1: Error: the service has no room");
    expect(shown).toContain("attempt 2 (of 5)");
    await ended(lost, "SIGKILL");
    const { text } = await until(() => row("tenant/held", "was lost"), "the worker to be missed", undefined, COMMANDS);
    expect(text).toMatch(new RegExp(`^waits.*:${lost.pid} was lost$`));
    fleet.worker();
    const again = await until(() => row("tenant/held", "resources"), "another worker", undefined, COMMANDS);
    expect(again.text).toMatch(/^\d of \d resources$/);
    expect(again.note).toBe("before: its worker was lost");
    fleet.command(["cancel", run]);
});

nightly("a worker gets no stacks of programs that are others now", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(2, { plan: "gold" }));
    const older = fleet.worker();
    fleet.run(["up"]);
    const program = join(fleet.folder, "tenant.cjs");
    writeFileSync(program, readFileSync(program, "utf8").replace('config.getNumber("files") ?? 3', "4"));

    // The worker of the old programs goes on asking for stacks.
    const run = fleet.detached("up");

    const offered = (): Status | undefined => {
        const told = statusOf(fleet, run);
        return told.stacks.length > 0 || told.state === "ended" ? told : undefined;
    };
    const { stacks } = await until(offered, "the stacks to be offered", undefined, COMMANDS);
    expect(stacks.map(({ text }) => text)).toEqual(["waits for a worker", "waits for a worker"]);
    const restart = new RegExp(`:${older.pid} is there with other programs \\(code [0-9a-f]{8}\\): restart it`);
    expect(fleet.command(["status", run]).stderr).toMatch(restart);
    const newer = fleet.worker();
    const workers = Object.values(fleet.results(run).ends).map(({ worker }) => worker?.split(":").at(-1));
    expect(new Set(workers)).toEqual(new Set([String(newer.pid)]));
    expect(fleet.objects()).toEqual({ t0: 4, t1: 4 });
    fleet.expectWhole();
});

// A stack of a program that imports what is not there.
function broken(fleet: FleetFolder): object {
    writeFileSync(join(fleet.folder, "broken.cjs"), "require('nowhere');\nexports.program = () => {};\n");
    return { project: "broken", program: "broken.cjs#program", stack: "b" };
}

const WRONG = "the program broken.cjs#program cannot be loaded: Error: Cannot find module 'nowhere' (";

// A stack of a directory that has no program.
function empty(fleet: FleetFolder): object {
    const project = join(fleet.folder, "empty");
    mkdirSync(project);
    writeFileSync(join(project, "Pulumi.yaml"), "name: empty\nruntime: nodejs\n");
    return { program: "empty", stack: "e" };
}

function saidBy(fleet: FleetFolder): string[] {
    return readFileSync(join(fleet.folder, "worker-0.log"), "utf8").trimEnd().split("\n");
}

test("a worker that can load none of its programs ends and says why", async () => {
    const fleet = new FleetFolder(server());
    fleet.write([broken(fleet), empty(fleet)]);

    const worker = fleet.worker();

    await until(() => worker.exitCode !== null, "the worker to end");
    expect(worker.exitCode).toBe(1);
    const said = saidBy(fleet);
    expect(said.at(-2)).toContain(`error: ${WRONG}${join(fleet.folder, "broken.cjs")}:1)`);
    expect(said.at(-1)).toBe(
        "This worker can load none of its 2 programs, and ends: mend the program, or install what it imports, and start " +
            "the worker again",
    );
    expect(said.join("")).not.toContain("ready");
});

test("a worker that can load some of its programs says which stacks fail there", () => {
    const fleet = new FleetFolder(server());
    fleet.write([broken(fleet), empty(fleet), ...stacksOf(1)]);
    fleet.worker();

    const { ends } = fleet.run(["up"], 1);

    expect(ends["tenant/t0"]?.outcome).toBe("done");
    expect(ends["broken/b"]).toMatchObject({ outcome: "failed", reason: "configuration" });
    expect(ends["broken/b"]?.text).toContain(WRONG);
    expect(ends["empty/e"]?.text).toContain("no program was found in ");
    const [first = "", second = "", ready = ""] = saidBy(fleet);
    expect(first).toContain(`warning: ${WRONG}`);
    expect(first).toContain("Stacks of the project 'broken' fail at this worker");
    expect(second).toContain("warning: the program empty cannot be loaded: no program was found in ");
    expect(ready).toContain("ready: 8 stacks at a time");
});

nightly("a worker loads the programs of its own queues alone", () => {
    const fleet = new FleetFolder(server());
    fleet.write([{ ...broken(fleet), queue: "eu" }, ...stacksOf(1)]);
    fleet.worker();

    expect(fleet.run(["up", "--stack", "t0"]).ends["tenant/t0"]?.outcome).toBe("done");
    expect(saidBy(fleet).join("")).not.toContain("broken");
});

nightly("a process of a worker that is killed is followed by another", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(1));
    const log = () => readFileSync(join(fleet.folder, "worker-0.log"), "utf8");
    const worker = fleet.worker("--processes", "2", "--queue", "default", "--queue", "nix");
    const ready = (count: number) => log().split(" ready: ").length - 1 === count;
    await until(() => ready(2), "both processes");
    const [killed = 0, kept = 0] = childrenOf(worker);

    process.kill(killed, "SIGKILL");

    await until(() => ready(3), "a process in its place");
    expect(childrenOf(worker)).toContain(kept);
    const other = childrenOf(worker).find((pid) => pid !== kept);
    const lines = log().split("\n");
    expect(lines.filter((line) => line.startsWith("warning"))).toEqual([
        "warning: no stack of the fleet is at the queue nix: a worker gets nothing there; the fleet's stacks are at default",
        `warning: a worker, process ${killed}, was ended by SIGKILL: process ${other} takes its place`,
    ]);
    expect(await ended(worker, "SIGHUP")).toBe(0);
});

test("processes that end again and again right after their start end the worker", async () => {
    const fleet = new FleetFolder(server());
    fleet.write([broken(fleet)]);

    const worker = fleet.worker("--processes", "2");
    const over = new Promise((resolve) => worker.once("exit", resolve));

    expect(await over).toBe(1);
    const said = readFileSync(join(fleet.folder, "worker-0.log"), "utf8");
    expect(said).toContain("error: workers ended 3 times within 10 s of their start; the last was process ");
    expect(said).toContain(", which ended with exit code 1\nWhat they wrote above says why: mend it");
    expect(said.split("ended with exit code 1: process ")).toHaveLength(3);
});

const TOO_LATE = "what was printed after the end of the run is left out: nothing takes the secrets out of it";

const PRINTS = `
const pulumi = require("@pulumi/pulumi");

class Rooms {
    constructor() {
        this.isMade = new Promise((made) => { this.made = made; });
    }
    async create(props) {
        process.stdout.write("a room for " + process.env.TOKEN_OF_ROOMS);
        // A line of a call that is over, which nothing ends.
        const end = pulumi.getProject() === "prints" ? "" : "\\n";
        this.kept = this.isMade.then(() => process.stdout.write("kept with " + process.env.TOKEN_OF_ROOMS + end));
        return { id: "room", outs: props };
    }
    keep() {
        this.made();
        return this.kept;
    }
}

class Room extends pulumi.dynamic.Resource {
    constructor(name, provider) {
        super(provider, name, {});
    }
}

exports.program = async () => {
    console.log("first line\\nsecond line with", process.env.TOKEN_OF_ROOMS);
    console.error("to stderr");
    const rooms = new Rooms();
    new Room("room", rooms).id.apply(() => rooms.keep());
    process.stdout.write("the last line");
};
`;

nightly("lines that programs print have their stack before them", () => {
    const fleet = new FleetFolder(server());
    writeFileSync(join(fleet.folder, "prints.cjs"), PRINTS);
    const project = join(fleet.folder, "rooms");
    mkdirSync(project);
    writeFileSync(join(project, "Pulumi.yaml"), "name: rooms\nruntime: nodejs\n");
    writeFileSync(join(project, "index.js"), `${PRINTS}\nmodule.exports = exports.program;\n`);
    const config = { token: { secretFrom: { env: "TOKEN_OF_ROOMS" } } };
    const inline = { project: "prints", program: "prints.cjs#program", stack: "{name}", for: { name: ["a", "b"] } };
    fleet.write([
        { ...inline, config },
        { program: "rooms", stack: "c", config },
    ]);
    fleet.variables.TOKEN_OF_ROOMS = "s3cr3t-of-the-rooms";

    const { stdout, stderr } = fleet.command(["up", "--yes", "--json", "--workers", "1"]);

    expect((JSON.parse(stdout) as ToldResult).counts.done, "what programs print is elsewhere").toBe(3);
    const words = ["first line", "second line with [secret]", "to stderr", "a room for [secret]", "the last line"];
    const printed = stderr.split("\n").filter((line) => line.startsWith("["));
    const stacks = ["prints/a", "prints/b", "rooms/c"];
    const kept = ["[rooms/c] kept with [secret]", ...["a", "b"].map((stack) => `[prints/${stack}] ${TOO_LATE}`)];
    expect(printed.sort()).toEqual(
        [...kept, ...stacks.flatMap((stack) => words.map((it) => `[${stack}] ${it}`))].sort(),
    );
    expect(stderr).not.toContain("s3cr3t");
});

const RAISES = `
const pulumi = require("@pulumi/pulumi");

const rooms = {
    async create() {
        throw new Error("no room for " + process.env.TOKEN_OF_ROOMS);
    },
};

class Room extends pulumi.dynamic.Resource {
    constructor(name) {
        super(rooms, name, {});
    }
}

function thePlan() {
    throw new Error("no plan");
}

exports.program = async () => {
    if (pulumi.getStack() === "program") {
        thePlan();
    }
    for (let number = 0; number < 2; number++) {
        new Room("room-" + number);
    }
};
`;

test("a worker shows the traceback of what programs and providers raise", () => {
    const fleet = new FleetFolder(server());
    writeFileSync(join(fleet.folder, "raises.cjs"), RAISES);
    const project = join(fleet.folder, "rooms");
    mkdirSync(project);
    writeFileSync(join(project, "Pulumi.yaml"), "name: rooms\nruntime: nodejs\n");
    writeFileSync(join(project, "index.js"), `${RAISES}\nmodule.exports = exports.program;\n`);
    const config = { token: { secretFrom: { env: "TOKEN_OF_ROOMS" } } };
    const names = { name: ["program", "provider"] };
    const inline = { project: "raises", program: "raises.cjs#program", stack: "{name}", for: names };
    const stacks = [
        { ...inline, config },
        { program: "rooms", stack: "provider", config },
    ];
    fleet.write(stacks, { retry: { provider: 1 } });
    fleet.variables.TOKEN_OF_ROOMS = "s3cr3t-of-the-rooms";

    fleet.worker();
    fleet.run(["up"], 1);

    const told = readFileSync(join(fleet.folder, "worker-0.log"), "utf8");
    const line = RAISES.split("\n").indexOf('    throw new Error("no plan");') + 1;
    const lines = told.split("\n");
    expect(lines).toContain("[raises/program] Error: no plan");
    expect(told).toContain(`[raises/program]     at thePlan (${fleet.folder}/raises.cjs:${line}:`);
    for (const [stack, file] of Object.entries({
        "raises/provider": "raises.cjs",
        "rooms/provider": "rooms/index.js",
    })) {
        // Two resources fail of the same.
        expect(lines.filter((text) => text === `[${stack}] Error: no room for [secret]`)).toHaveLength(1);
        expect(told).toMatch(new RegExp(`\\[${stack}\\]     at .*/${file}:\\d+:`));
    }
    expect(told).not.toContain("s3cr3t");
    const logs = fleet.command(["logs", "raises/program"]).stdout.split("\n");
    expect(logs.filter((text) => text.startsWith("Error: Error: no plan"))).toHaveLength(1);
});
