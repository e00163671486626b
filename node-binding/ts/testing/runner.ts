// What both test runners are given alike: fixtures, how a test is run again, and tests of laws, lifecycles and crashes.
import * as path from "node:path";
import type { CrashCase, CrashTest } from "./crash";
import type { Kit, TestInfo } from "./kit";
import { LAWS, type LawOptions, LawSuite, type ProviderSource, testTitle, titleOf } from "./laws";
import { errorText } from "./laws/broken";
import { checkLifecycle, type LifecycleOptions } from "./lifecycle";

/** What a test of the kit gets besides its runner's own. */
export interface MalokoFixtures {
    /** Makes a private stack: see {@link Kit.stack}. */
    stack: Kit["stack"];
    /** The test's kit. */
    maloko: Kit;
    /**
     * What the providers talk to: give it a value with `test.extend({ world: ... })`. It is made before the stacks, goes after
     * them, and nothing may be left in it.
     */
    world: unknown;
}

/** What differs from runner to runner. */
export interface Runner {
    /** Registers what `body` registers, under one title. */
    describe(title: string, body: () => void): void;
    /** Registers a test, whose function is told which one it is. `timeout`: in milliseconds; default: the runner's. */
    test(title: string, body: (info: TestInfo) => Promise<void>, timeout?: number): void;
    /** Registers a test that does not run. */
    skip(title: string): void;
    /** Does something after the tests of a `describe`. */
    after(action: () => void): void;
}

// Milliseconds for all examples of a lifecycle.
const LIFECYCLE_TIMEOUT = 60_000;

/**
 * A test's place. `command` is that of the runner, `title` the test's with those of what it stands in. `namesTests`: does the runner
 * say which test has written something?
 */
export function testInfo(command: string, file: string, title: string, namesTests = false): TestInfo {
    const pattern = title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const shown = path.relative(process.cwd(), file);
    return {
        title,
        file,
        alive: true,
        replay: `${command} ${shown} -t ${JSON.stringify(`^${pattern}$`)}`,
        // biome-ignore lint/suspicious/noConsole: neither runner takes anything else of a test that has failed
        tell: (evidence) => console.error(namesTests ? evidence : `${title}\n${evidence}`),
    };
}

function raise({ error }: { error?: unknown }): void {
    if (error !== undefined) {
        throw error;
    }
}

/** A test for each law. Throws a TypeError for options that are missing or wrong. */
export function registerLaws(runner: Runner, provider: ProviderSource, options: LawOptions): void {
    const suite = new LawSuite(provider, options);
    // By what the provider threw: the laws that it broke.
    const causes = new Map<string, string[]>();
    runner.describe(`laws of ${titleOf(provider)}`, () => {
        for (const law of LAWS) {
            const title = testTitle(law, suite);
            if (suite.notTried(law.name) !== undefined) {
                runner.skip(title);
                continue;
            }
            const tried = async ({ replay, skip }: TestInfo): Promise<void> => {
                const verdict = await suite.verdict(law.name, replay);
                if (verdict.error?.cause !== undefined) {
                    const cause = errorText(verdict.error.cause);
                    causes.set(cause, [...(causes.get(cause) ?? []), law.name]);
                }
                raise(verdict);
                if (verdict.status === "needs") {
                    skip?.(verdict.text);
                }
            };
            runner.test(title, tried, suite.timeout);
        }
        runner.after(() => {
            for (const [cause, names] of [...causes].filter(([, names]) => names.length > 1)) {
                // biome-ignore lint/suspicious/noConsole: neither runner takes anything else of tests that have ended
                console.error(`these ${names.length} findings have one cause (${names.join(", ")}): ${cause}`);
            }
        });
    });
}

/** One test for all lifecycles. */
export function registerLifecycle(runner: Runner, provider: ProviderSource, options: LifecycleOptions): void {
    runner.test(
        `lifecycle of ${titleOf(provider)}`,
        async ({ replay }) => raise(await checkLifecycle(provider, options, replay)),
        options?.timeout ?? LIFECYCLE_TIMEOUT,
    );
}

/** A test for each point and kind. */
export function registerCrashes<World>(runner: Runner, crashes: CrashTest<World>, cases: readonly CrashCase[]): void {
    for (const { title, ...crash } of cases) {
        runner.test(title, (info) => crashes.crashRun(info, crash), crashes.timeout);
    }
}
