// What people come for: why a run was slow, why something is replaced, where a resource is. By mouse, by keyboard, on a small screen.

import { accessible, expect, fits, NIGHT, open, picture, test, turn } from "./support.ts";

test("why was this run slow: two clicks from the opened page to the slowest call", async ({ watched: page }) => {
    await open(page, "service");
    await page.getByRole("link", { name: "create of db" }).click();
    const detail = page.getByRole("region", { name: "Details of the call" });
    await expect(detail).toContainText("This is a part of what the run's duration is made of");
    await detail.getByRole("link", { name: "db" }).click();
    await expect(page.getByRole("region", { name: "Details of the resource" })).toContainText(
        "service:DatabaseProvider",
    );
    await page.goBack();
    await page.goBack();
    await expect(page.getByRole("heading", { name: "Where the time went" })).toBeVisible();
});

test("why is this replaced: the chain leads to its root, link by link", async ({ watched: page }) => {
    await open(page, "service", "#/changes");
    await page.getByRole("treeitem", { name: /^.*balancer/ }).click();
    const detail = page.getByRole("region", { name: "Details of the step" });
    await expect(detail.locator(".chain li")).toHaveText([
        "db is replaced because its size changed.",
        "web-4 is replaced because db, which it depends on by host, is.",
        "balancer is replaced because web-4, which it depends on by targets, is.",
    ]);
    await detail.locator(".chain").getByRole("link", { name: "db" }).first().click();
    await expect(detail.getByRole("heading", { level: 2 })).toHaveText(/^db/);
    await expect(detail.locator("table.changes tbody tr").first()).toContainText("medium");
    await expect(detail).toContainText("As planned: replace.");
});

test("why did this fail: the step has the error, and leads to its call on the timeline", async ({ watched: page }) => {
    await open(page, "service", "#/changes");
    const row = page.getByRole("treeitem", { name: /mail-domain/ });
    await expect(row).toContainText("ApiError: 422: the domain orders.example");
    await row.click();
    const failure = page.getByRole("region", { name: "Why it failed" });
    await expect(failure).toContainText("create failed");
    await expect(failure).toContainText('File "service/http.py", line 87, in _send');
    await picture(page, "changes-failed-light");
    await accessible(page);
    await failure.getByRole("link", { name: "Show on the timeline" }).click();
    await expect(page.getByRole("region", { name: "Details of the call" })).toContainText("create of mail-domain");
    await expect(page.getByRole("application", { name: /^Timeline of the run/ })).toBeVisible();
});

test("a replacement is one row, which unfolds into its steps by mouse and keys", async ({ watched: page }) => {
    const rows = page.getByRole("treeitem");
    await open(page, "service", "#/changes?q=%3A%3Adb");
    await expect(rows).toHaveText([/^▸.*db Database.*replaced/, /^▸?.*db-replica/]);
    const isChosen = (place: number) => expect(rows.nth(place)).toHaveAttribute("aria-selected", "true");
    await rows.first().click();
    await isChosen(0);
    await expect(rows.first()).toHaveAttribute("aria-expanded", "false");
    await page.getByRole("tree", { name: "Steps" }).focus();
    await page.keyboard.press("ArrowRight");
    await expect(rows).toHaveText([/db Database/, /replacement created/, /original deleted/, /db-replica/]);
    await page.keyboard.press("ArrowDown");
    await isChosen(1);
    await page.keyboard.press("ArrowDown");
    await isChosen(2);
    const detail = page.getByRole("region", { name: "Details of the step" });
    await expect(detail).toContainText("what is deleted before it");
    await page.keyboard.press("ArrowLeft");
    await isChosen(0);
    await page.keyboard.press("ArrowLeft");
    await expect(rows).toHaveCount(2);
    await page.getByRole("link", { name: "delete original" }).click();
    await expect(rows.filter({ hasText: "original deleted" })).toHaveAttribute("aria-selected", "true");
});

test("why was it not done as planned: in words, in the list and at the step", async ({ watched: page }) => {
    await open(page, "service", "#/changes?show=plan");
    const equal = "Nothing had to be done: its inputs turned out equal to those that it has.";
    const row = page.getByRole("row").filter({ hasText: "backup" });
    await expect(row.locator("+ tr")).toContainText(equal);
    await row.getByRole("link", { name: "unchanged" }).click();
    await expect(page.getByRole("region", { name: "Details of the step" })).toContainText(
        `Differs from the plan: planned update; unchanged. ${equal}`,
    );
});

