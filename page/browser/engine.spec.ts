// Pages as the engine writes them, of real runs: of 45 resources with a chain of replacements, of 10,000, and of the stack.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { fleetRun, hostileFleet } from "../fixtures/fleet.ts";
import { HOSTILE } from "../fixtures/make.ts";
import { accessible, expect, fits, NIGHT, test } from "./support.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const MODULES = join(ROOT, "node-tests", "node_modules");
const MALOKO = join(MODULES, ".bin", "maloko");
/** Outside of this package, whose type the program has not. */
const MADE = mkdtempSync(join(tmpdir(), "maloko-page-"));

/** A project of its own, with its stack. */
class Project {
    readonly folder: string;

    constructor(
        name: string,
        readonly resources: number,
    ) {
        this.folder = join(MADE, name);
        cpSync(join(ROOT, "page", "fixtures", "program"), this.folder, { recursive: true });
        symlinkSync(MODULES, join(this.folder, "node_modules"));
        this.run("stack", "init", "dev");
    }

    run(...args: string[]): string {
        return this.sized("1", ...args);
    }

    sized(size: string, ...args: string[]): string {
        const env = { ...process.env, RESOURCES: String(this.resources), SIZE: size };
        return execFileSync(MALOKO, args, { cwd: this.folder, env, encoding: "utf8" });
    }

    address(page: string): string {
        return pathToFileURL(join(this.folder, page)).href;
    }
}

async function shows(page: Page, address: string, hash: string, seen: RegExp): Promise<void> {
    await page.goto(`${address}${hash}`);
    await expect(page.locator("main")).toContainText(seen);
    await fits(page);
}

test.describe.configure({ mode: "serial", timeout: 120_000 });
test.afterAll(() => rmSync(MADE, { recursive: true }));

test("a run of 45 resources says why they are replaced, and where the time went", async ({ watched: page }) => {
    const project = new Project("small", 45);
    project.run("up", "--yes", "--skip-preview");
    project.sized("2", "up", "--yes", "--skip-preview", "--page", "run.html");
    const address = project.address("run.html");
    await shows(page, address, "", /This run took/);
    if (NIGHT) await accessible(page);
    await shows(page, address, "#/changes?q=site-0-database", /site-0-database.*replaced/s);
    await shows(page, address, "#/changes?q=site-0-server-3", /because of site-0-database/);
    await page
        .getByRole("treeitem", { name: /site-0-server-3/ })
        .first()
        .click();
    await expect(page.locator("main")).toContainText(/site-0-server-3 is replaced because site-0-database/);
    await accessible(page);
    await shows(page, address, "#/resources", /site-4/);
    await shows(page, address, "#/resources?view=graph", /site-0/);
    await shows(page, address, "#/run", /Critical path/);
    await shows(page, address, "#/run?show=table", /create/);
    await shows(page, address, "#/history", /Update/);
    expect(await page.title()).not.toContain("caught");
    expect(readFileSync(join(project.folder, "run.html"), "utf8")).not.toContain("hunter22");
});

test("a stack and a run of the past have a page", async ({ watched: page }) => {
    const project = new Project("past", 45);
    project.run("up", "--yes", "--skip-preview");
    project.sized("2", "up", "--yes", "--skip-preview");
    project.run("stack", "history", "page", "1", "-o", "past.html");
    await shows(page, project.address("past.html"), "#/changes?q=site-4-server-6", /site-4-server-6/);
    const former = JSON.parse(project.run("state", "restore", "--json"))[0].generation as number;
    project.run("stack", "page", "--from", String(former), "-o", "stack.html");
    await shows(page, project.address("stack.html"), "#/changes?show=states&q=site-0-database", /site-0-database/);
    if (NIGHT) await accessible(page);
    await shows(page, project.address("stack.html"), "#/resources", /site-0/);
});

test("the document of a fleet's run becomes a page, whatever texts are in it", async ({ watched: page }) => {
    const { loadAddon } = createRequire(import.meta.url)(join(MODULES, "maloko", "dist", "native.js"));
    const file = join(MADE, "fleet.html");
    const address = pathToFileURL(file).href;
    writeFileSync(file, loadAddon().fleetPage(JSON.stringify(fleetRun(1000))));
    await shows(page, address, "", /20 of the same/);
    await shows(page, address, "#/stacks?q=data-sa", /needs net\/net-sa, which failed/);
    writeFileSync(file, loadAddon().fleetPage(JSON.stringify(hostileFleet())));
    await page.reload();
    await shows(page, address, "#/failures", /<script>alert\(1\)<\/script>/);
    await expect(page.getByRole("heading", { level: 1 })).toContainText(HOSTILE);
    expect(await page.locator("script:not([type])").count()).toBe(1);
});

test("a run of 10,000 resources opens, and its views show it", { tag: "@night" }, async ({ watched: page }) => {
    const project = new Project("large", 10_000);
    project.run("up", "--yes", "--skip-preview", "--page", "run.html");
    const address = project.address("run.html");
    await shows(page, address, "", /This run took/);
    await shows(page, address, "#/resources?q=site-1110-server-6", /site-1110-server-6/);
    await shows(page, address, "#/resources?view=graph", /1,111 of this type/);
    await shows(page, address, "#/run", /Critical path/);
    await shows(page, address, "#/changes", /steps/);
});
