import { expect, test } from "vitest";
import { fleetOf, fleetRun, hostileFleet } from "../../fixtures/fleet.ts";
import { FleetCatalog } from "./catalog.ts";
import type { StackEnd } from "./data.ts";
import { failureRows, groupsOf } from "./groups.ts";

function failed(id: string, text: string, more: Partial<StackEnd> = {}): StackEnd {
    return { id, outcome: "failed", reason: "provider", text, attempts: 1, seconds: 1, ...more };
}

function groups(ids: string[], ends: StackEnd[], labels?: (id: string) => { [label: string]: string }) {
    const stacks = ids.map((id) => ({ id, wave: 0, ...(labels ? { labels: labels(id) } : {}) }));
    return groupsOf(new FleetCatalog(fleetOf(stacks, ends)));
}

test("many stacks that fail of the same are one group, with what they have in common", () => {
    const catalog = new FleetCatalog(fleetRun(1000));
    const found = groupsOf(catalog);
    expect(found.map(({ text, stacks, skipped }) => [text, stacks.length, skipped > 0])).toEqual([
        ["503: the region sa-east is not reached", 1, true],
        ["403: the token of this worker has no right to create databases", 20, false],
        ["409: the bucket logs-{tenant} exists already", 3, false],
        ["KeyError: 'plan' (tenant/__main__.py:14)", 1, false],
    ]);
    expect(found[0]?.skipped).toBe(catalog.data.counts.skipped);
    expect(found[1]?.common).toContainEqual(["worker", "us-2"]);
    expect(found.reduce((all, { stacks }) => all + stacks.length, 0)).toBe(catalog.data.counts.failed);
});

test("a text that names its stack is the same for another one; equal texts are one as they are", () => {
    const ids = ["p/alpha", "p/beta"];
    expect(groups(ids, [failed("p/alpha", "no alpha"), failed("p/beta", "no beta")]).map(({ text }) => text)).toEqual([
        "no {stack}",
    ]);
    expect(groups(ids, [failed("p/alpha", "no alpha"), failed("p/beta", "no alpha")]).map(({ text }) => text)).toEqual([
        "no alpha",
    ]);
});

test("names that are short, or have signs of patterns, or are placeholders, change nothing else", () => {
    const labels = (id: string) => ({ zone: "eu", size: id.endsWith("a") ? "(.*)+" : "$&{stack}", kind: "stack" });
    const ends = [failed("p/aaaa", "Europe: (.*)+ of aaaa"), failed("p/bbbb", "Europe: $&{stack} of bbbb")];
    expect(groups(["p/aaaa", "p/bbbb"], ends, labels).map(({ text }) => text)).toEqual(["Europe: {size} of {stack}"]);
});

test("another reason, method or outcome is another group, and only the first line counts", () => {
    const ids = ["a", "b", "c", "d", "e"];
    const ends = [
        failed("a", "no\nat a"),
        failed("b", "no\nat b"),
        failed("c", "no", { method: "create" }),
        failed("d", "no", { reason: "program" }),
        failed("e", "no", { outcome: "cancelled" }),
    ];
    const found = groups(ids, ends);
    expect(found.map(({ stacks, outcome }) => [stacks.length, outcome])).toEqual([
        [2, "failed"],
        [1, "failed"],
        [1, "failed"],
        [1, "cancelled"],
    ]);
    expect(found[0]?.text).toBe("no");
});

test("what was skipped because the run was stopped is a group of its own", () => {
    const stopped = { outcome: "skipped", reason: "stopped", text: "3 failed before wave 2" } as const;
    const found = groups(["a", "b", "c"], [failed("a", "no"), failed("b", "", stopped), failed("c", "", stopped)]);
    expect(found.map(({ outcome, stacks }) => [outcome, stacks.length])).toEqual([
        ["failed", 1],
        ["skipped", 2],
    ]);
});

test("what all stacks have is nothing that these have in common", () => {
    const ids = ["a", "b", "c"];
    const labels = (id: string) => ({ all: "x", some: id === "c" ? "other" : "same" });
    const done: StackEnd = { id: "c", outcome: "done", attempts: 1, seconds: 1 };
    expect(groups(ids, [failed("a", "no"), failed("b", "no"), done], labels)[0]?.common).toEqual([["some", "same"]]);
});

test("a group unfolds into its stacks; one of a single stack does not", () => {
    const found = groups(["a", "b", "c"], [failed("a", "no"), failed("b", "no"), failed("c", "other")]);
    expect(failureRows(found, new Set())).toEqual([{ group: 0, open: false }, { group: 1 }]);
    expect(failureRows(found, new Set([0, 1]))).toEqual([
        { group: 0, open: true },
        { group: 0, stack: 0 },
        { group: 0, stack: 1 },
        { group: 1 },
    ]);
});

test("hostile texts and circles are grouped like others", () => {
    expect(groupsOf(new FleetCatalog(hostileFleet())).map(({ stacks }) => stacks.length)).toEqual([2]);
});
