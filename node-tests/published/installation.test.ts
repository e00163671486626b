// All in Node alone: npm's peer dependencies: pip takes what the extras of a package ask for
// What decides whether the package can be installed beside the tools of a project, and what is said of tools that are too old.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { byDay } from "../support/night";
import { installed } from "../support/workspaces";

interface Manifest {
    peerDependencies: Record<string, string>;
    peerDependenciesMeta: Record<string, { optional?: boolean }>;
}

test("a tool that may not be used never stops an installation", () => {
    const manifest = JSON.parse(readFileSync(join(installed("maloko"), "package.json"), "utf8")) as Manifest;
    const { "@pulumi/pulumi": _, ...tools } = manifest.peerDependencies;
    expect(Object.keys(tools)).toEqual(Object.keys(manifest.peerDependenciesMeta));
    for (const [tool, range] of Object.entries(tools)) {
        expect([tool, range, manifest.peerDependenciesMeta[tool]]).toEqual([tool, "*", { optional: true }]);
    }
});

/** What a script says in a project that has this version of a tool. */
function saidBeside(tool: string, version: string, script: string): string {
    const folder = mkdtempSync(join(tmpdir(), "maloko-beside-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "node_modules", tool), { recursive: true });
    writeFileSync(join(folder, "node_modules", tool, "package.json"), JSON.stringify({ name: tool, version }));
    symlinkSync(installed("maloko"), join(folder, "node_modules", "maloko"));
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
        cwd: folder,
        encoding: "utf8",
    });
    return (stdout + stderr).replaceAll(folder, "PROJECT");
}

const DRAWN = `
    import { checkLaws } from "maloko/testing";
    const inputs = { generate() {}, shrink() {} };
    await checkLaws({ create: async () => ({ id: "a" }) }, { inputs });
`;
const RECORDED = `
    import { Kit } from "maloko/testing";
    const kit = new Kit({ title: "t", file: process.cwd() + "/t.test.js", alive: true, replay: "", tell() {} });
    kit.cassette(undefined, { record: "all" });
`;

const OLD = [
    {
        tool: "jest",
        old: "27.5.1",
        oldest: "28",
        script: 'await import("maloko/jest")',
        user: "`maloko/jest`",
        install: "jest@30",
    },
    {
        tool: "vitest",
        old: "0.34.6",
        oldest: "1",
        script: 'await import("maloko/vitest")',
        user: "`maloko/vitest`",
        install: "vitest@4",
    },
    {
        tool: "fast-check",
        old: "2.25.0",
        oldest: "3",
        script: DRAWN,
        user: "an arbitrary as `inputs`",
        install: "fast-check@4",
    },
    {
        tool: "@mswjs/interceptors",
        old: "0.25.16",
        oldest: "0.39",
        script: RECORDED,
        user: "a cassette",
        install: "@mswjs/interceptors",
    },
];

test.each(
    byDay(OLD, ({ tool }) => tool === "vitest" || tool === "fast-check"),
)("an old $tool is refused where it is used, with what to install", ({ tool, old, oldest, script, user, install }) => {
    const refusal = `works with ${tool} ${oldest} and newer`;
    expect(saidBeside(tool, old, script)).toContain(
        `${user} ${refusal}; the version here is ${old} (PROJECT/node_modules/${tool}). ` +
            `Install a newer one: \`npm install --save-dev ${install}\``,
    );
    expect(saidBeside(tool, `${oldest}.${oldest.includes(".") ? "" : "0."}0`, script)).not.toContain(refusal);
});
