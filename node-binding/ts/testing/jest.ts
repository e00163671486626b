// The testing kit for jest: its own `expect`, and `test` with fixtures as vitest has them.
import "./supported/jest";

import * as path from "node:path";
import { afterAll, test as base, describe, expect } from "@jest/globals";
import { later, notLater } from "../originals";
import { TestTimeout, withKit } from "./crash";
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
    readCases,
    snapshotSerializer,
    type TestInfo,
    writeCases,
} from "./index";
import { CleanupOnly } from "./kit";
import { type MalokoFixtures, type Runner, registerCrashes, registerLaws, registerLifecycle, testInfo } from "./runner";

export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from "@jest/globals";
export * from "./index";
export type { MalokoFixtures } from "./runner";

declare module "@jest/expect" {
    // biome-ignore lint/correctness/noUnusedVariables: an interface can only be added to under its own parameters
    interface Matchers<R extends void | Promise<void>, T = unknown> extends MalokoMatchers<R> {}
}

expect.extend(matchers as Parameters<typeof expect.extend>[0]);
expect.addSnapshotSerializer(snapshotSerializer as Parameters<typeof expect.addSnapshotSerializer>[0]);

/** A fixture: a value, or a function that hands it to `use` and tidies up after that. */
export type Fixture<T, All> = T | ((fixtures: All, use: (value: T) => Promise<void>) => Promise<void>);

type Fixtures = Record<string, Fixture<unknown, Record<string, unknown>>>;
type Body<All> = (fixtures: All) => unknown;

/** A test with fixtures. */
export interface MalokoTest<All> {
    (name: string, body: Body<All>, timeout?: number): void;
    only(name: string, body: Body<All>, timeout?: number): void;
    skip(name: string, body?: Body<All>, timeout?: number): void;
    failing(name: string, body: Body<All>, timeout?: number): void;
    concurrent(name: string, body: Body<All>, timeout?: number): void;
    todo(name: string): void;
    /** A test for each row; the name may hold what `test.each` of jest puts in, such as `%s`. */
    for<Row>(
        rows: readonly Row[],
    ): (name: string, body: (row: Row, fixtures: All) => unknown, timeout?: number) => void;
    /** The same with more fixtures, or with others in their place. */
    extend<More extends object>(
        fixtures: {
            [name in keyof More]: Fixture<More[name], All & More>;
        },
    ): MalokoTest<Omit<All, keyof More> & More>;
}

function infoOf(name: string): TestInfo {
    const { currentTestName, testPath } = expect.getState();
    return testInfo("npx jest", testPath ?? "", currentTestName ?? name);
}

const runner: Runner = {
    describe,
    test: (title, body, timeout) => base(title, () => body(infoOf(title)), timeout),
    skip: (title) => base.skip(title, () => {}),
    after: (action) => afterAll(action),
};

// Makes the fixtures one in the other, so that each outlives those that came after it.
async function within(
    fixtures: [string, Fixtures[string]][],
    made: Record<string, unknown>,
    inner: () => Promise<void>,
): Promise<void> {
    const [next, ...rest] = fixtures;
    if (next === undefined) {
        return inner();
    }
    const [name, fixture] = next;
    if (typeof fixture !== "function") {
        made[name] = fixture;
        return within(rest, made, inner);
    }
    let used = false;
    await (fixture as (all: object, use: (value: unknown) => Promise<void>) => Promise<void>)(made, async (value) => {
        used = true;
        made[name] = value;
        await within(rest, made, inner);
    });
    if (!used) {
        throw new Error(`the fixture '${name}' ended without calling \`use\`: the test did not run`);
    }
}

// So long (milliseconds) a test may take to tell what went on when its time was over.
const AFTERWARDS = 3000;

// jest only gives up a test whose time is over: what went on in it has to be told from within.
async function inTime(body: unknown, timeout: number | undefined): Promise<void> {
    if (timeout === undefined) {
        await body;
        return;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
        timer = later(() => reject(new TestTimeout(`the test exceeded its timeout of ${timeout} ms`)), timeout);
    });
    try {
        await Promise.race([body, late]);
    } finally {
        notLater(timer);
    }
}

function outer(timeout: number | undefined): number | undefined {
    return timeout === undefined ? undefined : timeout + AFTERWARDS;
}

