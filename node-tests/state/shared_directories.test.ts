// State in a directory that several people share.
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Project, project } from "../support/project";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, inputs: object) {
        super({ create: async (inputs) => ({ id: "1", outs: inputs }) }, name, inputs);
    }
}
new Thing("thing", { size: process.env.SIZE });`;

function below(directory: string): { path: string; isDirectory: boolean; mode: number }[] {
    return readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return {
            path: relative(directory, path),
            isDirectory: entry.isDirectory(),
            mode: statSync(path).mode & 0o7777,
        };
    });
}

/** A directory as Pulumi makes it for a stack without resources, with these modes. */
function shared(it: Project, directories: number, files: number): string {
    const directory = join(it.directory, "team");
    const stacks = join(directory, ".pulumi", "stacks", "test");
    mkdirSync(stacks, { recursive: true });
    writeFileSync(join(directory, ".pulumi", "meta.yaml"), "version: 1\n");
    const empty = { stack: "organization/test/dev", latest: { manifest: {}, metadata: {} } };
    writeFileSync(join(stacks, "dev.json"), JSON.stringify({ version: 3, checkpoint: empty }));
    chmodSync(directory, directories);
    for (const { path, isDirectory } of below(directory)) {
        chmodSync(join(directory, path), isDirectory ? directories : files);
    }
    return directory;
}

function up(it: Project, directory: string, stack: string, size: string): void {
    const where = ["--stack", stack, "--backend", `file://${directory}`];
    const { status, output } = it.runWith({ SIZE: size }, "up", "--yes", "--skip-preview", ...where);
    expect(status, output).toBe(0);
}

test.each([
    [0o2770, 0o660],
    [0o2775, 0o664],
    [0o755, 0o600],
])("what exists keeps its mode and new files beside it take its mode", (directories, files) => {
    const it = new Project({ "index.ts": PROGRAM }, onTestFinished, {}, false);
    const team = shared(it, directories, files);
    up(it, team, "dev", "1");
    up(it, team, "dev", "2");
    const found = below(team);
    expect(found.length).toBeGreaterThan(12);
    for (const { path, isDirectory, mode } of found) {
        expect(mode.toString(8), path).toBe((isDirectory ? directories : files).toString(8));
    }
});

test("what maloko makes from nothing is private", () => {
    const it = project({ "index.ts": PROGRAM });
    const own = join(it.directory, "own");
    mkdirSync(own, { mode: 0o755 });
    it.ok("stack", "init", "other", "--backend", `file://${own}`);
    up(it, own, "other", "1");
    for (const { path, isDirectory, mode } of below(own)) {
        expect(mode.toString(8), path).toBe((isDirectory ? 0o700 : 0o600).toString(8));
    }
});
