// How fast a page of 10,000 resources or stacks is: measured and reported, not asserted.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, open, PICTURES, test } from "./support.ts";

/** Milliseconds between frames while something goes on. */
async function frames(
    page: Page,
    act: () => Promise<void>,
): Promise<{ frames: number; median: number; worst: number }> {
    await page.evaluate(() => {
        const times: number[] = [];
        const note = (at: number) => {
            times.push(at);
            if (Reflect.get(window, "measured") === times) requestAnimationFrame(note);
        };
        Reflect.set(window, "measured", times);
        requestAnimationFrame(note);
    });
    await act();
    const times = await page.evaluate(() => {
        const measured = Reflect.get(window, "measured") as number[];
        Reflect.set(window, "measured", undefined);
        return measured;
    });
    const gaps = times
        .slice(1)
        .map((at, place) => at - (times[place] as number))
        .sort((a, b) => a - b);
    const round = (value: number | undefined) => Math.round((value ?? 0) * 10) / 10;
    return { frames: gaps.length, median: round(gaps[Math.floor(gaps.length / 2)]), worst: round(gaps.at(-1)) };
}

test(
    "10,000 resources: opened, scrolled, searched, filtered, unfolded",
    { tag: "@night" },
    async ({ watched: page }) => {
        const result: { [what: string]: unknown } = {};
        const before = Date.now();
        await open(page, "large", "#/resources");
        await expect(page.getByRole("treeitem").first()).toBeVisible();
        result.opened = { milliseconds: Date.now() - before };
        const tree = page.getByRole("tree");
        const box = await tree.boundingBox();
        await page.mouse.move((box?.x ?? 0) + 100, (box?.y ?? 0) + 100);
        result.scrolling = await frames(page, async () => {
            for (let n = 0; n < 60; n++) await page.mouse.wheel(0, 700);
        });
        result.searching = await frames(page, async () => {
            await page.getByRole("searchbox").pressSequentially("server-9", { delay: 60 });
        });
        await page.getByRole("searchbox").fill("");
        result.filtering = await frames(page, async () => {
            for (const name of [/^updated/, /^created/, /^replaced/]) await page.getByRole("button", { name }).click();
        });
        await open(page, "large", "#/run");
        const lanes = page.getByRole("application");
        const area = await lanes.boundingBox();
        await page.mouse.move((area?.x ?? 0) + 400, (area?.y ?? 0) + 200);
        result.zooming = await frames(page, async () => {
            await page.keyboard.down("Control");
            for (let n = 0; n < 30; n++) await page.mouse.wheel(0, n < 15 ? -120 : 120);
            await page.keyboard.up("Control");
        });
        await open(page, "large", "#/run?show=table");
        const sorted = Date.now();
        await page.getByRole("button", { name: "Resource" }).click();
        await expect(page.getByRole("columnheader", { name: "Resource" })).toHaveAttribute("aria-sort", "ascending");
        result.sorted = { milliseconds: Date.now() - sorted };
        writeFileSync(join(PICTURES, "..", "speed.json"), `${JSON.stringify(result, null, 4)}\n`);
        process.stdout.write(`${JSON.stringify(result)}\n`);
    },
);

test("10,000 stacks of a fleet: opened, scrolled, searched, sorted", { tag: "@night" }, async ({ watched: page }) => {
    const result: { [what: string]: unknown } = {};
    const before = Date.now();
    await open(page, "fleet-large", "#/stacks");
    await expect(page.getByRole("row").nth(1)).toBeVisible();
    result.opened = { milliseconds: Date.now() - before };
    const box = await page.getByRole("grid").boundingBox();
    await page.mouse.move((box?.x ?? 0) + 100, (box?.y ?? 0) + 100);
    result.scrolling = await frames(page, async () => {
        for (let n = 0; n < 60; n++) await page.mouse.wheel(0, 700);
    });
    result.searching = await frames(page, async () => {
        await page.getByRole("searchbox").pressSequentially("tenant=ac*9", { delay: 60 });
    });
    await page.getByRole("searchbox").fill("");
    const sorted = Date.now();
    await page.getByRole("button", { name: "Outcome" }).click();
    await expect(page.getByRole("row").nth(1)).toContainText("failed");
    result.sorted = { milliseconds: Date.now() - sorted };
    writeFileSync(join(PICTURES, "..", "speed-fleet.json"), `${JSON.stringify(result, null, 4)}\n`);
    process.stdout.write(`${JSON.stringify(result)}\n`);
});
