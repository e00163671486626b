// The SDKs for Node that are made here, beside what is on record of those of the official generator.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NIGHT } from "../support/night";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const CHECKS = join(ROOT, "engine-packages", "tests");
const MODULES = join(ROOT, "node-tests", "node_modules");
const MALOKO = join(MODULES, ".bin", "maloko");
/** The compiler of version 5, which projects have. */
const COMPILER = join(MODULES, "typescript", "bin", "tsc");
/** The page's takes a sixth of the time. */
const QUICK_COMPILER = join(ROOT, "page", "node_modules", "typescript", "bin", "tsc");
const PACKAGES = {
    "features-nodejs": "@acme/features",
    "features-nodejs-bridge": "@legacy/old-bridge",
    random: "@pulumi/random",
};

let folder = "";

// A project that has the SDKs of all schemas, and the official one that they need.
beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "maloko-sdks-"));
    for (const [schema, name] of Object.entries(PACKAGES)) {
        const words = ["package", "gen-sdk", join(CHECKS, "schemas", `${schema}.json`), "--language", "nodejs"];
        execFileSync(process.execPath, [MALOKO, ...words, "--out", join(folder, schema)], { cwd: folder });
        link(join(folder, schema, "nodejs"), name);
    }
    for (const name of ["@pulumi/pulumi", "@types/node", "typescript"]) {
        link(join(MODULES, name), name);
    }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function link(target: string, name: string): void {
    const place = join(folder, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(target, place);
}

// In Node alone: what an SDK is in Node; Python's are checked by programs of Python.
test.for([
    "features-nodejs",
    "features-nodejs-bridge",
])("every class and function of %s asks for the same and gives the same as with the official SDK", (schema) => {
    const words = [join(CHECKS, "behaviour_nodejs.mjs"), join(CHECKS, "recorded", `${schema}-behaviour.json`)];
    const done = spawnSync(process.execPath, [...words, join(folder, schema, "nodejs")], { encoding: "utf8" });
    expect(done.stdout).toMatch(/ [1-9]\d* cases, 0 differ\n$/);
    expect(done.status).toBe(0);
});

// In Node alone: TypeScript reads it; Python's programs are read by mypy.
test("a program in the style of the official SDKs compiles", () => {
    const options = ["--strict", "--noEmit", "--target", "es2022", "--types", "node", "--module", "node16"];
    const program = join(folder, "features.ts");
    cpSync(join(CHECKS, "programs_nodejs", "features.ts"), program);
    const words = [!NIGHT && existsSync(QUICK_COMPILER) ? QUICK_COMPILER : COMPILER, ...options, program];
    const done = spawnSync(process.execPath, words, { encoding: "utf8", cwd: folder });
    expect(done.stdout).toBe("");
    expect(done.status).toBe(0);
});
