// Ctrl-C and SIGTERM, whatever provider code does at that moment: real processes, real signals, the command line.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Project, project } from "../project";

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

describe.each(Object.keys(STUCK))("%s", (kind) => {
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

    test("one signal is enough when the patience runs out", async () => {
        const its = stuck(kind);
        const patience = { MALOKO_CANCEL_SECONDS: "1" };
        const { status, output } = await its.interrupted(UP, async (command) => command.signal("SIGTERM"), patience);
        expect(output).toContain("for 1 s at most");
        expect(output).toContain("left at once during create of 'first', 1 s after the run was cancelled");
        expect(status).toBe(8);
        isNamedAndMade(its);
    });
});

test.each([
    "sleeps",
    "spins",
    "holds the interpreter",
])("a call is given up at its time limit whatever the provider does: %s", (kind) => {
    const its = stuck(kind);
    its.ok("config", "set", "maloko:callLimit", "500ms", "--stack", "dev");
    const { status, output } = its.run(...UP);
    expect(output).toContain(
        "create of 'first' took longer than the 500ms that the configuration 'maloko:callLimit' gives it",
    );
    expect(status).toBe(1);
    isNamedAndMade(its);
});

test("a limit that is no duration is an error that says what is", () => {
    const its = stuck("sleeps");
    its.ok("config", "set", "maloko:callLimit", "soon", "--stack", "dev");
    expect(its.run(...UP).output).toContain("'maloko:callLimit' is 'soon', which is not a duration");
    const { status, stderr } = its.runWith({ MALOKO_CANCEL_SECONDS: "soon" }, "preview", "--stack", "dev");
    expect(stderr).toContain("MALOKO_CANCEL_SECONDS is 'soon'; it must be a whole number");
    expect(status).toBe(2);
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
    its.write({ "index.js": "" });
    its.ok(...UP);
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

test("a sigterm during the preview of an up ends both", async () => {
    const its = project({
        "index.js": `
            const fs = require("node:fs");
            const pulumi = require("@pulumi/pulumi");
            class Checking {
                async check(olds, inputs) {
                    fs.writeFileSync("started", "");
                    while (!fs.existsSync("go-on")) { await new Promise((resolve) => setTimeout(resolve, 20)); }
                    return { inputs };
                }
                async create() { return { id: "fine", outs: {} }; }
            }
            new (class First extends pulumi.dynamic.Resource {})(new Checking(), "first", {});
        `,
    });
    const both = ["up", "--yes", "--stack", "dev"];
    const patience = { MALOKO_CANCEL_SECONDS: "1" };
    const { status, output } = await its.interrupted(both, async (command) => command.signal("SIGTERM"), patience);
    expect(output).toContain("nothing was changed");
    expect(status).toBe(8);
    its.write({ "go-on": "" });
    its.ok(...both);
});

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
