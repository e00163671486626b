import { expect, test } from "vitest";
import { fleetRun } from "../../fixtures/fleet.ts";
import { FleetCatalog } from "./catalog.ts";
import { beginsDown, type StackFilter, saidOf, sorted, stacksOf } from "./rows.ts";

const NOTHING: StackFilter = { text: "", standings: new Set(), labels: {}, wave: undefined, around: undefined };
const catalog = new FleetCatalog(fleetRun(1000));

function found(filter: Partial<StackFilter>): string[] {
    return stacksOf(catalog, { ...NOTHING, ...filter }).map((at) => catalog.member(at).id);
}

test("every word has to be in one of the texts, whatever its letters", () => {
    expect(found({ text: "ACME-3-" })).toEqual(["tenant/acme-3-eu"]);
    expect(found({ text: "keyerror plan" })).toHaveLength(1);
    expect(found({ text: "keyerror acme-99" })).toEqual([]);
    expect(found({ text: "  " })).toHaveLength(1000);
});

test("a label is found as it is selected on the command line", () => {
    const eu = found({ text: "region=eu" });
    expect(eu.length).toBeGreaterThan(100);
    expect(eu.every((id) => id.endsWith("-eu"))).toBe(true);
    expect(found({ text: "tenant=ac*-3 region=eu" })).toEqual(found({ text: "tenant=acme-3 region=eu" }));
    expect(found({ text: "acme*eu*nothing" })).toEqual([]);
});

test("standings, labels and waves narrow what is found", () => {
    expect(found({ standings: new Set(["failed", "retrying"]) })).toHaveLength(
        catalog.data.counts.failed + catalog.data.counts.retrying,
    );
    const canary = found({ labels: { ring: "canary" } });
    expect(found({ labels: { ring: "canary" }, wave: 0 })).toEqual(canary);
    expect(found({ labels: { ring: "canary" }, wave: 1 })).toEqual([]);
    expect(found({ labels: { toString: "x" } })).toEqual([]);
});

test("around a stack are what it needs and what needs it", () => {
    const around = found({ around: catalog.byId.get("data/data-sa") });
    expect(around.slice(0, 2)).toEqual(["net/net-sa", "data/data-sa"]);
    expect(around.every((id) => id.endsWith("-sa"))).toBe(true);
});

test("without an order it is that of the document, with one what is worth a look comes first", () => {
    const all = catalog.members.map((_, index) => index);
    expect(sorted(catalog, all, undefined)).toBe(all);
    const outcomes = sorted(catalog, all, { by: "standing", down: false }).map((at) => catalog.member(at).standing);
    expect([outcomes[0], outcomes.at(-1)]).toEqual(["failed", "unchanged"]);
    const times = sorted(catalog, all, { by: "seconds", down: beginsDown("seconds") });
    const seconds = times.map((at) => catalog.member(at).end?.seconds ?? 0);
    expect(seconds).toEqual([...seconds].sort((a, b) => b - a));
    expect(all[0]).toBe(0);
});

test("stacks without anything in the column come last, whichever way", () => {
    const all = catalog.members.map((_, index) => index);
    for (const down of [true, false]) {
        const texts = sorted(catalog, all, { by: "text", down }).map((at) => saidOf(catalog.member(at)));
        expect([texts[0], texts.at(-1)].map(Boolean)).toEqual([true, false]);
    }
});
