import { expect, test } from "vitest";
import { page, service, text } from "../../fixtures/make.ts";
import type { PageData } from "../data.ts";
import { Catalog } from "./catalog.ts";
import { doneWords, planAgainstResult, whyItDiffers } from "./plan.ts";

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

/** Of each resource that differs: what was done, and why. */
function reasons(data: PageData): { [name: string]: string } {
    const catalog = new Catalog(data);
    return Object.fromEntries(
        planAgainstResult(catalog)
            .filter((row) => row.differs)
            .map((row) => [
                catalog.nameOf(row.resource),
                `${doneWords(row)}. ${text(catalog, whyItDiffers(catalog, row))}`,
            ]),
    );
}

test("why something differs: it failed, what it depends on failed, its inputs turned out equal", () => {
    expect(reasons(service())).toEqual({
        backup: "unchanged. Nothing had to be done: its inputs turned out equal to those that it has. The plan did not know `database`, which comes from db (planned: replace) yet.",
        "mail-domain":
            "failed to create. It failed: ApiError: 422: the domain orders.example is registered with another account",
        "mail-sender": "not done. It was not begun: mail-domain, which it depends on, failed.",
    });
});

test("why more was done than planned: what was not known, another replacement, a new registration", () => {
    const data = page((make) => {
        make.add("base", "t");
        make.add("open", "t", { dependencies: [{ on: 0, properties: ["host"] }] });
        for (const name of ["forced", "led", "new", "gone", "milder", "unsaid"]) make.add(name, "t");
        make.step(0, "update", 0, 1);
        const changes = [{ path: "host.name", kind: "update" as const, old: 1, new: 2 }];
        make.step(1, "update", 1, 2, { changes });
        make.step(2, "replace", 1, 2, { keys: ["a", "b", "c", "d", "e"] });
        make.step(3, "replace", 1, 2, { because: { resource: 2, kind: "replaceWith" } });
        make.step(4, "create", 1, 2);
        make.step(5, "delete", 1, 2);
        make.step(6, "update", 1, 2, { changes });
        make.step(7, "update", 1, 2);
    });
    const plan = (resource: number, op: string) => ({ resource, op });
    if (data.run)
        data.run.plan = [
            plan(0, "update"),
            ...[1, 2, 3, 5, 7].map((resource) => plan(resource, "same")),
            plan(6, "replace"),
        ];
    expect(reasons(data)).toEqual({
        open: "updated. In the run `host.name` changed. The plan did not know `host`, which comes from base (planned: update) yet.",
        forced: "replaced. In the run `a`, `b`, `c`, `d` and more changed, which forces a replacement.",
        led: "replaced. It had to be replaced because forced was.",
        new: "created. The plan did not have it: the program registered it in the run alone.",
        gone: "deleted. The program did not register it in the run.",
        milder: "updated. It differs, but no property does that forces a replacement.",
        unsaid: "updated. ",
    });
});

test("while a run goes on, what it has not come to yet is no difference", () => {
    const data = page((make) => {
        for (const name of ["running", "later", "failed"]) make.add(name, "t");
        make.step(0, "replace", 0, undefined);
        make.step(2, "update", 0, 1, { status: "failed" });
    });
    if (data.run) data.run.plan = [0, 1, 2].map((resource) => ({ resource, op: "update" }));
    const differing = (goesOn: boolean) =>
        planAgainstResult(new Catalog(data), goesOn)
            .filter((row) => row.differs)
            .map((row) => row.resource);
    expect(differing(false)).toEqual([0, 1, 2]);
    expect(differing(true)).toEqual([2]);
});

test("why nothing was done: how the run ended", () => {
    const data = page((make) => void make.add("late", "t"));
    if (!data.run) return;
    data.run.plan = [{ resource: 0, op: "create" }];
    const after = (outcome: "succeeded" | "failed" | "cancelled" | "unfinished") => {
        if (data.run) data.run.outcome = outcome;
        return reasons(data).late;
    };
    expect((["succeeded", "failed", "cancelled", "unfinished"] as const).map(after)).toEqual([
        "not done. When the run came to it, there was nothing to do.",
        "not done. The run failed before it came to this.",
        "not done. The run was cancelled before it came to this.",
        "not done. The run has not come to this.",
    ]);
});
