// Lifecycles of a plugin's resources: a good plugin goes through all steps, and a bug that shows in a life is found.
import { checkLifecycle, expect, type LifecycleOptions, runLifecycle, type Step, test } from "maloko/vitest";
import { afterAll, afterEach, beforeAll } from "vitest";
import { LawBreaker, THING } from "../support/law_breaking_world";
import { atNight } from "../support/night";

const nightly = atNight(test);

const ONE = { size: 1, text: "alpha" };
const INPUTS = [ONE, { size: 1, text: "beta" }, { size: 2, text: "beta" }];
/** Each rule at least once. */
const LIFE: readonly Step[] = [
    ["edit", "a", ONE],
    ["up"],
    ["edit", "a", { ...ONE, text: "beta" }],
    ["second_writer", "during"],
    ["edit", "a", { ...ONE, size: 2 }],
    ["preview"],
    ["up"],
    ["import", "a"],
    ["edit", "b", ONE],
    ["lose_answer"],
    ["up"],
    ["edit", "b", { ...ONE, text: "beta" }],
    ["crash", 4, "kill"],
    ["restart"],
    ["up"],
    ["drift", "a"],
    ["vanish", "b"],
    ["up"],
    ["import", "c", ONE],
    ["refresh"],
    ["remove", "b"],
    ["second_writer", "before"],
    ["destroy"],
    ["up"],
];

const breaker = new LawBreaker();
const { plugin, world } = breaker;

beforeAll(() => breaker.begin());
afterEach(() => breaker.mend());
afterAll(() => breaker.end());

test("a plugin that is right goes through all steps", { timeout: 240_000 }, async () => {
    await runLifecycle(plugin, { world }, LIFE);
    expect(breaker.ids()).toEqual([]);
});

test("a life shows the bug of a plugin", { timeout: 240_000 }, async () => {
    breaker.breaks("L7");
    const steps: readonly Step[] = [["edit", "a", ONE], ["up"], ["edit", "a", { ...ONE, size: 2 }], ["up"]];
    const message = await runLifecycle(plugin, { world }, steps).then(
        () => "nothing",
        (thrown: Error) => thrown.message,
    );
    expect(message).toContain(`lifecycle of ${THING}: it goes wrong in 4 steps`);
    expect(message).toContain("expected: no object that the stack does not know");
    expect(message).toContain(`test("lifecycle of ${THING}", () => runLifecycle(plugin, options, [`);
});

nightly("lives of a plugin are drawn", { timeout: 240_000 }, async () => {
    const options: LifecycleOptions = { inputs: INPUTS, world, seed: 1 };
    const good = await checkLifecycle(plugin, { ...options, examples: 5, steps: 4 });
    expect(good.error?.message).toBeUndefined();
    breaker.breaks("L5");
    const why = "another test has it";
    const without = { crash: why, lose_answer: why, restart: why, second_writer: why };
    const { error } = await checkLifecycle(plugin, { ...options, without, examples: 20, steps: 4 });
    expect(error?.message).toContain("origin of");
});
