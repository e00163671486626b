import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atNight, byDay } from "../support/night";
import { project } from "../support/project";

const nightly = atNight(test);

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

nightly("up, preview and destroy", () => {
    const it = project({ "index.ts": PRINTING });
    expect(it.ok("preview", "--stack", "dev")).toContain("2 to create");
    it.up();
    expect(it.outputs()).toEqual({ n: 1 });
    expect(it.ok("up", "--yes", "--stack", "dev")).toContain("2 unchanged");
    it.ok("refresh", "--yes", "--skip-preview", "--stack", "dev");
    it.ok("destroy", "--yes", "--skip-preview", "--stack", "dev");
    expect(it.resources()).toEqual([]);
});

test("an error that nobody waits for is a warning of the resource in whose call it was raised", () => {
    const it = project({
        "index.ts": PRINTING.replace("return { id", "void Promise.reject(new Error('left alone')); return { id"),
    });
    const said = it.ok("up", "--yes", "--skip-preview", "--stack", "dev");
    expect(said).toMatch(/warning: .*an error was raised in `create` that nobody waits for/);
    expect(said).toContain("Error: left alone");
    expect(said).not.toContain("Failed:");
});

test("large whole numbers are shown without an exponent", () => {
    const it = project({
        "index.js": `for (const number of [2 ** 40, 2 ** 64, 3e20, -(2 ** 63)]) exports["n" + BigInt(number)] = number;
exports.inexact = 2 ** 53 + 2;`,
    });
    const said = it.ok("up", "--yes", "--skip-preview", "--stack", "dev");
    expect(said).toContain("lose their last digits on their way from the program; pass these outputs as texts");
    const expected = ["1099511627776", "18446744073709551616", "300000000000000000000", "-9223372036854775808"];
    const names = ["n1099511627776", "n18446744073709551616", "n300000000000000000000", "n-9223372036854775808"];
    const one = (_name: string, place: number) => place === 3;
    expect(byDay(names, one).map((name) => it.ok("stack", "output", "--stack", "dev", "--", name).trim())).toEqual(
        byDay(expected, one),
    );
    const table = it.ok("stack", "output", "--stack", "dev");
    for (const text of expected) {
        expect(table).toContain(text);
    }
});

test("JSON events stay whole, whatever is printed", () => {
    const it = project({ "index.ts": `${PRINTING}\nprocess.stdout.write("without a line feed");\n` });
    const lines = it.ok("up", "--yes", "--skip-preview", "--json", "--stack", "dev").trim().split("\n");
    const events = lines.map((line) => JSON.parse(line) as Record<string, { message?: string; urn?: string }>);
    const messages = events.flatMap(({ diagnosticEvent }) => diagnosticEvent ?? []);
    const printed = messages.find(({ message }) => message?.includes("printed by the provider"));
    expect(printed?.urn).toMatch(/::a$/);
    expect(messages.map(({ message }) => message).join("\n")).toContain("from a child");
    expect(messages.map(({ message }) => message).join("\n")).toContain("printed by the program");
    const place = (words: string) => lines.findIndex((line) => line.includes(words));
    expect(place("without a line feed")).toBeGreaterThan(-1);
    expect(place("without a line feed")).toBeLessThan(place("summaryEvent"));
});

// In Node alone: the module systems, TypeScript and its compiler
test("nodeargs of the runtime options are in force", () => {
    const it = project({
        "Pulumi.yaml": "name: test\nruntime:\n  name: nodejs\n  options:\n    nodeargs: --max-old-space-size=321\n",
        "index.js": "exports.flags = process.execArgv.join(' ');",
    });
    it.up();
    expect(it.outputs()).toEqual({ flags: "--max-old-space-size=321" });
});

test("version and about name the interpreter and the SDK", () => {
    const it = project({ "index.js": "" });
    const { version } = createRequire(import.meta.url)("maloko/package.json");
    expect(it.ok("version")).toContain(version);
    const about = it.ok("about");
    expect(about).toContain(process.version);
    expect(about).toContain("3.276.0");
});

test("commands that need no program do not load the SDK", () => {
    const it = project({
        "hook.cjs": `process.on("exit", () => {
            const loaded = Object.keys(require.cache).filter((file) => file.includes("@pulumi"));
            require("fs").writeFileSync("loaded", JSON.stringify(loaded));
        });`,
    });
    const { status } = it.runWith({ NODE_OPTIONS: `--require ${join(it.directory, "hook.cjs")}` }, "version");
    expect(status).toBe(0);
    expect(JSON.parse(it.read("loaded"))).toEqual([]);
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

test("Ctrl-C lets the call in flight end and keeps what it made", async () => {
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

nightly("a second Ctrl-C leaves at once and the create is not forgotten", async () => {
    const it = project({ "index.js": SLOW });
    const { status } = await it.interrupted(UP, async (command) => {
        command.signal();
        await command.said("cancelling");
        command.signal();
    });
    expect(status).not.toBe(0);
    it.write({ go: "" });
    const { output } = it.run(...UP);
    expect(output).toContain("its outcome is unknown");
});
