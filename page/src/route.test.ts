import { expect, test } from "vitest";
import { format, parse } from "./route.ts";

test.each([
    ["", { view: "overview", params: {} }],
    ["#/run", { view: "run", params: {} }],
    ["#/nowhere/else", { view: "overview", item: "else", params: {} }],
    [
        "#/resources/urn:pulumi:s::p::a$b::n%2Fm?view=graph&q=two+words",
        { view: "resources", item: "urn:pulumi:s::p::a$b::n/m", params: { view: "graph", q: "two words" } },
    ],
    ["#/resources/100%", { view: "resources", item: "100%", params: {} }],
] as const)("the address %s", (hash, route) => {
    expect(parse(hash)).toEqual(route);
});

test("an address comes back as what it was made from", () => {
    const route = { view: "resources", item: "urn:pulumi:s::p::t::<a> ?#/&ü", params: { q: "a&b=c" } } as const;
    expect(parse(format(route))).toEqual(route);
    expect(format({ view: "run", params: { show: "" } })).toBe("#/run");
});
