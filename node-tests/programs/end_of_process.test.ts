// What a program does when its process has nothing left to do: `beforeExit`, as packages use it to make what belongs to others.
import { expect, test } from "vitest";
import { byDay } from "../support/night";
import { project } from "../support/project";

const BODY = `
class Provider { async create(inputs) { return { id: "made", outs: inputs }; } }
class Thing extends pulumi.dynamic.Resource { constructor(name) { super(new Provider(), name, {}); } }
new Thing("bucket");
const rounds = [
    () => new Thing("at once"),
    async () => { await readFile("Pulumi.yaml"); new Thing("after reading"); },
    () => { setImmediate(() => {}); },
    () => { pbkdf2("", "", 1, 8, "sha1", () => {}); },
    () => { setTimeout(() => new Thing("in a timer"), 1); },
];
if (process.env.AT_ONCE === undefined) {
    const late = () => rounds.shift()?.();
    process.on("beforeExit", late);
} else {
    for (const round of rounds) { round(); }
}
process.once("beforeExit", () => new Thing("once"));
process.prependOnceListener("beforeExit", () => new Thing("prepended once"));
process.prependListener("exit", () => {});
const never = () => new Thing("never");
process.once("beforeExit", never);
process.addListener("beforeExit", never);
process.off("beforeExit", never);
process.off("beforeExit", never);
console.log("listening", process.listeners("beforeExit").includes(never), process.listenerCount("beforeExit", never));
`;
const NAMES = ["after reading", "at once", "bucket", "in a timer", "once", "prepended once"];

const COMMONJS = `const pulumi = require("@pulumi/pulumi");
const { readFile } = require("node:fs/promises");
const { pbkdf2 } = require("node:crypto");`;
const MODULE = COMMONJS.replaceAll(/const (.*) = require\((.*)\);/g, "import $1 from $2;").replace(
    "import pulumi",
    "import * as pulumi",
);

const KINDS: [kind: string, files: Record<string, string>][] = [
    ["CommonJS", { "index.js": COMMONJS + BODY }],
    ["an ES module", { "index.mjs": MODULE + BODY, "package.json": '{ "main": "index.mjs" }' }],
    ["TypeScript", { "index.ts": `// @ts-nocheck\n${MODULE}${BODY}` }],
    [
        "TypeScript that is an ES module",
        { "index.ts": `// @ts-nocheck\n${MODULE}${BODY}`, "package.json": '{ "type": "module" }' },
    ],
];

// In Node alone: `beforeExit` is Node's
test.each(
    byDay(KINDS, (_row, place) => place === 3),
)("what a handler of beforeExit registers is part of the program: %s", (_kind, files) => {
    const it = project(files);
    expect(it.up()).toContain("listening false 0");
    expect(it.resources().sort()).toEqual(NAMES);
    // Whether it is registered at once or late is the same to the state: nothing is made anew, nothing goes.
    const flags = ["--yes", "--skip-preview", "--expect-no-changes", "--stack", "dev"];
    it.ok("up", ...flags);
    expect(it.runWith({ AT_ONCE: "1" }, "up", ...flags).status).toBe(0);
});

// In Node alone: `beforeExit` is asked again, round after round, which `atexit` is not
test("handlers are asked again only after a round that began something", () => {
    // What runs in the round's own turn of the loop was taken for something begun in every later one: a run span without end.
    const it = project({
        "index.js": `let calls = 0;
process.on("beforeExit", () => {
    if (++calls === 1) { setImmediate(() => {}); }
    if (calls === 10) { throw new Error("asked ten times"); }
});
process.on("exit", () => console.log("asked", calls));`,
    });
    expect(it.up()).toMatch(/asked [23]\n/);
});

// In Node alone: `beforeExit` is Node's
test("an error in a handler of beforeExit fails the program", () => {
    const it = project({
        "index.js": `process.once("beforeExit", () => { throw new RangeError("at the end"); });`,
    });
    const { status, output } = it.run("up", "--yes", "--skip-preview", "--stack", "dev");
    expect(output).toContain("RangeError: at the end");
    expect(status).toBe(1);
});

// In Node alone: `beforeExit` is Node's
test("a handler of before the program belongs to no program", () => {
    const it = project({
        "before.cjs": `process.on("beforeExit", () => console.log("a monitor:", require("@pulumi/pulumi").runtime.hasMonitor()));`,
        "index.js": "",
    });
    const { status, output } = it.runWith(
        { NODE_OPTIONS: "--require ./before.cjs" },
        ...["up", "--yes", "--skip-preview", "--stack", "dev"],
    );
    expect([status, output]).toEqual([0, expect.stringContaining("a monitor: false")]);
});
