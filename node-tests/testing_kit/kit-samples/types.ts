// What a user writes with `maloko/vitest` or `maloko/jest` is held to their types; only compiled, once against each, never run.
import { test as base, crashEverywhere, direct, expect, replay } from "maloko/vitest";

class Cloud {
    objects(): string[] {
        return [];
    }
}

const test = base.extend<{ world: Cloud }>({ world: async ({}, use) => use(new Cloud()) });

test("all names have their types", async ({ stack, world, maloko }) => {
    const s = stack(() => {}, { config: { a: 1 }, secrets: { token: "t" } });
    expect(await s.preview()).toPlan({ b: "create", c: { action: "replace", replaces: ["name"] } });
    await expect(s.up()).toFail("b", { method: "create", match: /quota/ });
    await expect(s).toSettle();
    expect(world).toHaveNoOrphans();
    maloko.cassette();
    const made: string = (await direct({ create: () => ({ id: "x" }) }).create({})).id;
    await replay({}, made);
    // @ts-expect-error: there is no such action
    expect(await s.preview()).toPlan({ b: "crate" });
    // @ts-expect-error: there is no such setting
    stack(() => {}, { konfig: {} });
});

crashEverywhere(["kill"], async ({ stack, world }) => void [stack, world.objects()], { world: Cloud });
// @ts-expect-error: there is no such kind
crashEverywhere(["explode"], async () => {});
