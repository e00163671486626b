// The page of a failed test's last run (MALOKO_PAGE=DIR), in vitest and in jest.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { atNight, byDay } from "../support/night";
import { dataOf } from "../support/pages";

const nightly = atNight(test);

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const JUNIT = [
    "--reporter=json",
    "--reporter=junit",
    "--outputFile.json=DIR/report.json",
    "--outputFile.junit=DIR/junit.xml",
];
const RUNNERS = {
    vitest: [
        join(dirname(require.resolve("vitest/package.json")), "vitest.mjs"),
        "run",
        ...JUNIT,
        "--config",
        "kit-samples/pages/vitest.config.ts",
    ],
    jest: [
        join(dirname(require.resolve("jest/package.json")), "bin", "jest.js"),
        "--json",
        "--outputFile=DIR/report.json",
        "--config",
        "kit-samples/pages/jest.config.cjs",
    ],
};

interface Report {
    numPassedTests: number;
    numFailedTests: number;
    testResults: { assertionResults: { title: string; meta?: { malokoPage?: string } }[] }[];
}

/** Runs the tests; gives all that was said, the report, and the pages by their names. */
async function tried(runner: keyof typeof RUNNERS, pages: boolean) {
    const directory = mkdtempSync(join(tmpdir(), "maloko-pages-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const place = join(directory, "pages");
    const args = RUNNERS[runner].map((word) => word.replace("DIR", directory));
    const env = { ...process.env, MALOKO_PAGE: pages ? place : "" };
    const { stdout, stderr } = await run(process.execPath, args, { cwd: import.meta.dirname, env }).catch(
        (failed: { stdout: string; stderr: string }) => failed,
    );
    const report = JSON.parse(readFileSync(join(directory, "report.json"), "utf8")) as Report;
    const names = existsSync(place) ? readdirSync(place) : [];
    const written = new Map(
        names.map((name) => [name, { file: join(place, name), page: readFileSync(join(place, name), "utf8") }]),
    );
    const junit = runner === "vitest" ? readFileSync(join(directory, "junit.xml"), "utf8") : "";
    return { said: stdout + stderr, report, written, junit };
}

test.each(
    byDay(["vitest", "jest"] as const, (runner) => runner === "vitest"),
)("a failed test leaves the page of its last run: %s", async (runner) => {
    const { said, report, written, junit } = await tried(runner, true);
    expect([report.numPassedTests, report.numFailedTests]).toEqual([1, 3]);
    const file = { vitest: "kit-samples_pages_pages.ts", jest: "kit-samples_pages_pages.jest.cjs" }[runner];
    const [fails, another] = [`${file}_fails_7.html`, `${file}_expects_another.html`];
    expect([...written.keys()].sort()).toEqual([another, fails]);
    const failed = written.get(fails)?.page ?? "";
    const { run } = dataOf(failed);
    expect(run).toMatchObject({ kind: "update", outcome: "failed" });
    expect(run.activities).toContainEqual(expect.objectContaining({ error: expect.stringContaining("no room") }));
    expect(failed).not.toContain("hunter22");
    // Neither the previews that look whether the stack settles, nor the destroy at the end.
    const data = dataOf(written.get(another)?.page ?? "");
    expect(data.run).toMatchObject({ kind: "update", outcome: "succeeded" });
    expect(data.run.changes).toHaveProperty("update");
    // The failure says where it is, and so do the files for CI.
    for (const { file } of written.values()) {
        expect(runner === "vitest" ? junit : said).toContain(`page of the last run: ${file}`);
    }
    const attached = report.testResults
        .flatMap(({ assertionResults }) => assertionResults)
        .flatMap(({ meta }) => meta?.malokoPage ?? []);
    expect(attached.sort()).toEqual(runner === "vitest" ? [...written.values()].map(({ file }) => file).sort() : []);
});

nightly.each(["vitest", "jest"] as const)("nothing is noted for a page that nobody asks for: %s", async (runner) => {
    const { said, junit, report, written } = await tried(runner, false);
    expect(report.numFailedTests).toBe(3);
    expect(said + junit).not.toContain("page of the last run");
    expect([...written.keys()]).toEqual([]);
});
