// Which resources are shown: by words, operation and state; and the rows of the tree that come of it.

import type { Catalog } from "./catalog.ts";

export interface Filter {
    /** What was typed; every word has to be in the name, the type or the URN. */
    text: string;
    /** Families of operations; none: all. */
    ops: ReadonlySet<string>;
    /** States; none: all. */
    states: ReadonlySet<string>;
}

/** States in words, in the order of their list. */
export const STATES: [state: string, label: string][] = [
    ["failed", "failed"],
    ["running", "running"],
    ["unhealthy", "unhealthy"],
    ["tainted", "tainted"],
    ["pendingDelete", "pending delete"],
    ["pendingReplacement", "pending replacement"],
    ["protected", "protected"],
    ["external", "external"],
    ["gone", "removed by the run"],
    ["component", "component"],
];

export function stateWords(state: string): string {
    return STATES.find(([name]) => name === state)?.[1] ?? state;
}

/** The states of a resource, by which it can be found. */
export function statesOf(catalog: Catalog, index: number): string[] {
    const resource = catalog.resource(index);
    if (!resource) return [];
    const fate = catalog.fate(index);
    const states: string[] = [...(resource.marks ?? [])];
    if (fate?.failed) states.push("failed");
    if (fate?.running) states.push("running");
    if (resource.gone) states.push("gone");
    if (!resource.custom) states.push("component");
    return states;
}

/** How many resources each operation and each state has. */
export function counts(catalog: Catalog): { ops: Map<string, number>; states: Map<string, number> } {
    const ops = new Map<string, number>();
    const states = new Map<string, number>();
    catalog.data.resources.forEach((_, index) => {
        const op = catalog.fate(index)?.op;
        if (op) ops.set(op, (ops.get(op) ?? 0) + 1);
        for (const state of statesOf(catalog, index)) states.set(state, (states.get(state) ?? 0) + 1);
    });
    return { ops, states };
}

export function wordsOf(text: string): string[] {
    return text.toLowerCase().split(/\s+/).filter(Boolean);
}

export function isActive(filter: Filter): boolean {
    return wordsOf(filter.text).length > 0 || filter.ops.size > 0 || filter.states.size > 0;
}

/** The resources that a filter lets through. */
export function matches(catalog: Catalog, filter: Filter): Set<number> {
    const words = wordsOf(filter.text);
    const found = new Set<number>();
    for (let index = 0; index < catalog.texts.length; index++) {
        const text = catalog.texts[index] as string;
        if (!words.every((word) => text.includes(word))) continue;
        if (filter.ops.size > 0 && !filter.ops.has(catalog.fate(index)?.op ?? "")) continue;
        if (filter.states.size > 0 && !statesOf(catalog, index).some((state) => filter.states.has(state))) continue;
        found.add(index);
    }
    return found;
}

/** A row of the tree. */
export interface TreeRow {
    index: number;
    /** From 1. */
    level: number;
    /** Absent: it has no children that are shown. */
    expanded?: boolean;
    /** Is it shown for the sake of what is below it? */
    onlyPath: boolean;
    position: number;
    siblings: number;
}

/**
 * The rows of the tree. With a filter: what it lets through and what is above that, all unfolded, save what was folded by hand
 * (`folded`).
 */
export function treeRows(catalog: Catalog, found: Set<number> | undefined, folded: ReadonlySet<number>): TreeRow[] {
    let shown: Set<number> | undefined;
    if (found) {
        shown = new Set(found);
        for (const index of found) {
            // Above what is shown already, everything is, or will be when its turn comes.
            for (let at = catalog.parentOf(index); at !== undefined && !shown.has(at); at = catalog.parentOf(at))
                shown.add(at);
        }
    }
    const rows: TreeRow[] = [];
    const seen = new Set<number>();
    const walk = (list: readonly number[], level: number): void => {
        const visible = shown ? list.filter((index) => shown.has(index)) : list;
        visible.forEach((index, place) => {
            if (seen.has(index)) return;
            seen.add(index);
            const row: TreeRow = {
                index,
                level,
                onlyPath: found !== undefined && !found.has(index),
                position: place + 1,
                siblings: visible.length,
            };
            rows.push(row);
            const children = catalog.children(index);
            if (!(shown ? children.some((child) => shown.has(child)) : children.length > 0)) return;
            row.expanded = !folded.has(index);
            if (row.expanded) walk(children, level + 1);
        });
    };
    walk(catalog.roots, 1);
    // What hangs in a circle of parents has no root: it is shown all the same.
    if (catalog.lost.length > 0) walk(catalog.lost, 1);
    return rows;
}
