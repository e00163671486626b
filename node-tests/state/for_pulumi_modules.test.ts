// What providers import is written by its name into an export for Pulumi, however it is imported.
import { expect, test } from "vitest";
import { project } from "../support/project";

const LIBRARY = `
import text from "ms";
export { text };
`;
const TSCONFIG = '{ "compilerOptions": { "esModuleInterop": true, "module": "commonjs", "target": "es2020" } }';

test.each([
    ['import ms = require("ms");', "ms(60000)"],
    ['import * as ms from "ms";', "(ms as any)(60000)"],
    ['import ms from "ms";', "ms(60000)"],
    ['const ms = require("ms");', "ms(60000)"],
    ['import { text } from "./library";', "text(60000)"],
])("a module is written by its name: %s", (imported, used) => {
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
    const exported = JSON.parse(it.ok("stack", "export", "--for-pulumi", "--stack", "dev")) as {
        deployment: { resources: { inputs?: { __provider?: string } }[] };
    };
    const code = exported.deployment.resources.flatMap(({ inputs }) => inputs?.__provider ?? []).join();
    expect(code).toContain('require("ms/index.js")');
    expect(code.length).toBeLessThan(20_000);
});
