import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { directory, placed } from "../support/automation-kit";
import { NIGHT } from "../support/night";
import { LABELS } from "../support/workspaces";

const SERVICE = `
import { LocalWorkspace } from "maloko/automation";
import { Hidden, Label } from "./labels.js";

const [names, options] = process.argv.slice(2).map((text) => JSON.parse(text));
const program = async () => void names.map((name: string) => (name === "hidden" ? new Hidden(name) : new Label(name)));
const stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "project", program }, options);
await stack.up({ onOutput: (text) => void process.stdout.write(text) });
`;
const MODULES = JSON.stringify({ type: "module" });

// In Node alone: the module systems, TypeScript and its compiler
test("what the ES modules of a service declare is found again", () => {
    const place = directory();
    symlinkSync(join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules"), join(place, "node_modules"));
    for (const [name, text] of Object.entries({
        "package.json": MODULES,
        "labels.ts": LABELS,
        "service.ts": SERVICE,
    })) {
        writeFileSync(join(place, name), text);
    }
    const options = JSON.stringify(placed());
    const deploy = (names: string[], ...node: string[]) =>
        spawnSync(process.execPath, ["--import", "tsx", ...node, "service.ts", JSON.stringify(names), options], {
            cwd: place,
            encoding: "utf8",
            env: { ...process.env, NODE_OPTIONS: "", DELETED: join(place, "deleted") },
        });
    if (NIGHT) {
        const unknown = deploy(["a"]);
        expect(unknown.stderr + unknown.stdout).toContain("all that they declare with `node --import maloko/register`");
    }
    const register = ["--import", "maloko/register"];
    const known = deploy(["a", "b", "hidden"], ...register);
    expect(known.stdout).not.toContain("cannot be found again");
    expect(known.status).toBe(0);
    const { status, stdout, stderr } = deploy(["a"], ...register);
    expect(stdout + stderr).toContain("2 deleted");
    expect(status).toBe(0);
});
