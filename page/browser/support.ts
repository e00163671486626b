// What every test in the browser watches: nothing leaves, nothing fails, nothing of a user runs.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { type Name, pathOf } from "./pages.ts";

export { expect };

export const PICTURES = join(import.meta.dirname, "..", "test-results", "pictures");
mkdirSync(PICTURES, { recursive: true });

export const test = base.extend<{ watched: Page }>({
    watched: async ({ page }, use) => {
        const faults: string[] = [];
        page.on("request", (request) => {
            if (!request.url().startsWith("file:") && !request.url().startsWith("data:"))
                faults.push(`request to ${request.url()}`);
        });
        page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
        page.on("console", (message) => {
            if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
        });
        page.on("dialog", (dialog) => {
            faults.push(`dialog: ${dialog.message()}`);
            void dialog.dismiss();
        });
        await use(page);
        expect(faults).toEqual([]);
    },
});

/** Opens a page from the disk, at a view. */
export async function open(page: Page, name: Name, hash = ""): Promise<void> {
    await page.goto(`${pathToFileURL(pathOf(name)).href}${hash}`);
    await expect(page.locator("main h2, main [role=tree], main [role=tablist]").first()).toBeAttached();
}

/** Goes to another view of a page that is open: nothing is loaded again. */
export async function turn(page: Page, name: Name, hash: string): Promise<void> {
    await page.goto(`${pathToFileURL(pathOf(name)).href}${hash}`);
    const view = /^#\/(\w+)/.exec(hash)?.[1];
    await expect(page.locator(`main.view-${view}`).locator("h2, [role=tree], [role=tablist]").first()).toBeAttached();
}

/** Is it the night, which looks at everything? */
export const NIGHT = Boolean(process.env.MALOKO_LONG);

/** No violation of any rule of axe, those of contrast included. */
export async function accessible(page: Page): Promise<void> {
    const { violations } = await new AxeBuilder({ page }).analyze();
    const told = violations.map(
        ({ id, nodes }) =>
            `${id}: ${nodes
                .slice(0, 3)
                .map((node) => `${node.target.join(" ")} ${node.failureSummary ?? ""}`)
                .join(" | ")}`,
    );
    expect(told).toEqual([]);
}

/** Nothing is wider than the window. */
export async function fits(page: Page): Promise<void> {
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
}

export async function picture(page: Page, name: string): Promise<void> {
    await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: "disabled" });
}
