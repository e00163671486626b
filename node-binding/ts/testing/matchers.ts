// The matchers that `maloko/vitest` and `maloko/jest` add to `expect`.
import { type FailureExpectation, failureDifference, failureOf } from "./stack/failures";
import { type Demand, type ExpectedPlan, isPlan, judgePlan, type Plan, planDifferences, planText } from "./stack/plan";
import { CheckFailed, type ImportOptions } from "./stack/settings";
import type { TestStack } from "./stack/stack";
import { show } from "./values";
import { orphansOf } from "./worlds";

/** What a matcher says; jest's and vitest's are the same. */
interface MatcherResult {
    pass: boolean;
    message: () => string;
}

/** The matchers, as `expect(...)` offers them. */
export interface MalokoMatchers<R = unknown> {
    /**
     * A plan does exactly this: `{ b: "create" }`, or in more detail `{ b: { action: "replace", replaces: ["acl"] } }`.
     * Resources that do not change are not named.
     */
    toPlan(expected: ExpectedPlan): R;
    /** A plan replaces nothing. */
    toHaveNoReplacements(): R;
    /** A plan deletes nothing, by a replacement neither. */
    toHaveNoDeletions(): R;
    /** A plan replaces and deletes nothing: for `await s.upgradePlan("v1.json")`. */
    toBeUpgradeSafe(): R;
    /** A stack's next plan is empty, without and with a refresh. Await it. */
    toSettle(): Promise<R>;
    /** The provider's `read` gives all that is needed to take over the resource of this name. Await it. */
    toImportCleanly(name: string, options?: ImportOptions): Promise<R>;
    /**
     * An operation (the promise of it) fails; with a name or a pattern (`*`), on that resource; `method`: in that method of
     * its provider; `match`: with such a message. Await it.
     */
    toFail(resource?: string, expectation?: FailureExpectation): Promise<R>;
    /** All objects of a world belong to a resource of the stacks that were given this world. */
    toHaveNoOrphans(): R;
}

function aPlan(received: unknown, matcher: string): Plan {
    if (typeof (received as { then?: unknown } | null | undefined)?.then === "function") {
        const hint =
            matcher === "toPlan" ? "expect(await s.preview()).toPlan({ ... })" : `expect(await ...).${matcher}()`;
        throw new TypeError(`${matcher} was given a promise: await the operation, \`${hint}\``);
    }
    const plan = (received as { plan?: unknown } | null | undefined)?.plan;
    // What `up` and its like return has its plan as a member.
    const found = isPlan(plan) && !("action" in (plan as object)) ? plan : received;
    if (!isPlan(found)) {
        throw new TypeError(
            `${matcher} takes a plan (what \`await s.preview()\` returns), but was given ${show(received)}`,
        );
    }
    return found;
}

function aStack(received: unknown, matcher: string): TestStack {
    if (typeof (received as Partial<TestStack> | null | undefined)?.assertSettled !== "function") {
        throw new TypeError(
            `${matcher} takes a stack (what \`stack(program)\` returns), but was given ${show(received)}`,
        );
    }
    return received as TestStack;
}

function judged(received: unknown, matcher: string, demand: Demand): MatcherResult {
    const { holds, text } = judgePlan(aPlan(received, matcher), demand);
    return { pass: holds, message: () => text };
}

async function checked(check: Promise<void>, wanted: string): Promise<MatcherResult> {
    try {
        await check;
        return { pass: true, message: () => wanted };
    } catch (failed) {
        if (failed instanceof CheckFailed) {
            return { pass: false, message: () => failed.message };
        }
        throw failed;
    }
}

/** For `expect.extend`. */
export const matchers = {
    toPlan(received: unknown, expected: ExpectedPlan): MatcherResult {
        const plan = aPlan(received, "toPlan");
        const lines = planDifferences(plan, expected);
        return {
            pass: lines.length === 0,
            message: () =>
                lines.length === 0
                    ? `expected another plan than:\n${planText(plan)}`
                    : `the plan is not as expected (- missing, + not expected):\n${lines.join("\n")}`,
        };
    },

    toHaveNoReplacements(received: unknown): MatcherResult {
        return judged(received, "toHaveNoReplacements", "no_replacements");
    },

    toHaveNoDeletions(received: unknown): MatcherResult {
        return judged(received, "toHaveNoDeletions", "no_deletions");
    },

    toBeUpgradeSafe(received: unknown): MatcherResult {
        return judged(received, "toBeUpgradeSafe", "upgrade_safe");
    },

    async toSettle(received: unknown): Promise<MatcherResult> {
        const wanted = "expected the stack to have something to do, but its plan is empty";
        return checked(aStack(received, "toSettle").assertSettled(), wanted);
    },

    async toImportCleanly(received: unknown, name: string, options: ImportOptions = {}): Promise<MatcherResult> {
        const wanted = `expected the import of ${name} to differ from its state, but it does not`;
        return checked(aStack(received, "toImportCleanly").importsCleanly(name, options), wanted);
    },

    async toFail(received: unknown, resource?: string, expectation: FailureExpectation = {}): Promise<MatcherResult> {
        const operation = typeof received === "function" ? (received as () => unknown)() : received;
        if (typeof (operation as { then?: unknown } | null | undefined)?.then !== "function") {
            throw new TypeError(
                "toFail takes the promise of an operation, without `await` before it: `await expect(s.up()).toFail(...)`; " +
                    `it was given ${show(received)}`,
            );
        }
        const failure = await failureOf(operation as PromiseLike<unknown>);
        const wrong =
            failure === undefined
                ? "it succeeded"
                : failureDifference(failure, { ...expectation, ...(resource === undefined ? {} : { resource }) });
        const where = resource === undefined ? "" : ` on ${resource}`;
        return {
            pass: wrong === undefined,
            message: () =>
                wrong === undefined
                    ? `expected the operation not to fail like this: ${failure?.message}`
                    : `expected the operation to fail${where}, but ${wrong}`,
        };
    },

    toHaveNoOrphans(received: unknown): MatcherResult {
        const orphans = orphansOf(received);
        return {
            pass: orphans.length === 0,
            message: () =>
                orphans.length === 0
                    ? "expected objects that belong to no resource, but there are none"
                    : `these objects are there, but no stack of the test has them in its state: ${orphans.join(", ")}`,
        };
    },
};
