// Which stacks the table shows, and in which order.

import { wordsOf } from "../model/filter.ts";
import type { FleetCatalog, Member } from "./catalog.ts";
import type { Standing } from "./data.ts";
import { firstLine, STANDINGS } from "./words.ts";

export interface StackFilter {
    /** What was typed; every word has to be in one of the stack's texts. `*` stands for any letters. */
    text: string;
    /** None: all. */
    standings: ReadonlySet<string>;
    /** Values that labels have to have. */
    labels: { [label: string]: string };
    wave: number | undefined;
    /** The stack whose needs and dependents are shown, with itself. */
    around: number | undefined;
}

export type Column = "stack" | "standing" | "changes" | "attempts" | "seconds" | "worker" | "text";

export interface Order {
    by: Column;
    down: boolean;
}

/** The stacks that a filter lets through, in the document's order. */
export function stacksOf(catalog: FleetCatalog, filter: StackFilter): number[] {
    const tests = wordsOf(filter.text).map(testOf);
    const labels = Object.entries(filter.labels);
    const { around, wave, standings } = filter;
    const near =
        around === undefined
            ? undefined
            : new Set([around, ...catalog.needsOf(around), ...catalog.dependentsOf(around)]);
    const found: number[] = [];
    for (const [index, one] of catalog.members.entries()) {
        if (standings.size > 0 && !standings.has(one.standing)) continue;
        if (wave !== undefined && one.wave !== wave) continue;
        if (near && !near.has(index)) continue;
        if (!labels.every(([name, value]) => Object.hasOwn(one.labels, name) && one.labels[name] === value)) continue;
        if (tests.every((test) => test(one.searched))) found.push(index);
    }
    return found;
}

/** A word is in a text, or its parts between `*` are in one of its lines, one after the other. */
function testOf(word: string): (text: string) => boolean {
    if (!word.includes("*")) return (text) => text.includes(word);
    const parts = word.split("*");
    const isIn = (line: string) => {
        let from = 0;
        for (const part of parts) {
            const at = line.indexOf(part, from);
            if (at < 0) return false;
            from = at + part.length;
        }
        return true;
    };
    return (text) => text.split("\n").some(isIn);
}

/** What is worth a look comes first. */
const WEIGHT = new Map<Standing, number>(STANDINGS.map((name, place) => [name, place]));

const KEYS: { [column in Column]: (one: Member) => string | number } = {
    stack: (one) => one.id,
    standing: (one) => WEIGHT.get(one.standing) ?? 0,
    changes: (one) => changed(one),
    attempts: (one) => one.end?.attempts ?? one.work?.attempt ?? 0,
    seconds: (one) => one.end?.seconds ?? 0,
    worker: (one) => one.end?.worker ?? one.work?.worker ?? "",
    text: saidOf,
};

/** How many resources were changed. */
export function changed({ end }: Member): number {
    return Object.entries(end?.changes ?? {}).reduce((all, [op, many]) => (op === "same" ? all : all + many), 0);
}

/** What a row says of its stack: of what it failed, or what it does. */
export function saidOf({ end, work }: Member): string {
    const text = end ? end.text : [work?.text, work?.note].filter(Boolean).join("; ");
    return firstLine(text ?? "");
}

/** Columns of numbers begin with the largest. */
export function beginsDown(column: Column): boolean {
    return column === "changes" || column === "attempts" || column === "seconds";
}

/** The same stacks in an order; without one, in that of the document. */
export function sorted(catalog: FleetCatalog, stacks: number[], order: Order | undefined): number[] {
    if (!order) return stacks;
    const key = KEYS[order.by];
    const keys = new Map(stacks.map((index) => [index, key(catalog.member(index))]));
    const sign = order.down ? -1 : 1;
    return [...stacks].sort((a, b) => {
        const [x, y] = [keys.get(a) as string | number, keys.get(b) as string | number];
        // What has nothing in the column comes last, whichever way.
        if ((x === "") !== (y === "")) return x === "" ? 1 : -1;
        return (x < y ? -sign : x > y ? sign : 0) || a - b;
    });
}
