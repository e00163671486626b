// What python-tests/hostile asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { project } from "../support/project";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

describe("hostile_plugins", () => {
    test("a create of a plugin that hangs is given up and may have happened", () => {
        const it = project({
            "index.js": `const pulumi = require("@pulumi/pulumi");
const inputs = { url: undefined, sleep: 3600, sleepIn: "create" };
new pulumi.CustomResource("probe:index:Thing", "thing", inputs, { customTimeouts: { create: "2s" } });
`,
        });
        const plugin = join(it.directory, "bin", "pulumi-resource-probe");
        const probe = join(ROOT, "conformance", "plugins", "plugins", "probe.py");
        it.write({ "bin/pulumi-resource-probe": `#!/bin/sh\nexec "${ROOT}/.venv/bin/python" "${probe}" "$@"\n` });
        chmodSync(plugin, 0o755);
        const world = join(it.directory, "world");
        mkdirSync(world);
        const variables = { PATH: `${dirname(plugin)}:${process.env.PATH}`, PROBE_WORLD: world };
        const { status, output } = it.runWith(variables, "up", "--yes", "--skip-preview", "--stack", "dev");
        expect(status).toBe(1);
        expect(output).toContain("took longer than the 2s");
        expect(readdirSync(world)).toEqual([]);
        expect(it.ok("stack", "--stack", "dev")).toContain("1 unresolved create, whose object may exist");
    });
});
