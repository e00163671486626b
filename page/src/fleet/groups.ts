// Failures that are one: many stacks fail of the same, and are skipped because of the same.

import type { FleetCatalog, Member } from "./catalog.ts";
import { firstLine } from "./words.ts";

export interface Group {
    outcome: "failed" | "skipped" | "cancelled";
    reason: string;
    method: string;
    /** The first line of what is said. Where each stack's differs by its own names, they are `{stack}` and `{label}` here. */
    text: string;
    stacks: number[];
    /** How many were skipped because of these. */
    skipped: number;
    /** What all of them have in common, and not all stacks of the run. */
    common: [name: string, value: string][];
}

/**
 * The groups of what did not succeed: failures first, those that concern most stacks before others. What was skipped because of another
 * stack's failure is counted there.
 */
export function groupsOf(catalog: FleetCatalog): Group[] {
    const ended = catalog.members.flatMap((one, index) => {
        const { end } = one;
        if (!end || end.outcome === "done" || end.outcome === "unchanged") return [];
        if (end.outcome !== "failed" && end.reason === "needs" && one.needs.length > 0) return [];
        const key = (text: string) => JSON.stringify([end.outcome, end.reason, end.method, text]);
        return [{ index, one, outcome: end.outcome, text: firstLine(end.text ?? ""), key }];
    });
    const same = new Map<string, number>();
    for (const { key, text } of ended) same.set(key(text), (same.get(key(text)) ?? 0) + 1);
    const found = new Map<string, { outcome: Group["outcome"]; masked: string; stacks: number[] }>();
    for (const { index, one, outcome, text, key } of ended) {
        // What several say in the same words is one already, whatever name is in it.
        const masked = (same.get(key(text)) ?? 0) > 1 ? text : mask(one, text);
        const group = found.get(key(masked));
        if (group) group.stacks.push(index);
        else found.set(key(masked), { outcome, masked, stacks: [index] });
    }
    const groups = [...found.values()].map(({ outcome, masked, stacks }): Group => {
        const texts = new Set(stacks.map((at) => firstLine(catalog.member(at).end?.text ?? "")));
        const { reason = "", method = "" } = catalog.member(stacks[0] as number).end ?? {};
        return {
            outcome,
            reason,
            method,
            text: texts.size === 1 ? ([...texts][0] as string) : masked,
            stacks,
            skipped: outcome === "failed" ? skippedBy(catalog, stacks) : 0,
            common: stacks.length > 1 ? common(catalog, stacks) : [],
        };
    });
    const hasFailed = ({ outcome }: Group) => Number(outcome === "failed");
    const concerned = ({ stacks, skipped }: Group) => stacks.length + skipped;
    return groups.sort((a, b) => hasFailed(b) - hasFailed(a) || concerned(b) - concerned(a));
}

/** Shorter names are too often a part of other words. */
const MIN_LENGTH = 3;

/** The text without what names this one stack: its id, its name, its labels. */
function mask({ id, labels }: Member, text: string): string {
    const places = new Map(Object.entries(labels).map(([label, value]) => [value, `{${label}}`]));
    for (const name of [id.slice(id.lastIndexOf("/") + 1), id]) places.set(name, "{stack}");
    const names = [...places.keys()].filter((name) => name.length >= MIN_LENGTH && text.includes(name));
    if (names.length === 0) return text;
    // Longer ones first: they may have the others in them.
    names.sort((a, b) => b.length - a.length);
    const pattern = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
    return text.replace(new RegExp(pattern, "g"), (name) => places.get(name) ?? name);
}

/** How many were skipped because one of these failed, directly or through others that were skipped. */
function skippedBy(catalog: FleetCatalog, failed: number[]): number {
    const seen = new Set(failed);
    for (const at of seen) {
        for (const dependent of catalog.member(at).dependents)
            if (catalog.member(dependent).standing === "skipped") seen.add(dependent);
    }
    return seen.size - failed.length;
}

function traits({ labels, queue, end }: Member): [string, string][] {
    return [...Object.entries(labels), ["queue", queue], ["worker", end?.worker ?? ""]];
}

function common(catalog: FleetCatalog, stacks: number[]): [string, string][] {
    const [first, ...others] = stacks.map((at) => catalog.member(at)) as [Member, ...Member[]];
    const has = (one: Member, name: string, value: string) =>
        traits(one).some(([other, its]) => other === name && its === value);
    const shared = traits(first).filter(
        ([name, value]) => value !== "" && others.every((one) => has(one, name, value)),
    );
    // What all that ended have says nothing about these.
    const ended = catalog.members.filter(({ end }) => end !== undefined);
    return shared.filter(([name, value]) => !ended.every((one) => has(one, name, value)));
}

/** A row of the list of failures: a group, or one of its stacks. */
export type FailureRow = { group: number; stack?: number; open?: boolean };

/** The groups, with the stacks of those that are unfolded. */
export function failureRows(groups: Group[], unfolded: ReadonlySet<number>): FailureRow[] {
    return groups.flatMap(({ stacks }, group): FailureRow[] => {
        if (stacks.length === 1) return [{ group }];
        const open = unfolded.has(group);
        return [{ group, open }, ...(open ? stacks.map((stack) => ({ group, stack })) : [])];
    });
}
