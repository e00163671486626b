// A page that is served while the run goes on: it follows, and says how it ended.

import { readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "@playwright/test";
import { filled, unfinished } from "../fixtures/make.ts";
import type { More, PageData } from "../src/data.ts";
import { FORM } from "./pages.ts";
import { accessible, expect, picture } from "./support.ts";

/** As the engine serves it: the form with `null`, and the stream, both with the token. */
class Live {
    private readonly server: Server;
    private stream: ServerResponse | undefined;
    readonly asked: string[] = [];

    constructor() {
        this.server = createServer((request, response) => {
            this.asked.push(request.url ?? "");
            const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
            if (searchParams.get("token") !== "secret-token") return void response.writeHead(403).end();
            if (pathname === "/")
                return void response
                    .writeHead(200, { "content-type": "text/html" })
                    .end(filled(readFileSync(FORM, "utf8"), null));
            response.writeHead(200, { "content-type": "text/event-stream" });
            response.flushHeaders();
            this.stream = response;
        });
    }

    async start(): Promise<string> {
        await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
        return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/?token=secret-token`;
    }

    send(event: "page" | "more", data: PageData | More): void {
        this.stream?.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    }

    followed(): boolean {
        return this.stream !== undefined;
    }

    endStream(): void {
        this.stream?.end();
    }

    stop(): void {
        this.server.closeAllConnections();
        this.server.close();
    }
}

let live: Live;
test.beforeEach(() => {
    live = new Live();
});
test.afterEach(() => live.stop());

test("it follows the run to its end, and says how it ended", async ({ page }) => {
    await page.goto(await live.start());
    await expect(page.getByRole("status")).toHaveText("Waiting for the run…");
    await expect.poll(() => live.followed()).toBe(true);
    const data = unfinished();
    live.send("page", data);
    await expect(page.getByRole("status").first()).toHaveText("Live: this page follows the run.");
    await expect(page.locator(".outcome")).toHaveText("Update is running, with errors");
    await expect(page.getByRole("heading", { name: "Running now" })).toBeVisible();
    await picture(page, "live-light");
    await accessible(page);
    const resource = data.resources.length;
    live.send("more", {
        resources: [
            [
                resource,
                { urn: "urn:pulumi:production::orders::t::late", name: "late", type: "t", custom: true, parent: 0 },
            ],
        ],
        activities: [
            [
                data.run?.activities.length ?? 0,
                { kind: "call", name: "create", resource, began: 41_000, duration: 900, outcome: "ok" },
            ],
        ],
        diagnostics: [
            [
                data.run?.diagnostics.length ?? 0,
                { severity: "warning", message: "late, but here", at: 41_500, resource },
            ],
        ],
    });
    await expect(page.getByRole("main")).toContainText("late, but here");
    live.send("more", { run: { outcome: "succeeded", duration: 42_000 } });
    live.endStream();
    await expect(page.getByRole("status").first()).toHaveText(
        "The run ended: it succeeded. This page shows all of it.",
    );
    await expect(page.locator(".outcome")).toHaveText("Update succeeded");
    // It does not connect again.
    const asked = live.asked.length;
    await page.getByRole("link", { name: "Resources" }).click();
    await page.getByRole("searchbox").fill("late");
    await expect(page.getByRole("treeitem", { name: /^late/ })).toBeVisible();
    expect(live.asked.length).toBe(asked);
    expect(live.asked.every((url) => url.endsWith("?token=secret-token"))).toBe(true);
});

test("a run under way looks like one, and its time goes on between what comes", async ({ page }) => {
    await page.clock.install();
    await page.goto(await live.start());
    await expect.poll(() => live.followed()).toBe(true);
    const data = unfinished();
    for (const step of data.run?.steps ?? []) if (step.status === "failed") step.status = "running";
    live.send("page", data);
    const outcome = page.locator(".outcome");
    await expect(outcome).toHaveText("Update is running");
    await expect(outcome).toHaveClass(/outcome-running/);
    await page.clock.fastForward("01:00:00");
    await expect(page.locator(".title")).toContainText("1 h");
    await expect(page.locator(".facts")).toContainText(/Running for1 h/);
    await accessible(page);
});

test("a connection that is lost is said", async ({ page }) => {
    await page.goto(await live.start());
    await expect.poll(() => live.followed()).toBe(true);
    live.send("page", unfinished());
    await expect(page.getByRole("status").first()).toHaveText("Live: this page follows the run.");
    live.stop();
    await expect(page.getByRole("alert")).toContainText("The connection was lost before the run ended.");
    await accessible(page);
});

test("a connection that never came is said", async ({ page }) => {
    const url = await live.start();
    await page.route("**/events*", (route) => route.fulfill({ status: 403 }));
    await page.goto(url);
    await expect(page.getByRole("status")).toHaveText("The connection was lost before anything came.");
});
