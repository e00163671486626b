// Texts of users are text, whatever is in them; the page runs nothing but its own script.

import { readFileSync } from "node:fs";
import { HOSTILE, hostile, service } from "../fixtures/make.ts";
import { FORM } from "./pages.ts";
import { expect, fits, open, picture, test, turn } from "./support.ts";

const VIEWS = [
    "#/overview",
    "#/resources",
    "#/resources?view=graph",
    "#/run",
    "#/run?show=table",
    "#/changes",
    "#/changes?show=plan",
    "#/changes?show=states",
    "#/log",
    "#/history",
    "#/history/41",
];

test("a hostile text in every field stays text, in any view", async ({ watched: page }) => {
    test.setTimeout(120_000);
    await open(page, "hostile");
    for (const hash of VIEWS) {
        await test.step(hash, async () => {
            await turn(page, "hostile", hash);
            await page.locator("main").evaluate((main) => {
                for (const one of main.querySelectorAll("details")) one.open = true;
            });
            await expect(page.getByRole("heading", { level: 1 })).toContainText(HOSTILE);
            expect(await page.locator("img, iframe, object, embed").count()).toBe(0);
            expect(await page.locator("script:not([type])").count()).toBe(1);
            await fits(page);
            await picture(page, `hostile${hash.replace(/\W+/g, "-")}`);
        });
    }
});

test("the details of each resource and step of the hostile page are text", async ({ watched: page }) => {
    const data = hostile();
    await open(page, "hostile", "#/resources");
    const root = page.url().split("#")[0];
    for (const { urn } of data.resources.slice(0, 12)) {
        await page.goto(`${root}#/resources/${encodeURIComponent(urn)}`);
        await expect(page.getByRole("region", { name: "Details of the resource" })).toContainText(HOSTILE);
    }
    for (const step of (data.run?.steps ?? []).keys()) {
        await page.goto(`${root}#/changes/${step}`);
        await expect(page.getByRole("region", { name: "Details of the step" })).toContainText(HOSTILE);
    }
    expect(await page.locator("img").count()).toBe(0);
    await fits(page);
});

test("a script that got into the page would not run", async ({ page }) => {
    const refused: string[] = [];
    page.on("console", (message) => refused.push(message.text()));
    await open(page, "service");
    const ran = await page.evaluate(() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        const image = document.createElement("img");
        image.setAttribute("onerror", "window.ran = true");
        image.src = "data:,";
        document.body.append(image);
        return new Promise((resolve) => setTimeout(() => resolve("ran" in window), 50));
    });
    expect(ran).toBe(false);
    expect(refused.join()).toContain("Content Security Policy");
});

test("the page cannot call another host", async ({ page }) => {
    await open(page, "service");
    expect(
        await page.evaluate(() =>
            fetch("https://example.invalid/").then(
                () => "called",
                () => "refused",
            ),
        ),
    ).toBe("refused");
});

test("secrets show as secret, and nothing else of them", async ({ watched: page }) => {
    await open(page, "service", "#/resources");
    await page.getByRole("treeitem", { name: /^.*secret-database/ }).click();
    const detail = page.getByRole("region", { name: "Details of the resource" });
    await expect(detail.locator(".lock").first()).toHaveText("secret");
});

test("values that plain JSON cannot say are shown as what they are", async ({ watched: page }) => {
    await open(page, "service", "#/resources");
    const of = async (name: string) => {
        await page.getByRole("searchbox").fill(name);
        await page.getByRole("treeitem", { name: new RegExp(`^${name} `) }).click();
        return page.getByRole("region", { name: "Details of the resource" });
    };
    await expect(await of("mail-domain")).toContainText("not known yet");
    await expect(await of("queue")).toContainText("18446744073709551615");
    await expect(await of("backup")).toContainText("asset backup.sh");
    await expect(await of("dashboard")).toContainText("$ a key of a user's own");
    await expect(await of("web-1")).toContainText("fast-checkout");
});

test("the form has the place of the data once, and says what it is without them", async ({ page }) => {
    const form = readFileSync(FORM, "utf8");
    expect(form.split("@@MALOKO_DATA@@").length).toBe(2);
    expect(form).not.toMatch(/(src|href)="?https?:/);
    expect(Buffer.byteLength(form)).toBeLessThan(600_000);
    await page.goto(`file://${FORM}`);
    await expect(page.getByRole("status")).toContainText("This page has no data");
    expect(service().resources.length).toBe(45);
});
