// Fleets: what their file means is told here; what drives them is asked for with the flags of the command.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const FLEET = `
name: trials
stacks:
  - { program: ., stack: base }
  - program: .
    for: [{ size: s }, { size: m }]
    stack: "app-{size}"
    needs: base
    config: { token: { secretFrom: env TRIAL_TOKEN } }
`;
// Loaded by each Node as it starts.
const WITHOUT_TEMPORAL = `
const modules = require("node:module");
const { _resolveFilename } = modules;
modules._resolveFilename = function (name, ...more) {
    if (name.startsWith("@temporalio/")) { throw new Error("not found: " + name); }
    return _resolveFilename.call(this, name, ...more);
};`;
// Stands for what drives fleets.
const DRIVEN = `
const modules = require("node:module");
const { _load, _resolveFilename } = modules;
modules._resolveFilename = function (name, ...more) {
    return name === "@temporalio/client" ? name : _resolveFilename.call(this, name, ...more);
};
const run = (request) => new Promise((resolve) => {
    process.on("SIGINT", () => { console.log("interrupted"); resolve(8); });
    console.log(request);
    require("node:fs").writeFileSync("started", "");
});
modules._load = function (name, ...more) {
    return /fleet.commands(.index)?\\.js$/.test(name) ? { run } : _load.call(this, name, ...more);
};`;

const trials = (): Project => project({ "fleet.yaml": FLEET });

/** The variables of a command at whose start something is done. */
function atStart(it: Project, code: string): NodeJS.ProcessEnv {
    it.write({ "at_start.cjs": code });
    return { NODE_OPTIONS: `--require ${join(it.directory, "at_start.cjs")}` };
}

test("the stacks of a fleet are listed", () => {
    const it = trials();
    it.write({ "below/empty": "" });
    const listed = it.ok("fleet", "ls", "--cwd", "below").trim().split("\n");
    expect(listed.map((line) => line.split(" ")[0])).toEqual(["STACK", "test/base", "test/app-s", "test/app-m"]);
    const plan = JSON.parse(it.ok("fleet", "ls", "--select", "size=s", "--json")) as { stacks: { id: string }[] };
    expect(plan.stacks.map(({ id }) => id)).toEqual(["test/app-s"]);
    expect(it.ok("fleet", "check")).toContain("the file is fine");
});

test("what is wrong with a fleet is told with its place", () => {
    const it = project({ "fleet.yaml": FLEET.replace("needs: base", "needs: bas") });
    const file = join(realpathSync(it.directory), "fleet.yaml");
    const { status, stdout, stderr } = it.run("fleet", "check");
    expect([status, stdout]).toEqual([2, ""]);
    const told = `error: ${file}:8:12: stacks[1].needs: test/app-s needs 'bas', which no stack of this fleet is; `;
    expect(stderr).toBe(`${told}did you mean 'base'?\n`);
});

test("a fleet that cannot be driven says what to install", () => {
    const it = trials();
    const { status, output } = it.runWith(atStart(it, WITHOUT_TEMPORAL), "fleet", "up");
    expect(output).toMatch(/^error: maloko fleet needs more packages: npm install( @temporalio\/[a-z]+)+\n$/);
    expect(status).toBe(2);
});

test("what drives a fleet is asked on the main thread and hears Ctrl-C", async () => {
    const it = trials();
    const flags = ["--select", "size=s", "--stop-after", "5%", "--at-a-time", "3", "--message", "note"];
    const { status, stdout } = await it.interrupted(
        ["fleet", "up", ...flags],
        async ({ signal }) => signal("SIGINT"),
        atStart(it, DRIVEN),
    );
    const [request = "", ...interrupted] = stdout.trim().split("\n");
    expect([status, interrupted]).toEqual([8, ["interrupted"]]);
    const directory = realpathSync(it.directory);
    expect(JSON.parse(request)).toEqual({
        ...{ command: "up", file: join(directory, "fleet.yaml"), directory, interactive: false },
        ...{ columns: 0, color: false, select: ["size=s"], stacks: [], atATime: 3, stopAfter: "5%" },
        ...{ detach: false, yes: false, cancelOnInterrupt: false, message: "note", outputs: false, json: false },
    });
});

test("a fleet is destroyed only where somebody says so", () => {
    const { status, stderr } = trials().run("fleet", "destroy", "--non-interactive");
    expect(status).toBe(2);
    expect(stderr).toContain("This deletes every resource of 3 stacks of the fleet 'trials'. Go on?");
    expect(stderr).toContain("add --yes");
});
