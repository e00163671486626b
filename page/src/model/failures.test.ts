import { expect, test } from "vitest";
import { page } from "../../fixtures/make.ts";
import type { PageData } from "../data.ts";
import { Catalog } from "./catalog.ts";
import { callsOf, failureLine, failureOf } from "./failures.ts";

function failed(fill: Parameters<typeof page>[0]): PageData {
    return page((make) => {
        make.add("web", "t");
        make.step(0, "create", 100, 200, { status: "failed" });
        fill(make);
    });
}

function step(catalog: Catalog) {
    return catalog.data.run?.steps[0] as NonNullable<PageData["run"]>["steps"][0];
}

test("a step failed of its last call that did; calls of other times are not its own", () => {
    const outcome = "failed" as const;
    const catalog = new Catalog(
        failed((make) => {
            make.activity("call", "check", 0, 10, 5, { outcome, error: "before" });
            make.activity("call", "create", 0, 110, 10, { outcome, error: "first" });
            make.activity("call", "create", 0, 130, 60, { outcome, error: "second\nline", attempt: 2 });
            make.activity("call", "delete", 0, 300, 5, { outcome, error: "after" });
        }),
    );
    expect(callsOf(catalog, step(catalog))).toEqual([1, 2]);
    expect(failureOf(catalog, step(catalog))).toEqual({ call: 2, messages: [] });
    expect(failureLine(catalog, step(catalog))).toBe("second");
});

test("without an error of a call: what was said meanwhile, or else what was said at all", () => {
    const meanwhile = new Catalog(
        failed((make) => {
            make.activity("call", "create", 0, 110, 80, { outcome: "unknown" });
            make.say("error", 20, "before", 0);
            make.say("warning", 150, "no error", 0);
            make.say("error", 201, "cut off", 0);
        }),
    );
    expect(failureOf(meanwhile, step(meanwhile))).toEqual({ call: 0, messages: ["cut off"] });
    const before = new Catalog(failed((make) => make.say("error", 20, "refused", 0)));
    expect(failureOf(before, step(before))).toEqual({ messages: ["refused"] });
    expect(failureLine(before, step(before))).toBe("refused");
});

test("a step that did not fail failed of nothing; what it had to wait for before belongs to it", () => {
    const catalog = new Catalog(
        page((make) => {
            make.add("web", "t");
            make.step(0, "delete", 100, 200);
            make.activity("dependency", "what is deleted before it", 0, 20, 79);
            make.activity("call", "diff", 0, 20, 5);
            make.activity("call", "delete", 0, 101, 50, { outcome: "ok" });
        }),
    );
    expect(failureOf(catalog, step(catalog))).toBeUndefined();
    expect(callsOf(catalog, step(catalog))).toEqual([0, 2]);
});
