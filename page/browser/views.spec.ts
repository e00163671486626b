// Every view of both examples, in light and dark: it shows what it should, without a violation of axe, and without a request.
// By day every fifth one is looked at in the dark.

import { accessible, expect, fits, NIGHT, open, picture, test, turn } from "./support.ts";

const DB = "#/resources/urn:pulumi:production::orders::orders:Database$pulumi-python:dynamic%2Fdatabase:Database::db";

/** A view, where it is, and what has to be seen there. */
const SERVICE: [name: string, hash: string, seen: RegExp][] = [
    ["overview", "#/overview", /This run took 41 s; 6 calls are on its path/],
    ["resources-tree", "#/resources", /mail-domain/],
    ["resources-detail", DB, /db is replaced because its size changed/],
    ["resources-graph", `${DB}?view=graph`, /db-replica/],
    ["run-timeline", "#/run", /Critical path/],
    ["run-table", "#/run?show=table", /before attempt 2/],
    ["changes", "#/changes", /because of db/],
    ["changes-plan", "#/changes?show=plan", /3 resources differ from the plan/],
    ["changes-states", "#/changes?show=states", /version 41 .* → version 43/],
    ["log", "#/log", /size medium is served until/],
    ["history", "#/history", /Larger database, new release/],
];
const LARGE: typeof SERVICE = [
    ["large-overview", "#/overview", /This run took/],
    ["large-tree", "#/resources", /region-north/],
    ["large-graph", "#/resources?view=graph", /region-west/],
    ["large-timeline", "#/run", /Critical path/],
    ["large-table", "#/run?show=table", /10,?\d* rows|9,?\d* rows/],
    ["large-changes", "#/changes", /steps/],
    ["large-log", "#/log", /message 200/],
    ["large-history", "#/history", /Update/],
];

// A page is opened once: most of the time would go by with that.
for (const [file, views] of [
    ["service", SERVICE],
    ["large", LARGE],
] as const) {
    test(
        `${file}: every view, in light and dark`,
        { tag: file === "large" ? "@night" : [] },
        async ({ watched: page }) => {
            test.setTimeout(300_000);
            await open(page, file);
            for (const [index, [name, hash, seen]] of views.entries()) {
                const inDark = NIGHT || index % 5 === 0;
                await test.step(name, async () => {
                    await turn(page, file, hash);
                    for (const colorScheme of inDark ? (["light", "dark"] as const) : (["light"] as const)) {
                        await page.emulateMedia({ colorScheme });
                        await expect(page.locator("main")).toContainText(seen);
                        await fits(page);
                        await picture(page, `${name}-${colorScheme}`);
                        await accessible(page);
                    }
                });
            }
        },
    );
}

for (const scheme of ["light", "dark"] as const) {
    test.describe(scheme, { tag: scheme === "dark" ? "@night" : [] }, () => {
        test.use({ colorScheme: scheme });
        test("a chosen call shows its error with the traceback", async ({ watched: page }) => {
            await open(page, "service");
            await page.getByRole("link", { name: "Show in the run" }).click();
            const detail = page.getByRole("region", { name: "Details of the call" });
            await expect(detail).toContainText("422: the domain orders.example is registered");
            await expect(detail).toContainText('File "service/http.py", line 87, in _send');
            await picture(page, `run-call-${scheme}`);
            await accessible(page);
        });
        test("a chosen step shows why, as a chain", async ({ watched: page }) => {
            await open(page, "service", "#/changes");
            await page.getByRole("treeitem", { name: /balancer/ }).click();
            await picture(page, `changes-why-${scheme}`);
            await accessible(page);
        });
    });
}

test("a run that was killed says so, loudly, and what ran then", async ({ watched: page }) => {
    await open(page, "unfinished");
    await expect(page.getByRole("alert")).toContainText("Unfinished. This run has no end");
    await expect(page.getByRole("main")).toContainText("Running when it was cut off");
    await picture(page, "unfinished-light");
    await accessible(page);
});

test("a page of the stack alone has no views of a run", async ({ watched: page }) => {
    await open(page, "stack");
    await expect(page.getByRole("navigation", { name: "Views" }).getByRole("link")).toHaveText([
        "Overview",
        "Resources",
        "History",
    ]);
    await page.getByRole("link", { name: "Resources" }).click();
    await expect(page.getByRole("tree")).toContainText("db-replica");
    await accessible(page);
});
