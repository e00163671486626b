// The testing kit for vitest: its own `test` and `expect`, with fixtures and matchers of ours.
import "./supported/vitest.js";

import { afterAll, test as base, describe, expect, type TestAPI, type TestContext } from "vitest";
import {
    type CrashFunction,
    type CrashKind,
    type CrashOptions,
    CrashTest,
    Kit,
    type LawOptions,
    type LifecycleOptions,
    type MalokoMatchers,
    matchers,
    type ProviderSource,
    snapshotSerializer,
    type TestInfo,
} from "./index.js";
import {
    type MalokoFixtures,
    type Runner,
    registerCrashes,
    registerLaws,
    registerLifecycle,
    testInfo,
} from "./runner.js";

export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from "vitest";
export * from "./index.js";
export type { MalokoFixtures } from "./runner.js";

declare module "vitest" {
    // biome-ignore lint/suspicious/noExplicitAny: an interface can only be added to under its own parameters
    interface Matchers<T = any> extends MalokoMatchers<T> {}
    // Where vitest 1 and 2 have their matchers.
    // biome-ignore lint/suspicious/noExplicitAny: as above
    interface Assertion<T = any> extends MalokoMatchers<T> {}
}

expect.extend(matchers);
expect.addSnapshotSerializer(snapshotSerializer);

const COMMAND = "npx vitest run";

function infoOf(task: TestContext["task"]): TestInfo {
    const names = [task.name];
    for (let { suite } = task; suite !== undefined && suite.name !== ""; suite = suite.suite) {
        names.unshift(suite.name);
    }
    return testInfo(COMMAND, task.file.filepath, names.join(" "), true);
}

const runner: Runner = {
    describe: (title, body) => void describe(title, body),
    test: (title, body, timeout) => void base(title, ({ task, skip }) => body({ ...infoOf(task), skip }), timeout),
    skip: (title) => void base.skip(title, () => {}),
    after: (action) => afterAll(action),
};

/** vitest's `test`, with the fixtures `stack` and `maloko`. Only tests that name one of them have anything to do with it. */
export const test: TestAPI<MalokoFixtures> = base.extend<MalokoFixtures>({
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
    world: async ({}, use) => use(undefined),
    maloko: async ({ task, skip, world }, use) => {
        const kit = new Kit({ ...infoOf(task), skip }, { world });
        await use(kit);
        const evidence = kit.evidence();
        let failed = task.result?.state === "fail";
        try {
            await kit.finish();
        } catch (thrown) {
            failed = true;
            throw thrown;
        } finally {
            if (failed) {
                const page = kit.writePage();
                // Nothing can be attached to a test that has ended; reporters show both of these.
                Object.assign(task.meta, { maloko: evidence, ...(page === undefined ? {} : { malokoPage: page }) });
                kit.tell(evidence, page);
            }
        }
    },
    stack: async ({ maloko }, use) => use(maloko.stack),
}) as unknown as TestAPI<MalokoFixtures>;

/** The same as {@link test}. */
export const it: typeof test = test;

/**
 * Runs a function once as it is, and then once for each point at which it could have been cut off and each of these kinds:
 * a test of its own, with its name. After a crash the operation that was cut off is done again, so that the function is
 * written as if nothing happened; what it expects has to hold all the same.
 */
export function crashEverywhere<World = undefined>(
    kinds: readonly CrashKind[],
    action: CrashFunction<World>,
    options: CrashOptions<World> = {},
): void {
    const crashes = new CrashTest(kinds, action, options);
    describe(crashes.title, async () => {
        const info = testInfo(COMMAND, expect.getState().testPath ?? "", `${crashes.title} a clean run`, true);
        const outcome = await crashes.cleanRun(info).then(
            (cases) => ({ cases, thrown: undefined }),
            (thrown: unknown) => ({ cases: [], thrown: { value: thrown } }),
        );
        base("a clean run", () => {
            if (outcome.thrown !== undefined) {
                throw outcome.thrown.value;
            }
        });
        registerCrashes(runner, crashes, outcome.cases);
    });
}

/**
 * Puts a provider (an object, its class, or a function that makes one from a world) under the laws that every provider has to
 * keep: one test for each. A law that is waived, or lacks what it needs, is skipped; its title says why.
 */
export function laws(provider: ProviderSource, options: LawOptions): void {
    registerLaws(runner, provider, options);
}

/**
 * Takes a provider through random lifecycles, in one test: edits, up, preview, refresh, destroy, import, changes behind its back,
 * runs that are cut off. The failure has the shortest lifecycle that goes wrong, as a test.
 */
export function lifecycle(provider: ProviderSource, options: LifecycleOptions): void {
    registerLifecycle(runner, provider, options);
}
