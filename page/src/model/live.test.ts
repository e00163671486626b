import { expect, test } from "vitest";
import { service } from "../../fixtures/make.ts";
import { merge } from "./live.ts";

test("members go to their index, and behind the last one", () => {
    const data = service();
    const length = data.resources.length;
    const first = { ...data.resources[0], name: "other" } as (typeof data.resources)[0];
    merge(data, {
        resources: [
            [0, first],
            [length, { ...first, name: "new" }],
        ],
        outputs: { url: "https://new.example" },
        activities: [[0, { kind: "call", name: "create", began: 1, duration: 2, outcome: "ok" }]],
        run: { outcome: "succeeded", duration: 7 },
    });
    expect(
        data.resources.map((resource) => resource.name).filter((name) => name === "other" || name === "new"),
    ).toEqual(["other", "new"]);
    expect(data.outputs).toEqual({ url: "https://new.example" });
    expect(data.run?.activities[0]?.name).toBe("create");
    expect([data.run?.outcome, data.run?.duration]).toEqual(["succeeded", 7]);
});

test("a stream that left something out is noticed", () => {
    const data = service();
    expect(() => merge(data, { diagnostics: [[999, { severity: "info", message: "late", at: 1 }]] })).toThrow(
        "left out",
    );
});
