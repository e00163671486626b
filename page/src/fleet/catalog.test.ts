import { expect, test } from "vitest";
import { fleetOf, fleetRun } from "../../fixtures/fleet.ts";
import { FleetCatalog } from "./catalog.ts";
import type { Standing } from "./data.ts";

const DONE = { outcome: "done", attempts: 1, seconds: 1 } as const;

test("each stack stands somewhere, and together they are the counts", () => {
    const data = fleetRun(1000);
    const catalog = new FleetCatalog(data);
    expect(catalog.members).toHaveLength(1000);
    for (const [name, many] of catalog.standings) expect([name, many]).toEqual([name, data.counts[name]]);
    expect([...catalog.standings.values()].reduce((all, many) => all + many)).toBe(1000);
    expect(catalog.wordOf("waiting")).toBe("waiting");
});

test("a stack has what it needs and what needs it, also through others", () => {
    const catalog = new FleetCatalog(fleetRun(100));
    const of = (id: string) => catalog.byId.get(id) as number;
    expect(catalog.member(of("data/data-eu")).needs).toEqual([of("net/net-eu")]);
    expect(catalog.needsOf(of("data/data-eu"))).toEqual([of("net/net-eu")]);
    expect(catalog.dependentsOf(of("net/net-sa"))).toContain(of("data/data-sa"));
    expect(catalog.dependentsOf(of("net/net-sa")).length).toBeGreaterThan(3);
});

test("what was skipped has the failures because of which it was", () => {
    const catalog = new FleetCatalog(fleetRun(100));
    const skipped = catalog.members.findLastIndex((one) => one.standing === "skipped");
    expect(catalog.causesOf(skipped).map((at) => catalog.member(at).id)).toEqual(["net/net-sa"]);
    expect(catalog.causesOf(catalog.byId.get("net/net-sa") as number)).toEqual([]);
});

test("a circle, a need that is not in the run and one of its own are no harm", () => {
    const catalog = new FleetCatalog(
        fleetOf(
            [
                { id: "a", wave: 0, needs: ["b", "elsewhere"] },
                { id: "b", wave: 0, needs: ["a", "b", "a"] },
            ],
            [],
        ),
    );
    expect(catalog.member(0).others).toEqual(["elsewhere"]);
    expect(catalog.member(1).needs).toEqual([0]);
    expect([catalog.needsOf(0), catalog.dependentsOf(0)]).toEqual([[1], [1]]);
});

test("what a program asked for while it ran is a need, too", () => {
    const end = { ...DONE, id: "b", outcome: "failed", reason: "needs", needs: "a" } as const;
    const stacks = ["a", "b"].map((id) => ({ id, wave: 0 }));
    expect(new FleetCatalog(fleetOf(stacks, [end])).member(1).needs).toEqual([0]);
});

test("what ended without being in the list of stacks is shown all the same", () => {
    const catalog = new FleetCatalog(fleetOf([{ id: "a", wave: 0 }], [{ ...DONE, id: "late" }]));
    expect(catalog.members.map(({ id, standing }) => [id, standing])).toEqual([
        ["a", "waiting"],
        ["late", "done"],
    ]);
});

test("where only some of those at work are told, the others are not taken to wait", () => {
    const data = fleetOf([{ id: "a", wave: 0 }], []);
    data.counts.running = 1;
    expect(["waiting", "done"].map((name) => new FleetCatalog(data).wordOf(name as Standing))).toEqual([
        "not ended",
        "done",
    ]);
});

test("labels come with how many stacks have each value", () => {
    const labels = new FleetCatalog(fleetRun(500)).labels;
    expect(labels.map(({ name }) => name)).toEqual(["region", "tenant", "ring"]);
    const ring = labels[2]?.values.map(([value]) => value);
    expect(ring).toEqual(["main", "canary"]);
});
