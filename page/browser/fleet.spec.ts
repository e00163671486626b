// The page of a fleet's run: a thousand stacks by mouse and keys, in light and dark, and hostile texts in every field.

import { fleetRun } from "../fixtures/fleet.ts";
import { HOSTILE } from "../fixtures/make.ts";
import { accessible, expect, fits, open, picture, test, turn } from "./support.ts";

const VIEWS: [name: string, hash: string, seen: RegExp][] = [
    ["fleet-overview", "#/overview", /20 of the same/],
    ["fleet-stacks", "#/stacks", /tenant\/acme-0-sa/],
    ["fleet-stack", "#/stacks/data%2Fdata-sa", /Because net\/net-sa failed/],
    ["fleet-failures", "#/failures/group:1", /All of them have/],
];

test("a run of 1,000 stacks: what stands where, what failed of the same, what waits for what", async ({
    watched: page,
}) => {
    test.setTimeout(180_000);
    await open(page, "fleet");

    await test.step("every view, in light and dark", async () => {
        for (const [name, hash, seen] of VIEWS) {
            await turn(page, "fleet", hash);
            for (const colorScheme of ["light", "dark"] as const) {
                await page.emulateMedia({ colorScheme });
                await expect(page.locator("main")).toContainText(seen);
                await fits(page);
                await picture(page, `${name}-${colorScheme}`);
                await accessible(page);
            }
        }
        await page.emulateMedia({ colorScheme: "light" });
    });

    await test.step("the head says how the run stands, and its counts lead to their stacks", async () => {
        await turn(page, "fleet", "#/overview");
        const head = page.getByRole("banner");
        await expect(head).toContainText("tenants / tenants-up-7f3a91c2");
        await expect(head).toContainText(/up is running wave 2 of 2, 1 min 52 s, \d+ a minute, about .* to go/);
        const { failed, running, waiting } = fleetRun(1000).counts;
        const bar = new RegExp(`^Stacks: .*, ${failed} failed, .*, ${running} running, ${waiting} waiting$`);
        await expect(page.getByRole("img", { name: bar })).toBeVisible();
        await page.getByRole("list", { name: "Stacks by where they stand" }).getByText("failed").click();
        await expect(page.getByRole("row")).toHaveCount(26);
        await expect(page.getByRole("status").last()).toHaveText("25 of 1,000");
    });

    await test.step("stacks are found by words, outcome, label and wave, and the address says so", async () => {
        await page.getByRole("button", { name: /^failed/ }).click();
        await page.getByRole("searchbox").fill("tenant=acme-1*");
        await expect(page.getByRole("status").last()).toHaveText(/^1\d of 1,000$/);
        await page.getByLabel("ring").selectOption("canary");
        await expect(page).toHaveURL(/label\.ring=canary/);
        await page.getByLabel("wave").selectOption("2");
        await expect(page.getByText("No stack is like that.")).toBeVisible();
        await page.getByLabel("wave").selectOption("");
        await page.getByLabel("ring").selectOption("");
        await page.getByRole("searchbox").fill("");
        await expect(page.getByRole("status").last()).toHaveText("1,000");
        await expect(page).not.toHaveURL(/q=/);
    });

    await test.step("the table is sorted by its head, and gone through by keys", async () => {
        const table = page.getByRole("grid", { name: "Stacks" });
        await expect(table).toHaveAttribute("aria-rowcount", "1001");
        expect(await page.getByRole("row").count()).toBeLessThan(80);
        await page.getByRole("button", { name: "Outcome" }).click();
        await expect(page.getByRole("columnheader", { name: "Outcome" })).toHaveAttribute("aria-sort", "ascending");
        await expect(page.getByRole("row").nth(1)).toContainText("failed");
        await table.focus();
        await page.keyboard.press("End");
        const last = page.locator('[role="row"][aria-rowindex="1001"]');
        await expect(last).toBeInViewport({ ratio: 0.99 });
        await expect(last).toHaveAttribute("aria-selected", "true");
        await page.keyboard.press("Home");
        const first = page.locator('[role="row"][aria-rowindex="2"]');
        await expect(first).toHaveAttribute("aria-selected", "true");
        // It is not under the head, which stays where it is.
        const top = await page.locator(".table-head").boundingBox();
        expect((await first.boundingBox())?.y).toBeGreaterThanOrEqual((top?.y ?? 0) + (top?.height ?? 0) - 1);
        await page.getByRole("button", { name: "Outcome" }).press("Enter");
        await expect(page.getByRole("columnheader", { name: "Outcome" })).toHaveAttribute("aria-sort", "descending");
        await page.keyboard.press("/");
        await expect(page.getByRole("searchbox")).toBeFocused();
    });

    await test.step("a stack has its needs and dependents, and they alone can be the table", async () => {
        await turn(page, "fleet", "#/stacks/data%2Fdata-sa");
        const detail = page.getByRole("region", { name: "Details of the stack" });
        await expect(detail).toContainText("Needs 1 stack");
        await expect(detail).toContainText(/Needed by \d\d stacks/);
        await detail.getByRole("button", { name: /^Show all/ }).click();
        await expect(detail.locator(".section").last().getByRole("link")).toHaveCount(91);
        await detail.getByRole("link", { name: "Show these in the table" }).click();
        await expect(page.locator(".around")).toHaveText(/^What data\/data-sa needs/);
        await expect(page.getByRole("status").last()).toHaveText("93 of 1,000");
        await detail.getByRole("link", { name: "net/net-sa" }).first().click();
        await expect(detail.getByRole("heading", { level: 2 })).toHaveText("net/net-sa");
        await expect(detail).toContainText("503: the region sa-east is not reached");
    });

    await test.step("twenty failures of the same are one row, which unfolds", async () => {
        await turn(page, "fleet", "#/failures");
        const rows = page.getByRole("treeitem");
        await expect(rows).toHaveCount(4);
        await expect(rows.first()).toContainText(/net\/net-sa.*92 skipped because of that/);
        await rows.nth(1).click();
        await expect(rows.nth(1)).toHaveAttribute("aria-expanded", "false");
        const detail = page.getByRole("region", { name: "Details of the failure" });
        await expect(detail).toContainText("worker=us-2");
        await page.getByRole("tree", { name: "Failures" }).focus();
        await page.keyboard.press("ArrowRight");
        await expect(rows).toHaveCount(24);
        await page.keyboard.press("ArrowRight");
        await expect(rows.nth(2)).toHaveAttribute("aria-selected", "true");
        await expect(detail).toContainText("urn:pulumi:");
        await page.keyboard.press("ArrowLeft");
        await page.keyboard.press("ArrowLeft");
        await expect(rows).toHaveCount(4);
    });

    await test.step("on a small screen", async () => {
        await page.setViewportSize({ width: 390, height: 780 });
        for (const [, hash] of VIEWS) {
            await turn(page, "fleet", hash);
            await fits(page);
        }
        await turn(page, "fleet", "#/stacks");
        await picture(page, "fleet-narrow");
        await accessible(page);
    });
});

test("a hostile text in every field of a fleet's run stays text, in any view", async ({ watched: page }) => {
    await open(page, "fleet-hostile");
    for (const hash of ["#/overview", "#/stacks", "#/failures", "#/failures/group:0", "#/stacks/nothing"]) {
        await turn(page, "fleet-hostile", hash);
        await expect(page.getByRole("heading", { level: 1 })).toContainText(HOSTILE);
        await fits(page);
    }
    for (const name of ["a", "b", "c", "d"]) {
        const id = `${HOSTILE}/${name}${HOSTILE}`;
        await turn(page, "fleet-hostile", `#/stacks/${encodeURIComponent(id)}`);
        await expect(page.getByRole("region", { name: "Details of the stack" })).toContainText(HOSTILE);
        await fits(page);
    }
    await picture(page, "fleet-hostile");
    await page.getByRole("combobox").first().selectOption({ index: 1 });
    await expect(page.getByRole("row")).toHaveCount(3);
    expect(await page.locator("img, iframe, object, embed").count()).toBe(0);
    expect(await page.locator("script:not([type])").count()).toBe(1);
    await accessible(page);
});
