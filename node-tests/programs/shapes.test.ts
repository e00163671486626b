// Programs that are long or deep: no recursion limit is met.
import { expect, test } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { project } from "../support/project";

const nightly = atNight(test);

const [MANY, DEPTH] = NIGHT ? [1500, 500] : [300, 100];

const ITEM = `
const pulumi = require("@pulumi/pulumi");
class Provider { async create(inputs) { return { id: String(inputs.n), outs: { ...inputs } }; } }
class Item extends pulumi.dynamic.Resource {
    constructor(name, props, opts) { super(new Provider(), name, props, opts); }
}
`;

nightly("a chain of many resources", () => {
    const it = project({
        "index.js": `${ITEM}
let last = new Item("item-0", { n: 0 });
for (let n = 1; n < ${MANY}; n++) last = new Item("item-" + n, { n, after: last.n });
exports.last = last.n;`,
    });
    it.up();
    expect(it.outputs()).toEqual({ last: MANY - 1 });
    expect(it.up()).toContain(`${(MANY + 1).toLocaleString("en")} unchanged`);
    it.run("destroy", "--yes", "--skip-preview");
});

test("a circle of dependencies is an error", () => {
    const it = project({
        "index.js": `${ITEM}
let link;
const waiting = new Promise((resolve) => { link = resolve; });
const first = new Item("first", { n: 1 }, { dependsOn: pulumi.output(waiting) });
const second = new Item("second", { n: 2 }, { dependsOn: [first] });
link([second]);`,
    });
    const { status, output } = it.run("up", "--yes", "--skip-preview", "--stack", "dev");
    expect(status).not.toBe(0);
    expect(output).toContain("these resources wait for each other, so that neither can be registered");
    expect(output).toContain("::pulumi-nodejs:dynamic:Resource::first' and 'urn:");
    expect(output).toContain("::pulumi-nodejs:dynamic:Resource::second'");
});

test("a program that waits for what never comes is told of it", () => {
    const it = project({ "index.js": `${ITEM}\nnew Item("late", { n: new Promise(() => {}) });` });
    const { status, output } = it.run("preview", "--stack", "dev");
    expect(status).not.toBe(0);
    expect(output).toContain("a promise or output that nothing will ever resolve");
    expect(output).toContain("* late [pulumi-nodejs:dynamic:Resource]");
});

test("an input of a component that its own child resolves is told", () => {
    const it = project({
        "index.js": `${ITEM}
class Box extends pulumi.ComponentResource {
    constructor(name, n) {
        super("demo:index:Box", name, { n });
        this.child = new Item("child", { n: 1 }, { parent: this });
    }
}
let resolve;
const n = new Promise((it) => { resolve = it; });
new Box("box", n).child.id.apply(resolve);`,
    });
    const { status, output } = it.run("preview", "--stack", "dev");
    expect(status).not.toBe(0);
    expect(output).toContain("a promise or output that nothing will ever resolve");
    expect(output).toContain("* box [demo:index:Box]");
    expect(output).toContain("* child [pulumi-nodejs:dynamic:Resource]");
});

test("components nested deeply", () => {
    const it = project({
        "index.js": `${ITEM}
let parent;
for (let depth = 0; depth < ${DEPTH}; depth++) {
    parent = new pulumi.ComponentResource("deep:index:Level", "level-" + depth, {}, { parent });
}
new Item("item", { n: 1 }, { parent });`,
    });
    it.up();
    if (NIGHT) {
        expect(it.up()).toContain(`${DEPTH + 2} unchanged`);
        it.run("destroy", "--yes", "--skip-preview");
    }
});