function makeTest<All>(fixtures: Fixtures): MalokoTest<All> {
    const bodyOf = (name: string, body: Body<All> | undefined, timeout: number | undefined) => {
        if (typeof body !== "function") {
            throw new TypeError(`the test '${name}' has no function: test(name, async ({ stack }) => { ... })`);
        }
        return async (): Promise<void> => {
            const made: Record<string, unknown> = { world: undefined };
            await within(Object.entries(fixtures), made, async () => {
                const kit = new Kit(infoOf(name), { world: made.world });
                try {
                    const all = { ...made, maloko: kit, stack: kit.stack } as All;
                    await withKit(kit, () => inTime(body(all), timeout));
                } catch (thrown) {
                    // What was left is deleted, and the test is to do nothing else.
                    if (!(thrown instanceof CleanupOnly)) {
                        throw thrown;
                    }
                }
            });
        };
    };
    type Register = (name: string, body: () => Promise<void>, timeout?: number) => void;
    const registering =
        (register: Register) =>
        (name: string, body: Body<All>, timeout?: number): void =>
            register(name, bodyOf(name, body, timeout), outer(timeout));
    return Object.assign(registering(base), {
        only: registering(base.only),
        skip: (name: string, _body?: Body<All>, timeout?: number) => base.skip(name, () => {}, timeout),
        failing: registering(base.failing),
        concurrent: registering(base.concurrent),
        todo: (name: string) => base.todo(name),
        for:
            <Row>(rows: readonly Row[]) =>
            (name: string, body: (row: Row, fixtures: All) => unknown, timeout?: number): void =>
                base.each(rows.map((row) => [row]))(
                    name,
                    (row) => bodyOf(name, (all) => body(row as Row, all), timeout)(),
                    outer(timeout),
                ),
        extend: <More extends object>(more: object) =>
            makeTest<Omit<All, keyof More> & More>({ ...fixtures, ...(more as Fixtures) }),
    }) as MalokoTest<All>;
}

/** jest's `test`, whose functions get fixtures: `test("a bucket", async ({ stack }) => { ... })`. */
export const test: MalokoTest<MalokoFixtures> = makeTest<MalokoFixtures>({});

/** The same as {@link test}. */
export const it: typeof test = test;

/**
 * Runs a function once as it is, and then once for each point at which it could have been cut off and each of these kinds:
 * a test of its own, with its name. After a crash the operation that was cut off is done again, so that the function is
 * written as if nothing happened; what it expects has to hold all the same.
 *
 * jest has to know its tests before any of them runs. So the points are kept in `__points__` beside the test's file, to be
 * committed as snapshots are: where there are none yet, all of them are run in one test, which writes them down.
 */
export function crashEverywhere<World = undefined>(
    kinds: readonly CrashKind[],
    action: CrashFunction<World>,
    options: CrashOptions<World> = {},
): void {
    const crashes = new CrashTest(kinds, action, options);
    const { dir, name: stem } = path.parse(expect.getState().testPath ?? "");
    const file = path.join(dir, "__points__", `${stem}.${crashes.title.replace(/[^\w.-]+/g, "_")}.json`);
    const known = readCases(file);
    describe(crashes.title, () => {
        const info = (): TestInfo => infoOf(crashes.title);
        base("a clean run", async () => {
            const cases = await crashes.cleanRun(info());
            if (known !== undefined && JSON.stringify(known) !== JSON.stringify(cases)) {
                writeUnlessFrozen(file, cases);
                throw new Error(
                    `the run passes other points than those in ${file}: they were written anew, run it again`,
                );
            }
            if (known === undefined) {
                writeUnlessFrozen(file, cases);
                const failed: string[] = [];
                const errors: unknown[] = [];
                for (const { title, ...crash } of cases) {
                    await crashes.crashRun(info(), crash).catch((thrown: unknown) => {
                        failed.push(title);
                        errors.push(thrown);
                    });
                }
                if (errors.length > 0) {
                    throw new AggregateError(
                        errors,
                        `cut off at these points, it fails:\n${failed.join("\n")}\n${String(errors[0])}`,
                    );
                }
            }
        });
        registerCrashes(runner, crashes, known ?? []);
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

function writeUnlessFrozen(file: string, cases: Parameters<typeof writeCases>[1]): void {
    if (process.env.CI) {
        throw new Error(`${file} is missing or no longer true: run the test where CI is not set, and commit the file`);
    }
    writeCases(file, cases);
}
