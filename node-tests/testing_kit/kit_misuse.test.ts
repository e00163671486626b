// Tests that are wrong: each fails, with a reason that says what to do, in vitest and in jest.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const RUNNERS: Record<string, string[]> = {
    vitest: [join(dirname(require.resolve("vitest/package.json")), "vitest.mjs"), "run", "--reporter=json", "--config"],
    jest: [join(dirname(require.resolve("jest/package.json")), "bin", "jest.js"), "--json", "--config"],
};
const CONFIGS: Record<string, string> = { vitest: "kit-samples/vitest.config.ts", jest: "kit-samples/jest.config.cjs" };

interface Results {
    testResults: { assertionResults: { title: string; status: string; failureMessages: string[] }[] }[];
}

// The report of a runner that is expected to fail.
async function report(runner: string): Promise<Map<string, string>> {
    const args = [...(RUNNERS[runner] ?? []), CONFIGS[runner] ?? ""];
    const { stdout } = await run(process.execPath, args, { cwd: import.meta.dirname }).catch(
        (failed: { stdout: string }) => failed,
    );
    const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as Results;
    const all = testResults.flatMap(({ assertionResults }) => assertionResults);
    return new Map(all.map((it) => [it.title, it.status === "passed" ? "passed" : it.failureMessages.join("\n")]));
}

const GOING_ON = "was still going on when the test ended";
const EXPECTED: Record<string, string[]> = {
    "an operation is not awaited": [`\`up\` ${GOING_ON}: is an \`await\` missing before it?`],
    "an operation begins while another goes on": [
        "`preview` cannot begin while `up` of the same stack goes on: is an `await` missing before it?",
    ],
    "a promise is compared with a plan": [
        "toPlan was given a promise: await the operation, `expect(await s.preview()).toPlan({ ... })`",
    ],
    "something else is compared with a plan": [
        "toPlan takes a plan (what `await s.preview()` returns), but was given undefined",
    ],
    "a plan is not as expected": [
        'a: expected "replace", got "update"\n      n: 1 -> 2',
        '- c: expected "delete", but nothing is done to it',
        "+ b: update, which is not expected\n      n: 1 -> 2",
    ],
    "a provider has no create": ["has no `create`, so that its object cannot be made"],
    "what is under test is no program": ['a provider object or its class, but was given "program"'],
    "a program never ends": ["ended while it still waited for a promise that nothing will ever resolve"],
    "an input never comes": [
        "ended before these resources could be registered",
        "* b [pulumi-nodejs:dynamic:Resource]",
    ],
    "a call never ends": [`\`up\` ${GOING_ON}, in \`create\` of b`],
    "a stack is kept": ["passed"],
    "a stack is used after its test": ["`preview` came after the end of the test 'a stack is kept'"],
    "a failure is not expected": ["Error: quota"],
    "an object is left in the world": ["these objects are left in the world, and no stack knows them: made"],
    "a resource cannot be deleted": [
        "left over: 'b' (pulumi-nodejs:dynamic:Resource, id 'made')",
        "the bucket is not empty",
    ],
};

describe.each(Object.keys(RUNNERS))("%s reports it when", (runner) => {
    let results = new Map<string, string>();

    beforeAll(async () => {
        results = await report(runner);
    }, 60_000);

    test("a failure shows the line of the test and none of the kit", () => {
        for (const title of ["a failure is not expected", "a program never ends", "an input never comes"]) {
            const frames =
                results
                    .get(title)
                    ?.split("\n")
                    .filter((line) => /^\s+at /.test(line)) ?? [];
            expect(frames[0]).toContain("misuse.cjs:");
            expect(frames.filter((line) => line.includes("/maloko/dist/"))).toEqual([]);
        }
    });

    test("nothing else happens", () => {
        expect([...results.keys()].sort()).toEqual(Object.keys(EXPECTED).sort());
    });

    test.each(Object.entries(EXPECTED))("%s", (title, parts) => {
        for (const part of parts) {
            expect(results.get(title)).toMatch(part);
        }
    });
});
