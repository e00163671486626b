// The page of a fleet's run, made of its document.
import { expect, test } from "vitest";
import { loadAddon } from "../node_modules/maloko/dist/native.js";
import { dataOf } from "../support/pages";

const TEXT = "</script><script>alert(1)</script>";

function document(more: object = {}): string {
    const end = { id: "tenant/acme", outcome: "failed", changes: {}, reason: "program", attempts: 1, seconds: 2.5 };
    return JSON.stringify({
        run: "tenants-up-1",
        fleet: "tenants",
        verb: "up",
        state: "ended",
        outcome: "failed",
        stopped: "",
        began: 1764000000.5,
        seconds: 3,
        wave: 1,
        waves: 1,
        counts: { failed: 1 },
        stacks: [{ id: "tenant/acme", labels: { ring: "main" }, needs: [], wave: 0, queue: null }],
        ends: [{ ...end, text: TEXT, worker: "one", outputs: { url: "elsewhere" } }],
        atWork: [],
        ...more,
    });
}

test("the page of a fleet's run has its document", () => {
    const page = loadAddon().fleetPage(document());
    expect(dataOf(page)).toMatchObject({
        page: "fleet",
        run: "tenants-up-1",
        outcome: "failed",
        stacks: [{ id: "tenant/acme", labels: { ring: "main" }, wave: 0 }],
        ends: [{ text: TEXT, worker: "one" }],
    });
    expect(page).not.toContain(TEXT);
    expect(page).not.toContain("elsewhere");
});

test("what is no document of a fleet's run is refused", () => {
    expect(() => loadAddon().fleetPage(document({ state: "asleep" }))).toThrow(
        "cannot be made of this document: unknown variant `asleep`",
    );
});
