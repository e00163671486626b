// What python-tests/languages asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Project, succeeded } from "../support/project";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PYTHON = join(ROOT, ".venv", "bin", "python");
const HOST = join(ROOT, "python-tests", "support", "scripted_host.py");
const UP = ["up", "--yes", "--stack", "dev"];

describe("language_hosts", () => {
    test("a program in a host registers changes and deletes, and one in Go is run as it is", () => {
        const it = new Project({ "bin/pulumi-language-scripted": `#!/bin/sh\nexec "${PYTHON}" "${HOST}" "$@"\n` });
        chmodSync(join(it.directory, "bin", "pulumi-language-scripted"), 0o755);
        const variables = { PATH: `${join(it.directory, "bin")}:${process.env.PATH}` };
        const up = (...resources: string[]) => {
            const steps = [["stack"], ...resources.map((name) => ["resource", name]), ["signal"]];
            const runtime = { name: "scripted", options: { steps } };
            it.write({ "Pulumi.yaml": JSON.stringify({ name: "test", runtime }) });
            return succeeded("up", it.runWith(variables, ...UP));
        };
        expect(up("a", "b")).toContain("+ 3 created");
        expect(up("a")).toContain("- 1 deleted");
        const steps = JSON.stringify([["stack"], ["resource", "c"], ["outputs", { x: "y" }], ["signal"]]);
        it.write({
            built: `#!/bin/sh\nexec "${PYTHON}" "${HOST}" program '${steps}'\n`,
            "Pulumi.yaml": "name: test\nruntime: {name: go, options: {binary: ./built}}\n",
        });
        chmodSync(join(it.directory, "built"), 0o755);
        succeeded("up", it.run(...UP));
        expect(it.run("stack", "output", "x", "--stack", "dev").stdout).toBe("y\n");
    });
});
