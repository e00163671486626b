import { expect, test } from "vitest";
import { many, service } from "../../fixtures/make.ts";
import { Catalog, type EdgeKind } from "../model/catalog.ts";
import { flatten, items, links } from "./groups.ts";
import { type Box, layout, pathOf } from "./layout.ts";
import { fitted, zoomed } from "./pan-zoom.ts";

const ALL = new Set<EdgeKind>(["dependency", "deletedWith", "provider"]);
const FOLDED = new Set<string>();
const small = new Catalog(service());
const large = new Catalog(many(10_000));

test("a small stack is unfolded: each resource is a box, save the stack, which is around them all", () => {
    const boxes = flatten(items(small, { nested: true, toggled: FOLDED }));
    expect(
        boxes.filter((box) => box.kind !== "cluster").length + boxes.filter((box) => box.kind === "cluster").length,
    ).toBe(43);
    expect(boxes.every((box) => box.kind !== "group")).toBe(true);
});

test("the resource of a provider is a box where providers are shown, where it is looked for, and where it is chosen", () => {
    const vault = small.data.resources.findIndex((resource) => resource.name === "vault");
    const has = (options: Partial<Parameters<typeof items>[1]>) =>
        flatten(items(small, { nested: true, toggled: FOLDED, ...options })).some((box) => box.resource === vault);
    expect(has({})).toBe(false);
    expect(has({ providers: true })).toBe(true);
    expect(has({ found: new Set([vault]) })).toBe(true);
    expect(has({ keep: vault })).toBe(true);
});

test("a large stack shows its components, which stand for everything", () => {
    const boxes = items(large, { nested: true, toggled: FOLDED });
    expect(boxes.map((box) => [box.label, box.kind])).toEqual(
        ["north", "south", "east", "west"].map((name) => [`region-${name}`, "group"]),
    );
    expect(boxes.reduce((sum, box) => sum + box.members.length, 0)).toBe(9_999);
});

test("no box that is unfolded has many inside: they are grouped by type, and those in parts", () => {
    const toggled = new Set<string>();
    for (let round = 0; round < 5; round++) {
        const group = flatten(items(large, { nested: true, toggled })).findLast((box) => box.kind === "group");
        if (group) toggled.add(group.id);
    }
    const boxes = flatten(items(large, { nested: true, toggled }));
    expect(boxes.filter((box) => box.kind === "cluster").length).toBe(5);
    expect(Math.max(...boxes.map((box) => box.items.length))).toBeLessThanOrEqual(50);
});

test("what is asked for is unfolded, wherever it is", () => {
    const reveal = 9_000;
    const boxes = flatten(items(large, { nested: true, toggled: FOLDED, reveal }));
    expect(boxes.filter((box) => box.kind === "resource" && box.resource === reveal).length).toBe(1);
    expect(boxes.length).toBeLessThan(200);
});

test("without boxes for parents, resources are grouped by type", () => {
    const boxes = items(large, { nested: false, toggled: FOLDED });
    expect(
        boxes
            .filter((box) => box.kind === "group")
            .map((box) => box.label)
            .sort(),
    ).toEqual(["Address", "Cell", "Certificate", "Disk", "Record", "Role", "Server"]);
});

test("edges of resources that are folded are lines of their group, counted", () => {
    const toggled = new Set(
        flatten(items(small, { nested: true, providers: true, toggled: FOLDED })).map((box) => box.id),
    );
    const boxes = items(small, { nested: true, providers: true, toggled });
    const label = (id: string) => boxes.find((box) => box.id === id)?.label;
    const lines = links(small, boxes, ALL).map(
        (line) => `${label(line.from)} ${line.kind} ${label(line.to)} ${line.count}`,
    );
    expect(lines).toContain("worker dependency web 4");
    expect(lines).toContain("data provider vault 4");
    expect(lines.some((line) => line.startsWith("web dependency web"))).toBe(false);
});

test("boxes do not overlap, those inside are inside", () => {
    const list = items(small, { nested: true, providers: true, toggled: FOLDED });
    const { boxes, lines } = layout(list, links(small, list, ALL));
    const at = new Map(boxes.map((box) => [box.item.id, box]));
    const apart = (a: Box, b: Box) =>
        a.x + a.width <= b.x + 0.01 ||
        b.x + b.width <= a.x + 0.01 ||
        a.y + a.height <= b.y + 0.01 ||
        b.y + b.height <= a.y + 0.01;
    const within = (a: Box, b: Box) =>
        a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width + 0.01 && a.y + a.height <= b.y + b.height + 0.01;
    const check = (siblings: typeof list, around?: Box) => {
        const placed = siblings.map((item) => at.get(item.id) as Box);
        placed.forEach((box, place) => {
            if (around) expect(within(box, around)).toBe(true);
            for (const other of placed.slice(place + 1)) expect(apart(box, other)).toBe(true);
            check(box.item.items, box);
        });
    };
    check(list);
    expect(boxes.length).toBe(44);
    expect(lines.every(({ points }) => points.length >= 2 && pathOf(points).startsWith("M"))).toBe(true);
});

test("circles of parents and of dependencies are drawn", () => {
    const page = service();
    const [a, b] = [page.resources[5], page.resources[6]];
    if (a && b) {
        a.parent = 6;
        b.parent = 5;
        a.dependencies = [{ on: 6, properties: [] }];
        b.dependencies = [
            { on: 5, properties: [] },
            { on: 999, properties: [] },
        ];
    }
    const catalog = new Catalog(page);
    const list = items(catalog, { nested: true, toggled: FOLDED });
    expect(() => layout(list, links(catalog, list, ALL))).not.toThrow();
});

test("a zoom keeps the point under the pointer where it is, within bounds", () => {
    const view = zoomed({ x: 10, y: 20, scale: 1 }, 2, [110, 120]);
    expect(view).toEqual({ x: -90, y: -80, scale: 2 });
    expect(zoomed(view, 1000, [0, 0]).scale).toBe(3);
});

test("a drawing is fitted into its frame, but never made larger", () => {
    expect(fitted({ width: 100, height: 50 }, { width: 800, height: 600 })).toEqual({ scale: 1, x: 350, y: 275 });
    expect(fitted({ width: 4000, height: 100 }, { width: 848, height: 600 }).scale).toBeCloseTo(0.2);
});
