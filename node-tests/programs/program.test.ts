import { realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { project } from "../support/project";

const nightly = atNight(test);

const RESOURCE = `
class Provider { async create(inputs) { return { id: "made", outs: { ...inputs, out: "o" } }; } }
class Thing extends pulumi.dynamic.Resource {
    constructor(name, props) { super(new Provider(), name, { out: undefined, ...props }); }
}`;
// With a `delete`: without one there is nothing to call, and its provider need not be there.
const TYPED = RESOURCE.replace(
    "async create(inputs)",
    "async delete() {}\n    async create(inputs: any): Promise<any>",
).replace(
    "constructor(name, props)",
    "public readonly out!: pulumi.Output<string>;\n    constructor(name: string, props: any)",
);

// In Node alone: the module systems, TypeScript and its compiler
nightly("a TypeScript program without any configuration keeps its declared outputs", () => {
    const it = project({
        "index.ts": `import * as pulumi from "@pulumi/pulumi";${TYPED}\nexport const out = new Thing("a", { n: 1 }).out;`,
    });
    it.up();
    expect(it.outputs()).toEqual({ out: "o" });
});

// In Node alone: the module systems, TypeScript and its compiler
test("a tsconfig that targets ES2022 does not lose declared outputs", () => {
    const it = project({
        "index.ts": `import * as pulumi from "@pulumi/pulumi";${TYPED}\nexport const out = new Thing("a", { n: 1 }).out;`,
        "tsconfig.json": `{ "compilerOptions": { "target": "es2022", "module": "commonjs" }, /* files */ "files": ["index.ts"], }`,
    });
    it.up();
    expect(it.outputs()).toEqual({ out: "o" });
});

// In Node alone: the module systems, TypeScript and its compiler
test("a CommonJS program's exports are the outputs, also of a function", () => {
    const it = project({
        "index.js": `const pulumi = require("@pulumi/pulumi");${RESOURCE}
module.exports = async () => { const it = new Thing("a", {}); return { out: it.out, n: 1 }; };`,
    });
    it.up();
    expect(it.outputs()).toEqual({ out: "o", n: 1 });
});

// In Node alone: the module systems, TypeScript and its compiler
test("an ES module program with top-level await", () => {
    const it = project({
        "package.json": `{ "type": "module", "main": "main.mjs" }`,
        "main.mjs": `import * as pulumi from "@pulumi/pulumi";${RESOURCE}
await new Promise((resolve) => setTimeout(resolve, 5));
export const out = new Thing("a", {}).out;`,
    });
    it.up();
    expect(it.outputs()).toEqual({ out: "o" });
});

// In Node alone: the module systems, TypeScript and its compiler
test("a TypeScript program that is an ES module, with a default export", () => {
    const it = project({
        "package.json": `{ "type": "module" }`,
        "index.ts": `import * as pulumi from "@pulumi/pulumi";\nimport { n } from "./other.js";${TYPED}
export default { n, out: new Thing("a", {}).out };`,
        "other.ts": "export const n: number = await Promise.resolve(2);",
    });
    it.up();
    expect(it.outputs()).toEqual({ n: 2, out: "o" });
});

nightly("main names a directory or a file", () => {
    const it = project({
        "Pulumi.yaml": "name: test\nruntime: nodejs\nmain: src/\n",
        "src/index.ts": "export const where = process.cwd().split('/').pop();",
    });
    it.up();
    expect(it.outputs()).toEqual({ where: "src" });
});

// In Node alone: the module systems, TypeScript and its compiler
nightly.each([
    ["main", "bin/index.js"],
    ["exports", "./bin/index.js"],
])("the working directory is the project's whatever package.json names: %s", (member, file) => {
    const it = project({
        "package.json": JSON.stringify({ [member]: file }),
        "bin/index.js": "exports.where = process.cwd(); exports.argument = process.argv[1];",
    });
    it.up();
    const directory = realpathSync(it.directory);
    expect(it.outputs()).toEqual({ where: directory, argument: join(directory, "bin/index.js") });
});

// In Node alone: the module systems, TypeScript and its compiler
nightly("main is looked for in the nearest package.json above", () => {
    const it = project({
        "package.json": JSON.stringify({ main: "lib/program.ts" }),
        "lib/program.ts": "export const where = process.cwd().split('/').pop();",
        "infra/Pulumi.yaml": "name: test\nruntime: nodejs\n",
        "Pulumi.yaml": "name: test\nruntime: nodejs\nmain: deploy/\n",
        "deploy/README.md": "The program is elsewhere.",
    });
    it.up();
    expect(it.outputs()).toEqual({ where: "deploy" });
    if (!NIGHT) {
        return;
    }
    const infra = (...args: string[]) => it.ok("-C", join(it.directory, "infra"), ...args);
    infra("stack", "init", "dev");
    infra("up", "--yes", "--skip-preview");
    expect(JSON.parse(infra("stack", "output", "--json"))).toEqual({ where: "infra" });
});

// In Node alone: the module systems, TypeScript and its compiler
test("a function that a CommonJS module exports is called through its namespace", () => {
    const it = project({
        "greet.js": "module.exports = (name) => 'hello ' + name; module.exports.extra = 1;",
        "shared.ts": 'import * as greet from "./greet";\nexport { greet };\nexport * as again from "./greet";',
        "index.ts": `import * as greet from "./greet"; import other, { extra } from "./greet"; import * as fs from "fs";
import { greet as shared, again } from "./shared";
export const told = (greet as any)("you"); export const defaulted = (other as any)("them"); export const e = extra;
export const members = [(greet as any).extra, typeof fs.existsSync, (shared as any).default("all"), (again as any).extra];
function fail(): never { throw new Error("here"); }
try { fail(); } catch (error) { console.log((error as Error).stack); }`,
        "greet.d.ts": "declare const greet: any; export = greet;",
        "tsconfig.json": '{ "compilerOptions": { "module": "commonjs", "target": "es2020" } }',
    });
    expect(it.up()).toMatch(/index\.ts:5:32/);
    expect(it.outputs()).toEqual({
        told: "hello you",
        defaulted: "hello them",
        e: 1,
        members: [1, "function", "hello all", 1],
    });
});

test("the two passes of up each run the program afresh", () => {
    const it = project({
        "state.js": "exports.runs = [];",
        "index.js": "const { runs } = require('./state'); runs.push(1); exports.runs = runs.length;",
    });
    it.ok("up", "--yes", "--stack", "dev");
    expect(it.outputs()).toEqual({ runs: 1 });
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("resources that are made in timers are registered", () => {
    const it = project({
        "index.ts": `import * as pulumi from "@pulumi/pulumi";${TYPED}
setTimeout(() => { new Thing("later", {}); setTimeout(() => new Thing("latest", {}), 10); }, 10);`,
    });
    it.up();
    expect(it.resources().sort()).toEqual(["later", "latest"]);
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
test("what provider calls leave open does not keep a program from ending", () => {
    const it = project({
        "index.ts": `import * as pulumi from "@pulumi/pulumi"; import * as net from "net";
class Provider { async create() {
    const server = net.createServer((it) => void it.unref()).listen(0);
    await new Promise(resolve => server.once("listening", resolve));
    const socket = net.connect((server.address() as net.AddressInfo).port);
    await new Promise(resolve => socket.once("connect", resolve));
    setInterval(() => {}, 1000);
    return { id: "made", outs: {} };
} }
new (class extends pulumi.dynamic.Resource { constructor() { super(new Provider(), "a", {}); } })();`,
    });
    it.up();
    expect(it.resources()).toEqual(["a"]);
});

test("a removed resource is deleted by an unexported class of the entry file", () => {
    const source = (body: string) => `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
class Hidden {
    constructor(readonly label: string) {}
    async create() { return { id: "made", outs: {} }; }
    async delete(id: string) { fs.appendFileSync("../deleted.txt", this.label + " " + id + "\\n"); }
}
const literal = { async create() { return { id: "lit", outs: {} }; }, async delete(id: string) { fs.appendFileSync("../deleted.txt", "literal " + id + "\\n"); } };
class Thing extends pulumi.dynamic.Resource { constructor(name: string, p: any) { super(p, name, {}); } }
${body}`;
    const files = (body: string) => ({
        "Pulumi.yaml": "name: test\nruntime: nodejs\nmain: src\n",
        "src/index.ts": source(body),
    });
    const it = project(files(`new Thing("a", new Hidden("first")); new Thing("b", literal);`));
    it.up();
    it.write(files(""));
    it.up();
    expect(it.read("deleted.txt").trim().split("\n").sort()).toEqual(["first made", "literal lit"]);
    expect(it.resources()).toEqual([]);
});

nightly("resource and class removed at once is an error and loses nothing", () => {
    const it = project({ "index.ts": `import * as pulumi from "@pulumi/pulumi";${TYPED}\nnew Thing("a", {});` });
    it.up();
    it.write({ "index.ts": "export const nothing = 1;" });
    const { status, output } = it.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(output).toContain("::a");
    expect(output).toContain("index.ts:Provider");
    expect(it.resources()).toEqual(["a"]);
});

// In Node alone: the module systems, TypeScript and its compiler
test("typecheck: true refuses a program whose types are wrong", () => {
    const files = { "index.ts": "export const n: number = 'text';", "Pulumi.yaml": "name: test\nruntime: nodejs\n" };
    const it = project(files);
    // By day it is known from all the other programs that nobody asks for their types.
    if (NIGHT) {
        it.up();
    }
    it.write({ "Pulumi.yaml": "name: test\nruntime:\n  name: nodejs\n  options:\n    typecheck: true\n" });
    const { status, output } = it.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(output).toContain("index.ts(1,14): error TS2322");
});

// In Node alone: the module systems, TypeScript and its compiler
nightly("the types of a program are checked by a TypeScript that exports nothing but itself, as version 7", () => {
    const manifest = {
        name: "typescript",
        type: "module",
        bin: { tsc: "./bin/tsc" },
        exports: { "./package.json": "./package.json" },
    };
    const it = project({
        "Pulumi.yaml": "name: test\nmain: app\nruntime:\n  name: nodejs\n  options:\n    typecheck: true\n",
        "app/index.ts": "export const n = 1;",
        "app/node_modules/typescript/package.json": JSON.stringify(manifest),
        "app/node_modules/typescript/bin/tsc":
            "console.log('checked with', ...process.argv.slice(2));\nprocess.exitCode = 2;\n",
    });
    const { status, output } = it.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(output).toMatch(/checked with --noEmit .*index\.ts/);
});

// In Node alone: the module systems, TypeScript and its compiler
nightly("errors of a program show the lines of its source", () => {
    const it = project({
        "index.ts":
            "\ninterface Padding { a: number }\n\nfunction inner(): never {\n    throw new Error('boom');\n}\ninner();\n",
    });
    const { status, output } = it.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(output).toContain("boom");
    expect(output).toMatch(/index\.ts:5:11/);
    expect(output).not.toContain("node:internal");
});

// In Node alone: anything can be thrown, rejected and left to nobody; timers keep a process alive
nightly("a program that waits for ever says so", () => {
    const it = project({ "index.ts": "export = new Promise(() => {});" });
    const { status, output } = it.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(output).toContain("nothing will ever resolve");
});

test("a missing program and a missing SDK are named", () => {
    if (NIGHT) {
        const empty = project({});
        expect(empty.run("up", "--yes").output).toContain("no program was found");
    }
    const broken = project({ "index.ts": "import { x } from './missing';\nexport const y = x;" });
    const { status, output } = broken.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(output).toContain("./missing");
});

// In Node alone: worker threads, and copies of the SDK that npm may install twice
nightly("two copies of the SDK in one tree share the run", () => {
    const it = project({
        "index.js": `const pulumi = require("@pulumi/pulumi"); const lib = require("./lib");${RESOURCE}
const mine = new Thing("mine", {}); const theirs = lib.make(mine.out);
exports.both = pulumi.all([mine.out, theirs.got]).apply(([a, b]) => a + b);`,
        "lib/index.js": `const pulumi = require("@pulumi/pulumi");
const provider = { async create(inputs) { return { id: "made", outs: { got: "from " + inputs.from } }; } };
exports.make = (from) => new (class Theirs extends pulumi.dynamic.Resource { constructor() { super(provider, "theirs", { from, got: undefined }); } })();`,
    });
    it.copySdkInto("lib");
    it.up();
    expect(it.outputs()).toEqual({ both: "ofrom o" });
});
