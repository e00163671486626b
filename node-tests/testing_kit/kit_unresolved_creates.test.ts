// Creates that a killed run of a test on a real cloud left open are told until they are settled; and what cannot be read does
// not keep a sweep from the rest.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { test as base, expect } from "vitest";
import { atNight, byDay, NIGHT } from "../support/night";

const run = promisify(execFile);
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
// A place of its own: kit_cloud.test.ts keeps stacks as well.
const PLACE = join(import.meta.dirname, "kit-samples");
const LEDGER = join(PLACE, ".maloko-tests");
const MALOKO = join(import.meta.dirname, "..", "node_modules", ".bin", "maloko");
const SWEEP = { MALOKO_SWEEP: "1" };

interface Ran {
    /** How each test ended, by its title; empty when the run was killed. */
    statuses: Record<string, string>;
    text: string;
}

/** Tests on a cloud, each run in a process of its own. */
class Cloud {
    readonly directory = mkdtempSync(join(tmpdir(), "maloko-cloud-"));

    /** Runs the test of this title, or all. */
    async run(title: string | undefined, env: Record<string, string> = {}): Promise<Ran> {
        const chosen = title === undefined ? [] : ["-t", `^${title}$`];
        const args = [vitest, "run", "--reporter=json", "--config", "unresolved.config.ts", ...chosen];
        const options = { cwd: PLACE, env: { ...process.env, CLOUD: this.directory, ...env } };
        const { stdout, stderr } = await run(process.execPath, args, options).catch(
            (failed: { stdout: string; stderr: string }) => failed,
        );
        expect(stdout + stderr).not.toContain("hunter22");
        const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{")));
        const results = testResults
            .flatMap((it: any) => it.assertionResults)
            .filter((it: any) => title === undefined || it.title === title);
        const statuses = Object.fromEntries(results.map((it: any) => [it.title, it.status]));
        return { statuses, text: results.flatMap((it: any) => it.failureMessages).join("\n") };
    }

    /** A run that kills itself, in which nothing is said to have passed. */
    async killed(title: string, ending: string, env: Record<string, string> = {}): Promise<void> {
        expect((await this.run(title, { ENDING: ending, ...env })).statuses[title]).not.toBe("passed");
    }

    objects(): string[] {
        return readdirSync(this.directory);
    }

    /** The directories of the stacks that are kept. */
    kept(): string[] {
        const names = existsSync(LEDGER) ? readdirSync(LEDGER) : [];
        return names.filter((name) => !name.startsWith(".")).map((name) => join(LEDGER, name));
    }

    end(): void {
        rmSync(this.directory, { recursive: true });
        for (const directory of this.kept()) {
            rmSync(directory, { recursive: true });
        }
    }
}

const test = base.extend<{ cloud: Cloud }>({
    cloud: async ({}, use) => {
        const cloud = new Cloud();
        await use(cloud);
        cloud.end();
    },
});

// Each run of vitest takes a second: what Python asks for every change as well is asked here by `make nightly`.
const nightly = atNight(test);

/** The operation keys of the unresolved creates that were named. */
function keysIn(text: string): string[] {
    return [...new Set([...text.matchAll(/operation key ([\w-]+)/g)].map(([, key = ""]) => key))];
}

nightly("a create that a killed run left open is told until it is settled", async ({ cloud }) => {
    await cloud.killed("it", "killed");
    const { statuses, text } = await cloud.run("it", SWEEP);
    expect(statuses.it).toBe("failed");
    expect(text).toContain("these may have been made: 'third' (its create was under way when the run ended, begun 2");
    expect(text).toContain("urn:pulumi:dev::project::pulumi-nodejs:dynamic:Resource::third");
    const [key = "", ...more] = keysIn(text);
    expect(more).toEqual([]);
    expect(text).toContain(
        `MALOKO_SWEEP=1 MALOKO_FORGET_UNRESOLVED='${key}' npx vitest run unresolved.real.ts -t "^it$"`,
    );
    expect(cloud.objects()).toEqual(["third"]);
    // Again, by a sweep, by the next run of the test, and where another one is settled.
    const others = [SWEEP, {}, { ...SWEEP, MALOKO_FORGET_UNRESOLVED: "another" }];
    for (const env of byDay(others, (_env, place) => place === 1)) {
        const again = await cloud.run("it", env);
        expect([again.statuses.it, keysIn(again.text)]).toEqual(["failed", [key]]);
        expect(cloud.kept()).toHaveLength(1);
    }
    const settled = await cloud.run("it", { ...SWEEP, MALOKO_FORGET_UNRESOLVED: `another,${key}` });
    expect(settled.statuses.it).toMatch(/skipped|pending/);
    expect(cloud.kept()).toEqual([]);
    if (NIGHT) {
        expect((await cloud.run("it")).statuses.it).toBe("passed");
    }
});

nightly("unresolved creates are forgotten by a sweep alone", async ({ cloud }) => {
    await cloud.killed("it", "killed");
    const { statuses, text } = await cloud.run("it", { MALOKO_FORGET_UNRESOLVED: "all" });
    expect([statuses.it, keysIn(text).length, cloud.kept().length]).toEqual(["failed", 1, 1]);
});

nightly("a create that raised has made nothing", async ({ cloud }) => {
    expect((await cloud.run("it", { ENDING: "raises" })).statuses.it).toBe("passed");
    expect(cloud.kept()).toEqual([]);
});

nightly.for(["killed", "killed before"])("a create of which find knows is settled", async (ending, { cloud }) => {
    await cloud.killed("it", ending, { SEARCHING: "1" });
    const { statuses } = await cloud.run("it", { ...SWEEP, SEARCHING: "1" });
    expect(statuses.it).toMatch(/skipped|pending/);
    expect(cloud.objects()).toEqual([]);
    expect(cloud.kept()).toEqual([]);
});

nightly("what cannot be read does not keep a sweep from the rest", async ({ cloud }) => {
    await cloud.killed("it", "killed");
    const [damaged = ""] = cloud.kept();
    const journal = join(damaged, "state", ".pulumi", "maloko", "project", "dev", "journal");
    writeFileSync(journal, readFileSync(journal, "utf8").replace("first", "worst"));
    await cloud.killed("other", "killed");
    expect(cloud.objects()).toEqual(["first", "other", "second", "third"]);
    const { statuses, text } = await cloud.run(undefined, SWEEP);
    expect(statuses).toEqual({
        it: "failed",
        other: expect.not.stringMatching("failed"),
        two: expect.anything(),
    });
    expect(text).toContain(`what a run of the test 'it' made is kept in ${damaged}, which cannot be read`);
    expect(text).toContain(`the journal ${journal} of an interrupted run is damaged`);
    expect(cloud.objects()).toEqual(["first", "second", "third"]);
    expect(cloud.kept()).toEqual([damaged]);
    // So is it by the next run of the test.
    const next = await cloud.run("it");
    expect(next.statuses.it).toBe("failed");
    expect(next.text).toContain(`is kept in ${damaged}, which cannot be read`);
    // What the message says about the command line is true; and what could not be read is not forgotten.
    expect(next.text).toContain(`work on it with \`--cwd ${damaged} --stack dev\``);
    await run(MALOKO, ["state", "restore", "--journal", "--yes", "--cwd", damaged, "--stack", "dev"]);
    const [aside = ""] = readdirSync(dirname(journal)).filter((name) => name.startsWith("journal-"));
    const swept = await cloud.run("it", SWEEP);
    expect(swept.statuses.it).toBe("failed");
    expect(swept.text).toContain(`the journal ${join(dirname(journal), aside)} was set aside: look through it`);
    rmSync(join(dirname(journal), aside));
    expect((await cloud.run("it", SWEEP)).statuses.it).toMatch(/skipped|pending/);
    expect(cloud.kept()).toEqual([]);
});

nightly("each stack of a test is swept by itself", async ({ cloud }) => {
    await cloud.killed("two", "killed");
    const [damaged = "", other = ""] = cloud.kept();
    writeFileSync(join(damaged, "state", ".pulumi", "stacks", "project", "dev.json"), "{");
    const { statuses, text } = await cloud.run("two", SWEEP);
    expect(statuses.two).toBe("failed");
    expect(text).toContain(damaged);
    expect(text).not.toContain(other);
    expect(cloud.objects()).toHaveLength(1);
    expect(cloud.kept()).toEqual([damaged]);
    rmSync(damaged, { recursive: true });
    // One that is made after the first operation has no program yet when the sweep ends the test.
    await cloud.killed("two", "killed later");
    const later = await cloud.run("two", SWEEP);
    expect(later.statuses.two).toBe("failed");
    expect(later.text).toContain("this test makes more stacks after its first operation, where a sweep ends it");
    expect(cloud.kept()).toHaveLength(1);
    expect(later.text).toContain(cloud.kept()[0]);
});
