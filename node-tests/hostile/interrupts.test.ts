// Ctrl-C and SIGTERM, whatever provider code does at that moment: real processes, real signals, the command line.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atNight, byDay, NIGHT } from "../support/night";
import { type Project, project } from "../support/project";

const nightly = atNight(test);

// Each goes on for ever.
const STUCK = {
    sleeps: "await new Promise((resolve) => setTimeout(resolve, 3_600_000));",
    spins: "for (;;);",
    "blocks the event loop":
        "require('node:child_process').execSync('tail -f /dev/null --pid=' + process.pid, { stdio: 'ignore' });",
    "holds the interpreter": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);",
    "ignores being cancelled": "for (;;) { await new Promise((resolve) => setTimeout(resolve, 1000)); }",
};

const program = (body: string): string => `
const fs = require("node:fs");
const pulumi = require("@pulumi/pulumi");
class Stuck { async create() { fs.writeFileSync("started", ""); ${body} return { id: "late", outs: {} }; } }
class Fine { async create() { return { id: "fine", outs: {} }; } }
class First extends pulumi.dynamic.Resource {
    constructor() { super(fs.existsSync("go-on") ? new Fine() : new Stuck(), "first", {}); }
}
new First();
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

const stuck = (kind: string): Project => project({ "index.js": program(STUCK[kind as keyof typeof STUCK]) });

/** The next run takes up from what was left: it names the create and makes the object. */
function isNamedAndMade(its: Project): void {
    const { deployment } = JSON.parse(its.ok("stack", "export", "--stack", "dev")) as {
        deployment: { pending_operations?: { type: string }[] };
    };
    expect(deployment.pending_operations?.map(({ type }) => type)).toEqual(["creating"]);
    its.write({ "go-on": "" });
    expect(its.ok(...UP)).toContain("interrupted while creating");
    expect(its.resources()).toEqual(["first"]);
}

// By day one that does not give way; a closed terminal has one that does.
const TRIED = byDay(Object.keys(STUCK), (kind) => kind === "spins");

describe.each(TRIED)("%s", (kind) => {
    test("a second ctrl c leaves at once whatever the provider does", async () => {
        const its = stuck(kind);
        const { status, output } = await its.interrupted(UP, async (command) => {
            command.signal();
            await command.said("press Ctrl-C again to leave at once");
            command.signal();
        });
        expect(output).toContain("waiting for 1 call in flight: create of 'first'");
        expect(output).toContain("left at once during create of 'first'; that is recorded as pending");
        expect(status).toBe(8);
        isNamedAndMade(its);
    });

    // By day a call is given up at its time limit.
    nightly("one signal is enough when the patience runs out", async () => {
        const its = stuck(kind);
        const patience = { MALOKO_CANCEL_SECONDS: "1" };
        const { status, output } = await its.interrupted(UP, async (command) => command.signal("SIGTERM"), patience);
        expect(output).toContain("for 1 s at most");
        expect(output).toContain("left at once during create of 'first', 1 s after the run was cancelled");
        expect(status).toBe(8);
        isNamedAndMade(its);
    });
});

nightly("a closed terminal is a first signal", async () => {
    const its = stuck("sleeps");
    const patience = { MALOKO_CANCEL_SECONDS: "1" };
    const { status, output } = await its.interrupted(UP, async (command) => command.signal("SIGHUP"), patience);
    expect(output).toContain("left at once during create of 'first', 1 s after the run was cancelled");
    expect(status).toBe(8);
    isNamedAndMade(its);
});

test.each(
    byDay(["sleeps", "spins", "holds the interpreter"], (kind) => kind === "holds the interpreter"),
)("a call is given up at its time limit whatever the provider does: %s", (kind) => {
    const its = stuck(kind);
    its.ok("config", "set", "maloko:callLimit", "2s", "--stack", "dev");
    const { status, output } = its.run(...UP);
    expect(output).toContain(
        "create of 'first' took longer than the 2s that the configuration 'maloko:callLimit' gives it",
    );
    expect(status).toBe(1);
    isNamedAndMade(its);
});

test("a program that spins is left behind", async () => {
    const its = project({ "index.js": "require('node:fs').writeFileSync('started', ''); for (;;);" });
    const { status, output } = await its.interrupted(UP, async (command) => {
        command.signal();
        await command.said("waiting for the program to end");
        command.signal();
    });
    expect(output).toContain("left at once; the next run takes up");
    expect(status).toBe(8);
    if (NIGHT) {
        its.write({ "index.js": "" });
        its.ok(...UP);
    }
});

test("a programs own handler is called beside the engines", async () => {
    const its = project({
        "index.js": `
            const fs = require("node:fs");
            const pulumi = require("@pulumi/pulumi");
            const { currentCall } = require("maloko");
            process.on("SIGINT", (signal) => fs.writeFileSync("handled", signal));
            class Waiting {
                async create() {
                    fs.writeFileSync("started", "");
                    const { signal } = currentCall();
                    await new Promise((resolve) => signal.addEventListener("abort", () => setTimeout(resolve, 50)));
                    return { id: "ended", outs: {} };
                }
            }
            new (class First extends pulumi.dynamic.Resource {})(new Waiting(), "first", {});
        `,
    });
    const { status, output } = await its.interrupted(UP, async (command) => command.signal());
    expect(output).toContain("cancelling");
    expect(status).toBe(8);
    expect(readFileSync(join(its.directory, "handled"), "utf8")).toBe("SIGINT");
    expect(its.resources()).toEqual(["first"]);
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("a provider that ends the process fails, and a program that does ends", () => {
    const its = project({
        "index.js": `
            const fs = require("node:fs");
            const pulumi = require("@pulumi/pulumi");
            class Leaving { async create() { if (!fs.existsSync("go-on")) process.exit(0); return { id: "fine", outs: {} }; } }
            new (class First extends pulumi.dynamic.Resource {})(new Leaving(), "first", {});
            if (fs.existsSync("leave")) process.exit(Number(fs.readFileSync("leave", "utf8")));
        `,
    });
    const failed = its.run(...UP);
    expect(failed.output).toContain("`create` called process.exit(0), which would end the whole deployment");
    expect(failed.status).toBe(1);
    its.write({ "go-on": "", leave: "3" });
    const ended = its.run(...UP);
    expect(ended.output).toContain("the program ended with process.exit(3)");
    expect(ended.status).toBe(1);
    its.write({ leave: "0" });
    its.ok(...UP);
    expect(its.resources()).toEqual(["first"]);
    expect(existsSync(join(its.directory, "leave"))).toBe(true);
});

const ending = (end: string): string => `
const fs = require("node:fs");
const pulumi = require("@pulumi/pulumi");
const end = async (place) => {
    if (process.env.PLACE === place) { ${end} }
};
class Ending {
    async check(olds, inputs) { await end("check"); return { inputs }; }
    async create() { await end("create"); return { id: "fine", outs: {} }; }
    async delete() {
        await end("delete");
        fs.writeFileSync("deleting", "");
        while (process.env.PLACE === "later") { await new Promise((resolve) => setTimeout(resolve, 20)); }
    }
}
class First extends pulumi.dynamic.Resource { constructor() { super(new Ending(), "first", {}); } }
exports.Ending = Ending;
new First();
if (process.env.PLACE === "later") {
    setInterval(() => fs.existsSync("deleting") && process.exit(0), 20).unref();
}
module.exports = () => end("program");
module.exports.Ending = Ending;
`;

const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];

const ENDS: [command: string[], place: string, who: string][] = [
    [UP, "create", "create of 'first'"],
    [[...UP, "--json"], "create", "create of 'first'"],
    [[...UP, "--expect-no-changes"], "program", "the program"],
    [["preview", "--stack", "dev"], "check", "check of 'first'"],
    [["preview", "--json", "--stack", "dev"], "program", "the program"],
    [["up", "--yes", "--stack", "dev"], "check", "check of 'first'"],
    [DESTROY, "delete", "delete of 'first'"],
    [DESTROY, "later", "the program"],
];

test.each(
    byDay(ENDS, (_row, place) => place === 0),
)("a direct end of the process is no success: %j %s", (command, place, who) => {
    const its = project({ "index.js": ending("process.reallyExit(0);") });
    if (command === DESTROY) {
        its.up();
    }
    const { status, stdout, stderr } = its.runWith({ PLACE: place }, ...command);
    const how = place === "later" ? "process.exit(0)" : "process.reallyExit(0)";
    expect(stderr).toContain(`error: ${who} ended the process with ${how}, and with it the run`);
    expect(stderr).toContain(
        command.includes("--skip-preview")
            ? "Run the same command again: it names what was in flight, and takes up from the journal"
            : "nothing was changed. Correct that, and run the same command again",
    );
    expect(status).toBe(1);
    if (command.includes("--json")) {
        expect(stdout.split("\n").filter((line) => line !== "" && JSON.parse(line) === undefined)).toEqual([]);
    }
    if (place === "create") {
        expect(its.ok(...UP)).toContain("interrupted while creating");
    }
});

nightly.each([3, 256])("a direct end with a code of its own keeps it: %d", (code) => {
    const its = project({ "index.js": ending(`process.reallyExit(${code});`) });
    const { status, stderr } = its.runWith({ PLACE: "program" }, ...UP);
    expect(stderr).toContain(`the program ended the process with process.reallyExit(${code})`);
    expect(status).toBe(code % 256 || 1);
});

nightly("a direct end is told with the providers of the state alone", () => {
    const its = project({
        "index.js": "const { First } = require('./providers'); new First();",
        "providers.js": ending("process.reallyExit(0);").replace(
            /\nnew First\(\);[\s\S]*/,
            "\nmodule.exports = { Ending, First };",
        ),
    });
    its.up();
    const { status, stderr } = its.runWith({ PLACE: "delete" }, ...DESTROY, "--no-program");
    expect(stderr).toContain("delete of 'first' ended the process");
    expect(status).toBe(1);
});

test("a child of the run ends as it likes", () => {
    const forked = `
        const child = require("node:child_process").spawn(process.execPath, ["-e", "process.reallyExit(0)"]);
        console.log("child", await new Promise((resolve) => child.on("exit", resolve)));
    `;
    const its = project({ "index.js": ending(forked) });
    for (const place of byDay(["create", "program"], (it) => it === "create")) {
        const { status, stdout, stderr } = its.runWith({ PLACE: place }, ...UP);
        expect(stdout).toContain("child 0");
        expect(stderr).not.toContain("ended the process");
        expect(status).toBe(0);
    }
});

test("the process is its own again after the run", () => {
    const note = "require('node:fs').writeFileSync('same', String(during === process.reallyExit))";
    const its = project({ "index.js": `const during = process.reallyExit; process.on("exit", () => ${note});` });
    its.up();
    expect(its.read("same")).toBe("false");
});

// Before 22.15, Node has no such function to be refused.
const REFUSED =
    "execve" in process
        ? "would take the place of the process, and so of the whole run: start it with"
        : "process.execve is not a function";
test("another program cannot take the place of the process", () => {
    const its = project({ "index.js": ending("process.execve('/bin/true', ['true']);") });
    for (const place of byDay(["create", "program"], (it) => it === "create")) {
        const { status, output } = its.runWith({ PLACE: place }, ...UP);
        expect(output).toContain(REFUSED);
        expect(status).toBe(1);
    }
    if (NIGHT) {
        its.write({ "index.js": ending("require('node:child_process').execSync('true');") });
        expect(its.runWith({ PLACE: "program" }, ...UP).status).toBe(0);
    }
});
