import { expect, test } from "vitest";
import { service, unfinished } from "../../fixtures/make.ts";
import { Catalog } from "./catalog.ts";
import { changesOf, entries } from "./past.ts";

test("the run of the page is in its history: by its number, or above what the history has", () => {
    const known = entries(service());
    expect(known.slice(0, 2).map(({ key, current }) => [key, current])).toEqual([
        ["43", true],
        ["42", false],
    ]);
    const fresh = entries(unfinished());
    expect(fresh.slice(0, 2).map(({ key, current, item }) => [key, current, item.result])).toEqual([
        ["this", true, "unfinished"],
        ["42", false, "unfinished"],
    ]);
    const preview = unfinished();
    if (preview.run) preview.run.dryRun = true;
    expect(entries(preview)[0]?.key).toBe("42");
});

test("what an operation of the past changed is found by its version", () => {
    const catalog = new Catalog(service());
    const told = changesOf(catalog, 41).map(({ resource, operation }) => [
        catalog.nameOf(resource),
        operation.changes?.map(({ path }) => path),
    ]);
    expect(told).toEqual([["db", ["version", "password"]]]);
    expect(changesOf(catalog, 1)).toEqual([]);
});
