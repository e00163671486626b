import { expect, test } from "vitest";
import { Builder } from "../../fixtures/builder.ts";
import { service } from "../../fixtures/make.ts";
import { Catalog } from "./catalog.ts";
import { counts, type Filter, isActive, matches, treeRows } from "./filter.ts";

const NOTHING: Filter = { text: "", ops: new Set(), states: new Set() };
const NOT_FOLDED = new Set<number>();

function names(catalog: Catalog, found: Iterable<number>): string[] {
    return [...found].map((index) => catalog.nameOf(index));
}

test("every word has to be in the name, the type or the URN", () => {
    const catalog = new Catalog(service());
    expect(names(catalog, matches(catalog, { ...NOTHING, text: "WEB server" }))).toEqual([
        "web-1",
        "web-2",
        "web-3",
        "web-4",
    ]);
    expect(matches(catalog, { ...NOTHING, text: "web nothing" }).size).toBe(0);
    expect(isActive({ ...NOTHING, text: "  " })).toBe(false);
});

test("operations and states narrow what is found", () => {
    const catalog = new Catalog(service());
    expect(names(catalog, matches(catalog, { ...NOTHING, ops: new Set(["create"]) }))).toEqual(["mail-domain"]);
    expect(names(catalog, matches(catalog, { ...NOTHING, states: new Set(["protected", "gone"]) }))).toEqual([
        "vpc",
        "legacy-cron",
    ]);
    expect(names(catalog, matches(catalog, { text: "db", ops: new Set(["replace"]), states: new Set() }))).toEqual([
        "db",
        "db-replica",
    ]);
});

test("each operation and state says how many it would show", () => {
    const catalog = new Catalog(service());
    const { ops, states } = counts(catalog);
    for (const [op, many] of ops) expect(matches(catalog, { ...NOTHING, ops: new Set([op]) }).size).toBe(many);
    for (const [state, many] of states)
        expect(matches(catalog, { ...NOTHING, states: new Set([state]) }).size).toBe(many);
});

test("the tree has every resource once, under its parent", () => {
    const catalog = new Catalog(service());
    const rows = treeRows(catalog, undefined, NOT_FOLDED);
    expect(new Set(rows.map((row) => row.index)).size).toBe(catalog.data.resources.length);
    expect(rows.map((row) => row.level)).toEqual(rows.map((row) => catalog.ancestors(row.index).length + 1));
});

test("what is folded hides what is below it", () => {
    const catalog = new Catalog(service());
    const rows = treeRows(catalog, undefined, new Set([0]));
    expect(rows.map((row) => [catalog.nameOf(row.index), row.expanded])).toEqual([["orders-production", false]]);
});

test("with a filter the tree has what is found, and the way to it", () => {
    const catalog = new Catalog(service());
    const found = matches(catalog, { ...NOTHING, text: "web-1" });
    const rows = treeRows(catalog, found, NOT_FOLDED).map((row) => [catalog.nameOf(row.index), row.onlyPath]);
    expect(rows).toEqual([
        ["orders-production", true],
        ["web", true],
        ["web-1", false],
    ]);
});

test("resources that are each other's parents are shown all the same", () => {
    const make = new Builder("p", "s");
    make.add("a", "t", { parent: 1 });
    make.add("b", "t", { parent: 0 });
    make.add("c", "t", { parent: 2 });
    make.add("d", "t", { parent: 99 });
    const catalog = new Catalog(make.page(undefined, {}));
    expect(
        names(
            catalog,
            treeRows(catalog, undefined, NOT_FOLDED).map((row) => row.index),
        ).sort(),
    ).toEqual(["a", "b", "c", "d"]);
});

test("two resources with one URN have addresses of their own", () => {
    const make = new Builder("p", "s");
    make.add("a", "t");
    make.add("a", "t", { marks: ["pendingDelete"] });
    const catalog = new Catalog(make.page(undefined, {}));
    expect(catalog.keys.map((key) => catalog.byKey.get(key))).toEqual([0, 1]);
});
