// Code that takes away what other code of its process needs: the run ends, by itself, and never with success that is none.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { byDay, NIGHT } from "../support/night";
import { type Outcome, project } from "../support/project";

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const { setTimeout } = require("node:timers");
const where = process.env.WHERE;
const broken = () => { throw new Error("broken by the test"); };
let done = false;
const damage = () => { if (!done) { done = true; DAMAGE; } };
class Provider {
    async create(inputs) {
        if (where === "create") { damage(); }
        if (where === "create after an await") { await new Promise((resolve) => setTimeout(resolve, 1)); damage(); }
        return { id: "made", outs: inputs };
    }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name, options) { super(new Provider(), name, { name }, options); }
}
const first = new Thing("first");
const second = new Thing("second", { dependsOn: first });
if (where === "program") { damage(); }
exports.name = second.name;
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const PLACES = ["create", "program"];
const DOCUMENT = join(import.meta.dirname, "..", "..", "docs", "internals", "hostile-providers.md");

// In Node alone: listeners of the process and prototypes that any code can take away are Node's
test.each(
    byDay(PLACES, (where) => where === "create"),
)("listeners of the process that are removed are the program's own: %s", (where) => {
    const it = project({
        "index.js": PROGRAM.replace(
            "DAMAGE",
            `process.on("exit", () => console.log("never"));
            for (const event of ["SIGINT", "beforeExit"]) {
                for (const listener of process.listeners(event)) { process.off(event, listener); }
            }
            process.removeAllListeners();`,
        ),
    });
    const { status, output } = it.runWith({ WHERE: where }, ...UP);
    expect(output).not.toContain("never");
    expect(status, output).toBe(0);
    expect(it.resources()).toEqual(["first", "second"]);
});

/** What does not matter: maloko keeps what it needs of it, and the SDK needs nothing of it after this. */
const KEPT = [
    "Map.prototype.set = () => {}; Set.prototype.add = () => {}",
    "WeakMap.prototype.get = WeakMap.prototype.set = () => undefined",
    "JSON.stringify = () => ''; JSON.parse = () => 1",
    "Array.prototype.toJSON = broken",
    "Object.keys = () => []",
    "Object.defineProperty = broken",
    "Reflect.apply = Reflect.get = broken",
    "globalThis.setTimeout = globalThis.setImmediate = globalThis.queueMicrotask = undefined",
    "process.nextTick = () => {}",
    "process.on = process.off = process.once = process.exit = broken",
];

/** What the SDK, Node or the provider's own promise needs: the run fails, and its error says this. */
const TOLD: [damage: string, said: RegExp][] = [
    ["delete Array.prototype.map", /needs.*: Array\.prototype\.map/],
    ["delete Array.prototype[Symbol.iterator]", /Array\.prototype\[Symbol\.iterator\][\s\S]*\* second/],
    ["Array.prototype.then = () => {}", /\* second[\s\S]*Array\.prototype\.then/],
    ["delete Promise.prototype.then", /needs.*: Promise\.prototype\.then/],
    ["Promise.prototype.then = () => new Promise(() => {})", /\* second[\s\S]*Promise\.prototype\.then/],
    [
        "Promise.race = Promise.all = Promise.resolve = () => new Promise(() => {})",
        /\* second[\s\S]*Promise\.all, Promise\.race, Promise\.resolve/,
    ],
    ["globalThis.Promise = globalThis.Map = globalThis.AbortController = undefined", /: Map, Promise[\s\S]*\* second/],
    ["Object.assign = broken", /broken by the test/],
    ["Map.prototype.get = broken", /broken by the test/],
    ["Object.prototype.then = () => {}", /first failed to create.*`?then`?.*Object\.prototype\.then/],
    ["Object.prototype.then = broken", /first failed to create.*broken by the test/],
    ["Object.prototype.toJSON = () => ({})", /Object\.prototype\.toJSON[\s\S]*\* second/],
    ["Object.prototype.get = () => 1", /Object\.prototype\.get[\s\S]*\* second/],
    ["Object.freeze(process)", /Cannot assign to read only property/],
    ["process.emit = () => false", /took from Node what its end depends on/],
    ["process._events = {}", /took from Node what its end depends on/],
];

/** What Node itself needs, which ends the process in its own way. */
const FATAL = ["process.emit = broken", "Function.prototype.call = Function.prototype.apply = broken"];

/** What is taken away at other moments. */
const ELSEWHERE: [where: string, damage: string, said: RegExp][] = [
    ["create after an await", "Object.prototype.then = () => {}", /first failed to create.*Object\.prototype\.then/],
    ["program", "Object.prototype.then = () => {}", /\* first[\s\S]*Object\.prototype\.then/],
    ["program", "Promise.prototype.then = () => new Promise(() => {})", /\* first[\s\S]*Promise\.prototype\.then/],
];

/** Runs the program with the damage, and gives how it ended; one that does not end by itself is killed. */
function damaged(damage: string, where: string, judge: (outcome: Outcome) => void): void {
    const it = project({ "index.js": PROGRAM.replace("DAMAGE", () => damage) });
    const outcome = it.runWith({ WHERE: where }, ...UP);
    expect(outcome.status, `killed, for it hung:\n${outcome.output}`).not.toBeNull();
    judge(outcome);
    if (outcome.status !== 0 && where !== "program") {
        // What was made is there, or is known to be in doubt, or its method has failed.
        const { deployment } = JSON.parse(it.ok("stack", "export", "--stack", "dev"));
        const rows = [...(deployment.resources ?? []), ...(deployment.pending_operations ?? [])];
        const isRecorded = JSON.stringify(rows).includes("::first");
        expect(isRecorded || outcome.output.includes("create raised"), outcome.output).toBe(true);
    }
    // By day only a run that failed is gone on from.
    if (outcome.status === 0 && !NIGHT) {
        return;
    }
    it.write({ "index.js": PROGRAM });
    it.up();
    expect(it.outputs()).toEqual({ name: "second" });
}

test.each(byDay(KEPT, (_row, place) => place === 7))("what others need is taken away and kept: %s", (damage) => {
    damaged(damage, "create", ({ status, output }) => expect(status, output).toBe(0));
});

// By day every ninth: each costs four commands.
test.each(
    byDay(TOLD, (_row, place) => place % 9 === 0),
)("what others need is taken away and the run says so: %s", (damage, said) => {
    damaged(damage, "create", ({ status, output }) => {
        expect(status, output).toBe(1);
        expect(output).toMatch(said);
    });
});

// In Node alone: listeners of the process and prototypes that any code can take away are Node's
test.each(byDay(FATAL, (_row, place) => place === 0))("what Node needs is taken away, and it ends: %s", (damage) => {
    damaged(damage, "create", ({ status, output }) => expect(status, output).not.toBe(0));
});

// In Node alone: listeners of the process and prototypes that any code can take away are Node's
test.each(
    byDay(ELSEWHERE, (_row, place) => place === 0),
)("what others need is taken away elsewhere: %s: %s", (where, damage, said) => {
    damaged(damage, where, ({ status, output }) => {
        expect(status, output).toBe(1);
        expect(output).toMatch(said);
    });
});

// In Node alone: listeners of the process and prototypes that any code can take away are Node's
test("the document has a row for all that is taken away", () => {
    const document = readFileSync(DOCUMENT, "utf8");
    for (const damage of [...KEPT, ...TOLD.map(([it]) => it), ...FATAL]) {
        expect(document).toContain(`| \`${damage}\` |`);
    }
});
