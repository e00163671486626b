// Code that takes away what other code of its process needs: the run ends, by itself, and never with success that is none.
import { expect, test } from "vitest";
import { project } from "../support/project";

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const damage = () => { DAMAGE };
class Provider {
    async create(inputs) { if (process.env.WHERE === "create") { damage(); } return { id: "made", outs: inputs }; }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name, options) { super(new Provider(), name, { name }, options); }
}
const first = new Thing("first");
const second = new Thing("second", { dependsOn: first });
if (process.env.WHERE === "program") { damage(); }
exports.name = second.name;
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const PLACES = ["create", "program"];

test.each(PLACES)("listeners of the process that are removed are the program's own: %s", (where) => {
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

test.each([
    "delete Array.prototype.map",
    "delete Array.prototype[Symbol.iterator]",
    "Map.prototype.set = () => {}; Set.prototype.add = () => {}",
    "WeakMap.prototype.get = WeakMap.prototype.set = () => undefined",
    "delete Promise.prototype.then",
    "Promise.race = Promise.all = Promise.resolve = () => new Promise(() => {})",
    "JSON.stringify = () => ''; JSON.parse = () => 1",
    "globalThis.Promise = globalThis.Map = globalThis.AbortController = undefined",
    "globalThis.setTimeout = globalThis.setImmediate = globalThis.queueMicrotask = undefined",
    "process.nextTick = () => {}",
    "process.emit = () => false",
    "process._events = {}",
])("what others need is taken away, and the run ends: %s", (damage) => {
    const it = project({ "index.js": PROGRAM.replace("DAMAGE", () => damage) });
    const { status, output } = it.runWith({ WHERE: "create" }, ...UP);
    expect(status, output).not.toBeNull();
    if (status === 0) {
        expect(it.resources()).toEqual(["first", "second"]);
        expect(it.outputs()).toEqual({ name: "second" });
    } else {
        expect(output).toMatch(/error/i);
    }
    it.write({ "index.js": PROGRAM });
    it.up();
    expect(it.outputs()).toEqual({ name: "second" });
});
