// Tests on a cloud that is real: what they leave when they are killed is deleted by the next run, or by a sweep.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { test as base, expect } from "vitest";
import { atNight } from "../support/night";

const run = promisify(execFile);
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
const LEDGER = join(import.meta.dirname, ".maloko-tests");

interface Ran {
    status: string;
    text: string;
}

/** A cloud, and a run of the test that makes two files in it. */
const test = base.extend<{ cloud: string; make: (env?: Record<string, string>) => Promise<Ran> }>({
    cloud: async ({}, use) => {
        const cloud = mkdtempSync(join(tmpdir(), "maloko-cloud-"));
        await use(cloud);
        rmSync(cloud, { recursive: true });
    },
    make: async ({ cloud }, use) => {
        await use(async (env = {}) => {
            const args = [vitest, "run", "--reporter=json", "--config", "kit-samples/cloud.config.ts"];
            const options = { cwd: import.meta.dirname, env: { ...process.env, CLOUD: cloud, ...env } };
            const { stdout } = await run(process.execPath, args, options).catch((failed: { stdout: string }) => failed);
            const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{")));
            const [result] = testResults.flatMap((it: any) => it.assertionResults);
            return { status: result?.status ?? "killed", text: JSON.stringify(result ?? {}) };
        });
        for (const directory of kept()) {
            rmSync(directory, { recursive: true });
        }
    },
});

// Each run of vitest takes a second: what Python asks for every change as well is asked here by `make nightly`.
const nightly = atNight(test);

/** The directories of the stacks that are kept. */
function kept(): string[] {
    const names = existsSync(LEDGER) ? readdirSync(LEDGER) : [];
    return names.filter((name) => !name.startsWith(".")).map((name) => join(LEDGER, name));
}

nightly(
    "a test that ends leaves nothing",
    async ({ cloud, make }) => {
        expect((await make()).status).toBe("passed");
        expect(readdirSync(cloud)).toEqual([]);
        expect(kept()).toEqual([]);
    },
    60_000,
);

nightly(
    "the next run deletes what a killed run left",
    async ({ cloud, make }) => {
        expect((await make({ KILLED: "afterwards" })).status).not.toBe("passed");
        expect(readdirSync(cloud)).toEqual(["first", "second"]);
        const [directory = ""] = kept();
        expect(readFileSync(join(directory, "test.json"), "utf8")).toContain('"test":"files are made"');
        const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
        for (const { parentPath, name } of files) {
            expect(readFileSync(join(parentPath, name), "utf8")).not.toContain("hunter2");
        }
        expect(statSync(directory).mode & 0o077).toBe(0);
        expect((await make()).status).toBe("passed");
        expect(readdirSync(cloud)).toEqual([]);
        expect(kept()).toEqual([]);
    },
    60_000,
);

nightly(
    "what a run has made can be kept",
    async ({ cloud, make }) => {
        expect((await make({ MALOKO_KEEP: "1" })).status).toBe("passed");
        expect(readdirSync(cloud)).toEqual(["first", "second"]);
        await make({ MALOKO_SWEEP: "1" });
        expect(readdirSync(cloud)).toEqual([]);
    },
    60_000,
);
