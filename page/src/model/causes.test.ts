import { expect, test } from "vitest";
import { page, service, text } from "../../fixtures/make.ts";
import type { Step } from "../data.ts";
import { Catalog } from "./catalog.ts";
import { chain, repeats, sentence } from "./causes.ts";

function told(catalog: Catalog, step: number): string[] {
    return chain(catalog, catalog.data.run?.steps[step] as Step, step).map((link) => text(catalog, sentence(link)));
}

test("a replacement is followed to its root, property by property", () => {
    const catalog = new Catalog(service());
    const balancer = catalog.data.resources.findIndex((resource) => resource.name === "balancer");
    expect(told(catalog, catalog.fate(balancer)?.steps[0] as number)).toEqual([
        "db is replaced because its `size` changed.",
        "web-4 is replaced because db, which it depends on by `host`, is.",
        "balancer is replaced because web-4, which it depends on by `targets`, is.",
    ]);
});

test("replaceWith and deletedWith are causes as well", () => {
    const catalog = new Catalog(
        page((make) => {
            for (const name of ["a", "b", "c"]) make.add(name, "t");
            make.step(0, "replace", 0, 1, { keys: ["x", "y", "z"] });
            make.step(1, "replace", 1, 2, { because: { resource: 0, kind: "replaceWith" } });
            make.step(2, "replace", 2, 3, { because: { resource: 1, kind: "deletedWith" } });
        }),
    );
    expect(told(catalog, 2)).toEqual([
        "a is replaced because its `x`, `y` and `z` changed.",
        "b is replaced because a, with which it is to be replaced (`replaceWith`), is.",
        "c is replaced because b, with which it is deleted (`deletedWith`), is.",
    ]);
});

test("a circle of causes ends", () => {
    const catalog = new Catalog(
        page((make) => {
            for (const name of ["a", "b"]) make.add(name, "t");
            make.step(0, "replace", 0, 1, { because: { resource: 1, kind: "property", property: "p" } });
            make.step(1, "replace", 1, 2, { because: { resource: 0, kind: "property", property: "p" } });
        }),
    );
    expect(told(catalog, 0)).toEqual(["b is replaced.", "a is replaced because b, which it depends on by `p`, is."]);
});

test("a cause without a step of its own is the root", () => {
    const catalog = new Catalog(
        page((make) => {
            for (const name of ["a", "b"]) make.add(name, "t");
            make.step(1, "replace", 1, 2, { because: { resource: 0, kind: "property", property: "p" } });
        }),
    );
    expect(told(catalog, 0)).toEqual(["a is replaced.", "b is replaced because a, which it depends on by `p`, is."]);
});

test("the same changes of a resource are told once", () => {
    const changes = [{ path: "size", kind: "update" as const, old: 1, new: 2 }];
    const step = { resource: 0, op: "replace", status: "done" as const, began: 0 };
    expect([...repeats([{ ...step, changes }, { ...step, changes }, { ...step, resource: 1, changes }, step])]).toEqual(
        [1],
    );
});