test("the history of a resource leads to what an operation changed, and to this run", async ({ watched: page }) => {
    await open(page, "service", "#/resources");
    await page.getByRole("treeitem", { name: /^.*db Database/ }).click();
    const resource = page.getByRole("region", { name: "Details of the resource" });
    await resource.getByRole("link", { name: "version 41" }).click();
    const operation = page.getByRole("region", { name: "Details of the operation" });
    await expect(operation.getByRole("table")).toContainText("version");
    await expect(operation.getByRole("table")).toContainText("15");
    await picture(page, "history-detail-light");
    await accessible(page);
    await page.getByRole("option", { name: /this page/ }).click();
    await operation.getByRole("link", { name: "its changes" }).click();
    await expect(page.getByRole("tree", { name: "Steps" })).toBeVisible();
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await resource.getByRole("link", { name: "this run" }).click();
    await expect(page.getByRole("region", { name: "Details of the step" })).toContainText("replaced");
    await open(page, "service", "#/resources?q=worker-1");
    await page.getByRole("treeitem", { name: /^.*worker-1/ }).click();
    await resource.getByRole("link", { name: "Compared with version 41" }).click();
    await expect(page.getByRole("tab", { name: "Two states" })).toHaveAttribute("aria-selected", "true");
    await expect(page.getByRole("region", { name: "Details of the step" })).toContainText("orders:2026.11.20-1");
});

test("resources are found by words, operation and state, and the address says so", async ({ watched: page }) => {
    await open(page, "service", "#/resources");
    await page.getByRole("searchbox").fill("server web");
    await expect(page.getByRole("treeitem")).toHaveCount(6);
    await expect(page).toHaveURL(/q=server\+web/);
    await page.getByRole("button", { name: /^updated/ }).click();
    await expect(page.getByText("No resource is like that.")).toBeVisible();
    await page.getByRole("searchbox").fill("");
    await expect(page.getByRole("status").first()).toHaveText("8 of 45");
    await page.goBack();
    await expect(page.getByRole("button", { name: /^updated/ })).toHaveAttribute("aria-pressed", "false");
});

test("the graph unfolds on a click, folds again, and is moved by wheel and buttons", async ({ watched: page }) => {
    await open(page, "large", "#/resources?view=graph");
    const graph = page.getByRole("group", { name: "Graph of the resources" });
    await expect(graph.getByRole("button")).toHaveCount(4);
    await graph.getByRole("button", { name: /region-north/ }).click();
    await graph.getByRole("button", { name: /^Cell, \d+ of this type/ }).click();
    await graph.getByRole("button", { name: /^Cell 1–50/ }).click();
    await graph.getByRole("button", { name: /^cell-68,/ }).click();
    await picture(page, "large-graph-unfolded-light");
    await graph.getByRole("button", { name: /^server-72,/ }).click();
    await expect(page.getByRole("region", { name: "Details of the resource" })).toContainText("fleet:Servers");
    const scene = graph.locator("> g");
    const before = await scene.getAttribute("transform");
    await page.getByRole("button", { name: "Zoom in" }).click();
    expect(await scene.getAttribute("transform")).not.toBe(before);
    await page.getByRole("button", { name: "Fit" }).click();
    await graph.getByRole("button", { name: /region-north/ }).focus();
    await page.keyboard.press("Backspace");
    await expect(graph.getByRole("button")).toHaveCount(4);
    await page.getByRole("button", { name: "Parents (boxes)" }).click();
    await expect(graph.getByRole("button", { name: /^Server, 1,\d+ of this type/ })).toBeVisible();
    if (NIGHT) await accessible(page);
});

test("kinds of lines are switched, and those of the chosen resource say their properties", async ({
    watched: page,
}) => {
    await open(page, "service", "#/resources?view=graph&q=role");
    const lines = page.locator(".lines .line");
    await expect(lines).toHaveCount(0);
    await open(page, "service", "#/resources?view=graph");
    const all = await lines.count();
    await page.getByRole("button", { name: "Provider resources" }).click();
    expect(await lines.count()).toBe(all + 4);
    await page.getByRole("button", { name: "Fit" }).click();
    await page.getByRole("button", { name: /^db-replica,/ }).click();
    await expect(page.locator(".texts text")).toHaveText(["source", "deletedWith"]);
});

test("the timeline: hover tells, a click chooses, keys go from call to call", async ({ watched: page }) => {
    await open(page, "service", "#/run");
    const lanes = page.getByRole("application", { name: /^Timeline of the run/ });
    const box = await lanes.boundingBox();
    if (!box) throw new Error("the timeline is not shown");
    // The lane of the critical path: some way into the run `db` is created.
    await page.mouse.move(box.x + box.width * 0.4, box.y + 32);
    await expect(page.locator(".tip")).toContainText("create of db");
    await page.mouse.click(box.x + box.width * 0.4, box.y + 32);
    await expect(page.getByRole("region", { name: "Details of the call" })).toContainText("create of db");
    await lanes.focus();
    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("heading", { level: 2 })).toHaveText("db waits for what is deleted before it");
    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("heading", { level: 2 })).toHaveText("delete of db");
    await page.keyboard.press("+");
    await page.keyboard.press("0");
    await page.getByRole("checkbox", { name: "As few lanes as possible" }).check();
    await expect(page.getByRole("heading", { level: 2 })).toHaveText("delete of db");
});

