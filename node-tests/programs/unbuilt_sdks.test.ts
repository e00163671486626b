// SDKs that the official generator makes for a project: TypeScript that nobody built, without a `main`.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

// As that generator writes it: a class is loaded when it is first used, through what `exports` is at that time.
const SDK = {
    "sdks/sample/package.json": `{ "name": "@pulumi/sample", "version": "v1.2.3", "pulumi": { "resource": true, "name": "sample" } }`,
    "sdks/sample/index.ts": `import * as pulumi from "@pulumi/pulumi";
import * as utilities from "./utilities";
export { ThingArgs } from "./thing";
export type Thing = import("./thing").Thing;
export const Thing: typeof import("./thing").Thing = null as any;
utilities.lazyLoad(exports, ["Thing"], () => require("./thing"));
export * from "./answers";
import * as nested from "./nested";
export { nested };
export const loadedBefore = utilities.loaded.length;
pulumi.log.debug("read");`,
    "sdks/sample/utilities.ts": `export const loaded: string[] = [];
export function getVersion(): string { return require("./package.json").version; }
export function lazyLoad(exports: any, props: string[], load: any) {
    for (const name of props) {
        Object.defineProperty(exports, name, { enumerable: true, get: () => load()[name] });
    }
}`,
    "sdks/sample/thing.ts": `import * as pulumi from "@pulumi/pulumi";
import * as utilities from "./utilities";
utilities.loaded.push("thing");
export interface ThingArgs { colour: string; }
export class Thing extends pulumi.ComponentResource {
    public readonly colour!: pulumi.Output<string>;
    constructor(name: string, args: ThingArgs) {
        super("sample:index:Thing", name, {}, {});
        this.colour = pulumi.output(args.colour + " " + utilities.getVersion());
    }
}`,
    "sdks/sample/answers.ts": `export enum Answer { Yes = "yes" }
export function ask(): Answer { return Answer.Yes; }`,
    "sdks/sample/nested/index.ts": `export const deep = "deep";`,
};

const TYPESCRIPT = `import * as sample from "@pulumi/sample";
import { Answer, ask, type ThingArgs } from "@pulumi/sample";
const args: ThingArgs = { colour: "red" };
const thing = new sample.Thing("a", args);
export const told = { colour: thing.colour, same: thing instanceof sample.Thing, answer: ask() === Answer.Yes, deep: sample.nested.deep };`;
const MODULE = TYPESCRIPT.replace(", type ThingArgs", "").replace(": ThingArgs", "");
const SCRIPT = `const sample = require("@pulumi/sample");
const lazy = sample.loadedBefore === 0;
const thing = new sample.Thing("a", { colour: "red" });
const told = { colour: thing.colour, same: thing instanceof sample.Thing, answer: sample.ask() === sample.Answer.Yes, deep: sample.nested.deep };
exports.told = lazy ? told : "read too early";`;
const IMPORTED_LATER = `module.exports = async () => {
    const sample = await import("@pulumi/sample");
    const thing = new sample.Thing("a", { colour: "red" });
    const same = sample.Thing === require("@pulumi/sample").Thing;
    return { told: { colour: thing.colour, same, answer: sample.default.ask() === "yes", deep: sample.nested.deep } };
};`;

function withSdk(files: Record<string, string>): Project {
    const it = project({ "Pulumi.yaml": "name: test\nruntime: nodejs\nmain: app\n", ...SDK, ...files });
    mkdirSync(join(it.directory, "app", "node_modules", "@pulumi"), { recursive: true });
    // As npm links a folder.
    symlinkSync("../../../sdks/sample", join(it.directory, "app", "node_modules", "@pulumi", "sample"));
    return it;
}

// In Node alone: Python needs no build of what a generator wrote
test.each([
    ["TypeScript", { "app/index.ts": TYPESCRIPT, "app/package.json": "{}" }],
    ["JavaScript", { "app/index.js": SCRIPT, "app/package.json": "{}" }],
    ["ES modules in TypeScript", { "app/index.ts": TYPESCRIPT, "app/package.json": `{ "type": "module" }` }],
    ["ES modules", { "app/index.js": MODULE, "app/package.json": `{ "type": "module" }` }],
    ["an import() in a script", { "app/index.js": IMPORTED_LATER, "app/package.json": "{}" }],
])("programs use them: %s", (_, files) => {
    const it = withSdk(files);
    it.up();
    expect(it.outputs()).toEqual({ told: { colour: "red v1.2.3", same: true, answer: true, deep: "deep" } });
});

// In Node alone: Python needs no build of what a generator wrote
test("an error names the line of the SDK's own file", () => {
    const it = withSdk({
        "app/index.js": SCRIPT.replace('colour: "red"', "colour: undefined"),
        "app/package.json": "{}",
    });
    it.write({
        "sdks/sample/thing.ts": SDK["sdks/sample/thing.ts"].replace("args.colour +", "args.colour.trim() +"),
    });
    const { status, output } = it.run("preview", "--stack", "dev");
    expect(status).not.toBe(0);
    expect(output).toMatch(/sdks\/sample\/thing\.ts:9:\d+/);
});

// In Node alone: Python needs no build of what a generator wrote
test("a TypeScript whose compiler nobody can call is passed over; without one the way out is named", () => {
    const it = withSdk({ "app/index.js": SCRIPT, "app/package.json": "{}" });
    // What was compiled once is kept, whichever project has it.
    const unknown = { "sdks/sample/index.ts": `${SDK["sdks/sample/index.ts"]}\n// ${it.directory}` };
    it.write({ ...unknown, "sdks/sample/node_modules/typescript/index.js": `exports.version = "7.0.0";` });
    it.up();
    it.write({
        "sdks/sample/index.ts": `${unknown["sdks/sample/index.ts"]} again`,
        "sdks/sample/node_modules/@pulumi/pulumi/index.js": "",
        "sdks/sample/node_modules/@pulumi/pulumi/typescript-shim.js": "throw new Error();",
    });
    const { status, output } = it.run("up", "--yes", "--skip-preview", "--stack", "dev");
    expect(status).not.toBe(0);
    expect(output).toContain(
        "sdks/sample is the SDK of a package that was not built, and no TypeScript is there to read it",
    );
    expect(output).toContain("npm install --save-dev typescript@5");
});
