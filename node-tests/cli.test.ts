import { expect, test } from "vitest";
import { project } from "./project";

const PRINTING = `import * as pulumi from "@pulumi/pulumi"; import { spawnSync } from "child_process";
class Printing { async create() {
    console.log("printed by the provider"); process.stderr.write("on stderr\\n");
    spawnSync("echo", ["from a child"], { stdio: "inherit" });
    return { id: "made", outs: {} };
} }
class Thing extends pulumi.dynamic.Resource { constructor(name: string) { super(new Printing(), name, {}); } }
new Thing("a");
console.log("printed by the program");
export const n = 1;`;

test("up preview refresh and destroy work from beginning to end", () => {
    const it = project({ "index.ts": PRINTING });
    expect(it.ok("preview", "--stack", "dev")).toContain("2 to create");
    it.up();
    expect(it.outputs()).toEqual({ n: 1 });
    expect(it.ok("up", "--yes", "--stack", "dev")).toContain("2 unchanged");
    it.ok("refresh", "--yes", "--skip-preview", "--stack", "dev");
    it.ok("destroy", "--yes", "--skip-preview", "--stack", "dev");
    expect(it.resources()).toEqual([]);
});

test("json output holds nothing but events, whatever is printed", () => {
    const it = project({ "index.ts": PRINTING });
    const lines = it.ok("up", "--yes", "--skip-preview", "--json", "--stack", "dev").trim().split("\n");
    const events = lines.map((line) => JSON.parse(line) as Record<string, { message?: string; urn?: string }>);
    const messages = events.flatMap(({ diagnosticEvent }) => diagnosticEvent ?? []);
    const printed = messages.find(({ message }) => message?.includes("printed by the provider"));
    expect(printed?.urn).toMatch(/::a$/);
    expect(messages.map(({ message }) => message).join("\n")).toContain("from a child");
    expect(messages.map(({ message }) => message).join("\n")).toContain("printed by the program");
});

test("nodeargs of the runtime options are in force", () => {
    const it = project({
        "Pulumi.yaml": "name: test\nruntime:\n  name: nodejs\n  options:\n    nodeargs: --max-old-space-size=321\n",
        "index.js": "exports.flags = process.execArgv.join(' ');",
    });
    it.up();
    expect(it.outputs()).toEqual({ flags: "--max-old-space-size=321" });
});

test("about names the versions in use", () => {
    const output = project({ "index.js": "" }).ok("about");
    expect(output).toContain(process.version);
    expect(output).toContain("3.270.0");
});

const SLOW = `const pulumi = require("@pulumi/pulumi"); const fs = require("fs");
const provider = { async create() {
    fs.writeFileSync("started", "");
    while (!fs.existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 5));
    return { id: "made", outs: {} };
} };
class Thing extends pulumi.dynamic.Resource {}
const first = new Thing(provider, "first", {});
new Thing(provider, "second", { after: first.id });`;
const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

test("one Ctrl-C waits for the call in flight and begins nothing new", async () => {
    const it = project({ "index.js": SLOW });
    const { status, output } = await it.interrupted(UP, async (command) => {
        command.signal();
        await command.said("cancelling");
        it.write({ go: "" });
    });
    expect(status).not.toBe(0);
    expect(output).toContain("cancel");
    expect(it.resources()).toEqual(["first"]);
});

test("a second Ctrl-C leaves at once and forgets nothing", async () => {
    const it = project({ "index.js": SLOW });
    const { status } = await it.interrupted(UP, async (command) => {
        command.signal();
        await command.said("cancelling");
        command.signal();
    });
    expect(status).not.toBe(0);
    it.write({ go: "" });
    const { output } = it.run(...UP);
    expect(output).toContain("nobody knows how it ended");
});
