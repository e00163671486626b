// What python-tests/policies asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Project } from "../support/project";

const MODULES = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");

const PACK = `const { PolicyPack } = require("@pulumi/policy");
new PolicyPack("pack-js", { policies: [
    { name: "short", description: "text is short", enforcementLevel: "advisory", validateResource: (args, report) => {
        if (args.type.endsWith("Resource") && args.props.text === "long text") report("it is long");
    } },
    { name: "fix", description: "fixes text", enforcementLevel: "remediate", remediateResource: (args) =>
        args.props.text === "fixme" ? { ...args.props, text: "ok" } : undefined },
] });
`;

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, text: string) {
        super({ create: async (inputs: { text: string }) => ({ id: name, outs: inputs }) }, name, { text });
    }
}
new Thing("a", "long text");
new Thing("b", "fixme");
`;

describe("policies", () => {
    test("a pack rewrites looks at resources and fails a run that violates a mandatory policy", () => {
        const it = new Project({
            "index.ts": PROGRAM,
            "pack/PulumiPolicy.yaml": "runtime: nodejs\n",
            "pack/package.json": '{"name": "pack-js", "version": "0.0.7", "main": "index.js"}',
            "pack/index.js": PACK,
            "config.json": '{"short": "mandatory"}',
        });
        symlinkSync(MODULES, join(it.directory, "pack", "node_modules"));
        const up = ["up", "--yes", "--skip-preview", "--stack", "dev", "--policy-pack", "pack"];
        const done = it.run(...up);
        expect(done.stdout).toContain("- [remediate]  fix  (1 resource)");
        expect(done.stdout).toContain("it is long");
        expect(done.status).toBe(0);
        const refused = it.run(...up, "--policy-pack-config", "config.json");
        expect(refused.stdout).toContain("[mandatory]  short");
        expect(refused.status).toBe(1);
    });
});
