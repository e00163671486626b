// What providers import is written by its name into an export for Pulumi, however it is imported.
import { expect, test } from "vitest";
import { byDay } from "../support/night";
import { project } from "../support/project";

const LIBRARY = `
import text from "ms";
export { text };
`;
const TSCONFIG = '{ "compilerOptions": { "esModuleInterop": true, "module": "commonjs", "target": "es2020" } }';

function codeIn(exported: string): string {
    const { deployment } = JSON.parse(exported) as {
        deployment: { resources: { inputs?: { __provider?: string } }[] };
    };
    return deployment.resources.flatMap(({ inputs }) => inputs?.__provider ?? []).join();
}

const FORMS = [
    ['import ms = require("ms");', "ms(60000)"],
    ['import * as ms from "ms";', "(ms as any)(60000)"],
    ['import ms from "ms";', "ms(60000)"],
    ['const ms = require("ms");', "ms(60000)"],
    ['import { text } from "./library";', "text(60000)"],
];

// In Node alone: the module systems, TypeScript and its compiler
test.each(byDay(FORMS, (_row, place) => place === 4))("a module is written by its name: %s", (imported, used) => {
    const it = project({
        "index.ts": `import * as pulumi from "@pulumi/pulumi";
${imported}
const provider: pulumi.dynamic.ResourceProvider = {
    async create(inputs: any) { return { id: "made", outs: { text: ${used} } }; },
};
class Thing extends pulumi.dynamic.Resource {
    declare readonly text: pulumi.Output<string>;
    constructor(name: string) { super(provider, name, { text: undefined }); }
}
export const said = new Thing("thing").text;`,
        "library.ts": LIBRARY,
        "tsconfig.json": TSCONFIG,
    });
    it.up();
    expect(it.outputs()).toEqual({ said: "1m" });
    const code = codeIn(it.ok("stack", "export", "--for-pulumi", "--stack", "dev"));
    expect(code).toContain('require("ms/index.js")');
    expect(code.length).toBeLessThan(20_000);
});

// In Node alone: Node has two kinds of modules, TypeScript and its paths; Python has one kind
test("classes are written also where the project has no compiler of TypeScript, and the SDK takes its old one", () => {
    const it = project({
        "index.ts": `import * as pulumi from "@pulumi/pulumi";
import * as ms from "ms";
class Base { async create(inputs: any) { return { id: "made", outs: { ...inputs, text: (ms as any)(60000) } }; } }
const Named = class extends Base {};
class Thing extends pulumi.dynamic.Resource {}
new Thing(new Base(), "base", { text: undefined });
new Thing(new Named(), "named", { text: undefined });`,
        "without.cjs": `const Module = require("node:module");
const { _resolveFilename } = Module;
Module._resolveFilename = function (name, ...rest) {
    if (name === "typescript") { throw Object.assign(new Error("not installed"), { code: "MODULE_NOT_FOUND" }); }
    return _resolveFilename.call(this, name, ...rest);
};`,
    });
    it.up();
    const asked = ["stack", "export", "--for-pulumi", "--stack", "dev"];
    const { status, stdout, stderr } = it.runWith({ NODE_OPTIONS: "--require ./without.cjs" }, ...asked);
    expect([status, stderr]).toEqual([0, ""]);
    expect(codeIn(stdout)).toContain('require("ms/index.js")');
});
