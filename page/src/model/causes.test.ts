import { expect, test } from "vitest";
import { Builder } from "../../fixtures/builder.ts";
import { service } from "../../fixtures/make.ts";
import type { PageData, Step } from "../data.ts";
import { Catalog } from "./catalog.ts";
import { chain, type Part, planAgainstResult, repeats, sentence } from "./causes.ts";

const RUN = {
    kind: "update",
    dryRun: false,
    outcome: "succeeded",
    began: "2026-11-20T10:02:31Z",
    duration: 10,
    criticalPath: [],
} as const;

function page(fill: (make: Builder) => void): PageData {
    const make = new Builder("p", "s");
    fill(make);
    return make.page({ ...RUN, criticalPath: [] }, {});
}

function text(catalog: Catalog, parts: Part[]): string {
    return parts
        .map((part) =>
            typeof part === "string" ? part : "code" in part ? `\`${part.code}\`` : catalog.nameOf(part.resource),
        )
        .join("");
}

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

test("what differs from the plan comes first", () => {
    const data = page((make) => {
        for (const name of ["as-planned", "failed", "not-done", "not-planned", "alone"]) make.add(name, "t");
        make.step(0, "create-replacement", 0, 1);
        make.step(0, "delete-replaced", 1, 2);
        make.step(1, "create", 0, 1, { status: "failed" });
        make.step(3, "update", 0, 1);
        make.step(4, "same", 0, 1);
    });
    if (data.run)
        data.run.plan = [
            { resource: 0, op: "replace" },
            { resource: 1, op: "create" },
            { resource: 2, op: "delete" },
        ];
    const rows = planAgainstResult(new Catalog(data)).map(({ resource, planned, done, differs }) => [
        resource,
        planned,
        done,
        differs,
    ]);
    expect(rows).toEqual([
        [1, "create", "create", true],
        [2, "delete", undefined, true],
        [3, undefined, "update", true],
        [0, "replace", "replace", false],
    ]);
});

test("the same changes of a resource are told once", () => {
    const changes = [{ path: "size", kind: "update" as const, old: 1, new: 2 }];
    const step = { resource: 0, op: "replace", status: "done" as const, began: 0 };
    expect([...repeats([{ ...step, changes }, { ...step, changes }, { ...step, resource: 1, changes }, step])]).toEqual(
        [1],
    );
});