test("the table of calls is sorted by each of its columns", async ({ watched: page }) => {
    await open(page, "service", "#/run?show=table");
    const first = page.getByRole("row").nth(1);
    await expect(first).toContainText("14 s");
    await page.getByRole("button", { name: "Resource" }).click();
    await expect(page.getByRole("columnheader", { name: "Resource" })).toHaveAttribute("aria-sort", "ascending");
    await expect(first).toContainText("vault starts");
    await page.getByRole("button", { name: "Outcome" }).click();
    await page.getByRole("button", { name: "Outcome" }).click();
    await expect(first).toContainText("ok");
    await page.getByRole("button", { name: /^Pauses/ }).click();
    await expect(page.getByRole("row")).toHaveCount(2);
});

test("by keyboard alone: to the content, through the tree, into the details, through the tabs", async ({
    watched: page,
}) => {
    await open(page, "service");
    await page.keyboard.press("Tab");
    await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("main")).toBeFocused();
    await page.goto(`${page.url().split("#")[0]}#/resources`);
    // The key is heard once the view is there.
    await expect(async () => {
        await page.keyboard.press("/");
        await expect(page.getByRole("searchbox")).toBeFocused({ timeout: 500 });
    }).toPass();
    const tree = page.getByRole("tree", { name: "Resources" });
    await tree.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const row = tree.getByRole("treeitem", { name: /^.*network Network/ });
    await expect(row).toHaveAttribute("aria-selected", "true");
    await expect(tree).toHaveAttribute("aria-activedescendant", (await row.getAttribute("id")) as string);
    await page.keyboard.press("ArrowLeft");
    await expect(row).toHaveAttribute("aria-expanded", "false");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("heading", { level: 2 })).toHaveText(/^vpc/);
    await page.keyboard.press("End");
    await expect(page.getByRole("heading", { level: 2 })).toHaveText(/^dashboard/);
    await page.getByRole("tab", { name: "Tree" }).focus();
    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("tab", { name: "Graph" })).toBeFocused();
    await expect(page.getByRole("tab", { name: "Graph" })).toHaveAttribute("aria-selected", "true");
    const boxes = page.getByRole("group", { name: "Graph of the resources" });
    await boxes.getByRole("button").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("region", { name: "Details of the resource" })).toContainText("URN");
});

test.describe("on a small screen", () => {
    test.use({ viewport: { width: 360, height: 740 } });
    test("nothing is wider than the screen, in any view", async ({ watched: page }) => {
        test.setTimeout(120_000);
        await open(page, "service");
        const views = [
            "#/overview",
            "#/resources",
            "#/resources?view=graph",
            "#/run",
            "#/run?show=table",
            "#/changes",
            "#/changes/11",
            "#/changes?show=plan",
            "#/log",
            "#/history",
            "#/history/41",
        ];
        for (const [index, hash] of views.entries()) {
            await test.step(hash, async () => {
                await turn(page, "service", hash);
                await fits(page);
                await picture(page, `narrow${hash.replace(/\W+/g, "-")}`);
                // By day the rules of axe on every fifth: on a large screen each view keeps them.
                if (NIGHT || index % 5 === 0) await accessible(page);
            });
        }
    });
    test("details take the place of the list, and lead back to it", async ({ watched: page }) => {
        await open(page, "service", "#/resources");
        await page.getByRole("treeitem", { name: /^.*vpc/ }).click();
        await expect(page.getByRole("tree")).toBeHidden();
        await page.getByRole("link", { name: "Back to the list" }).click();
        await expect(page.getByRole("tree")).toBeVisible();
    });
});

test("on paper: everything is there, not only what was on the screen", async ({ watched: page }) => {
    await open(page, "service", "#/resources");
    await page.emulateMedia({ media: "print" });
    await expect(page.getByRole("treeitem")).toHaveCount(45);
    await expect(page.getByRole("navigation")).toBeHidden();
    const pdf = await page.pdf({ format: "A4" });
    expect(pdf.length).toBeGreaterThan(10_000);
    await page.emulateMedia({ media: "screen" });
    await open(page, "service", "#/changes");
    await page.emulateMedia({ media: "print" });
    await expect(page.getByRole("treeitem")).toHaveCount(21);
});
