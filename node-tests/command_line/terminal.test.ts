// Debuggers and questions on a terminal.
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { byDay } from "../support/night";
import { type Project, project } from "../support/project";

const UP = ["up", "--yes", "--skip-preview", "--parallel", "1", "--stack", "dev"];

/** A project with a resource whose `create` has this body. */
function asking(body: string): Project {
    return project({
        "index.js": `const pulumi = require("@pulumi/pulumi");
const fs = require("node:fs");
const readline = require("node:readline/promises");
class Asking {
    async create(props) {
        ${body}
    }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name) { super(new Asking(), name, { color: "teal", answer: undefined }); }
}
new Thing("asked");`,
    });
}

test("a breakpoint on a terminal has the terminal", async () => {
    const it = asking(`const shade = { color: props.color };
        debugger;
        return { id: "made", outs: { ...props, answer: shade.color } };`);
    const terminal = it.watchedOnTerminal(UP, ["inspect", "--port=0"]);
    expect(await terminal.says("Break on start in")).toContain("Debugger attached");
    await terminal.says("debug> ");
    terminal.types("cont\n");
    await terminal.says("break in index.js");
    await terminal.says("debug> ");
    terminal.types("exec shade.color = 'mauve'\n");
    await terminal.says("'mauve'");
    terminal.types("exec props\n");
    await terminal.says("color: 'teal'");
    terminal.types("cont\n");
    await terminal.says("created");
    terminal.types(".exit\n");
    await terminal.ends();
    expect(it.ok("stack", "export", "--stack", "dev")).toContain("mauve");
});

// In Node alone: the module systems, TypeScript and its compiler
test.each(
    byDay(
        [
            ["CommonJS", "{}"],
            ["an ES module", '{ "type": "module" }'],
        ],
        ([kind]) => kind === "an ES module",
    ),
)("a breakpoint in TypeScript stands in lines: %s", async (_kind, manifest) => {
    const it = project({
        "package.json": manifest,
        "index.ts": `import * as pulumi from "@pulumi/pulumi";
class Provider {
    async create(props: any) {
        const before: string = "before the break";
        debugger;
        return { id: "made", outs: { ...props, before } };
    }
}
class Thing extends pulumi.dynamic.Resource { constructor(name: string) { super(new Provider(), name, {}); } }
new Thing("thing");`,
    });
    const terminal = it.watchedOnTerminal(UP, ["inspect", "--port=0"]);
    // The debugger may prompt before the process stands.
    await terminal.says("Break on start in ");
    await terminal.says("debug> ");
    terminal.types("cont\n");
    await terminal.says("break in ");
    const shown = await terminal.says("debug> ");
    expect(shown).toMatch(
        /\n\s+\d+\s+const before = "before the break";\s*\n>\s*\d+\s+debugger;\s*\n\s+\d+\s+return \{/,
    );
    terminal.types("cont\n");
    await terminal.says("created");
    terminal.types(".exit\n");
    await terminal.ends();
});

// In Node alone: the module systems, TypeScript and its compiler
test("the command is found from wherever the package is installed", () => {
    const it = project({});
    const file = createRequire(join(it.directory, "index.js")).resolve("maloko/command");
    expect(it.spawned([process.execPath, file, "stack", "ls"]).stdout).toContain("dev");
});

test("a question of a provider is seen and answered", async () => {
    const it = asking(`process.stdout.write("Why? ");
        const bytes = Buffer.alloc(100);
        const why = bytes.toString("utf8", 0, fs.readSync(0, bytes)).trim();
        process.stdout.write("Which color, ");
        const asked = readline.createInterface({ input: process.stdin, output: process.stdout });
        const name = await asked.question("and for whom? ");
        asked.close();
        while (!fs.existsSync("gate")) await new Promise((resolve) => setTimeout(resolve, 10));
        return { id: "made", outs: { ...props, answer: name + ", " + why } };`);
    const terminal = it.watchedOnTerminal(UP);
    await terminal.says("Why? ");
    terminal.types("because\n");
    await terminal.says("Which color, and for whom? ");
    const asked = terminal.raw.length;
    terminal.types("Ada\n");
    await terminal.until(
        () => terminal.raw.length > asked && /asked +creating \(/.test(terminal.view),
        "the live view",
    );
    it.write({ gate: "" });
    await terminal.ends();
    expect(it.ok("stack", "export", "--stack", "dev")).toContain("Ada, because");
});

test("a question of the program is seen and answered", async () => {
    const it = project({
        "index.js": `const fs = require("node:fs");
process.stdout.write("What is your name? ");
const bytes = Buffer.alloc(100);
exports.name = bytes.toString("utf8", 0, fs.readSync(0, bytes)).trim();`,
    });
    const terminal = it.watchedOnTerminal(UP);
    await terminal.says("What is your name? ");
    terminal.types("Ada\n");
    await terminal.ends();
    expect(it.ok("stack", "output", "name", "--stack", "dev")).toContain("Ada");
});

test("ctrl c at a question cancels the run and says so", async () => {
    const it = project({
        "index.js": `const readline = require("node:readline/promises");
module.exports = async () => {
    const asked = readline.createInterface({ input: process.stdin, output: process.stdout, terminal: false });
    return { name: await asked.question("What is your name? ") };
};`,
    });
    const terminal = it.watchedOnTerminal(UP);
    await terminal.says("What is your name? ");
    terminal.types("\x03");
    await terminal.says("cancelling: nothing new begins");
    await terminal.ends(8);
});

test("off a terminal a question finds no input", () => {
    const it = project({
        "index.js": `const bytes = Buffer.alloc(100);
exports.read = require("node:fs").readSync(0, bytes);`,
    });
    it.ok(...UP);
    expect(it.ok("stack", "output", "read", "--stack", "dev").trim()).toBe("0");
});
