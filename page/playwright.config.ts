import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { defineConfig } from "@playwright/test";

/** The system's Chromium: no browser is fetched. */
function chromium(): string {
    const named = process.env.MALOKO_CHROMIUM;
    if (named) return named;
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
        for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
            try {
                accessSync(join(folder, name), constants.X_OK);
                return join(folder, name);
            } catch {
                // Not here.
            }
        }
    }
    throw new Error(
        "the page is tested in Chromium: install it from the system's packages, or name it with MALOKO_CHROMIUM",
    );
}

export default defineConfig({
    testDir: "browser",
    outputDir: "test-results/runs",
    globalSetup: "./browser/pages.ts",
    workers: 1,
    timeout: 60_000,
    expect: { timeout: 10_000 },
    fullyParallel: false,
    forbidOnly: true,
    // What takes long is for `make nightly-node`.
    grepInvert: process.env.MALOKO_LONG ? undefined : /@night/,
    reporter: process.env.MALOKO_REPORT ? [["line"], ["junit", { outputFile: process.env.MALOKO_REPORT }]] : [["line"]],
    use: {
        actionTimeout: 10_000,
        viewport: { width: 1280, height: 800 },
        launchOptions: {
            executablePath: chromium(),
            args: [
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        },
    },
});
