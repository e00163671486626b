// Why a step was taken: `because`, followed to its root.

import type { Cause, Step } from "../data.ts";
import type { Catalog } from "./catalog.ts";
import { family } from "./words.ts";

/** One link of the chain: this resource is replaced, because of the link before it, or by itself. */
export interface Link {
    resource: number;
    step?: number;
    /** The properties that made it a replacement, where it is the root. */
    keys: string[];
    note?: string;
    /** How it hangs on the link before it; absent at the root. */
    by?: Cause;
}

/** The chain of a step, root first. A single link: the step has no other cause. */
export function chain(catalog: Catalog, step: Step, index?: number): Link[] {
    const links: Link[] = [];
    const seen = new Set<number>();
    let at: Step | undefined = step;
    let place = index;
    let resource = step.resource;
    while (!seen.has(resource)) {
        seen.add(resource);
        const link: Link = { resource, keys: at?.keys ?? [] };
        if (place !== undefined) link.step = place;
        if (at?.note) link.note = at.note;
        if (at?.because) link.by = at.because;
        links.push(link);
        if (!at?.because) break;
        resource = at.because.resource;
        place = replacement(catalog, resource);
        at = place === undefined ? undefined : catalog.data.run?.steps[place];
    }
    // A circle in the data: what is last has no cause that can be shown.
    const root = links.at(-1);
    if (root?.by && seen.has(root.by.resource)) delete root.by;
    return links.reverse();
}

/** The step of a resource that says most of its replacement. */
function replacement(catalog: Catalog, resource: number): number | undefined {
    const steps = catalog.fate(resource)?.steps ?? [];
    const all = catalog.data.run?.steps ?? [];
    const says = (index: number) => Boolean(all[index]?.because || all[index]?.keys?.length);
    return steps.find(says) ?? steps.find((index) => family(all[index]?.op ?? "") === "replace") ?? steps[0];
}

/** A sentence in parts: plain text, code, or a resource. */
export type Part = string | { code: string } | { resource: number; step?: number };

/** What a link of the chain says: "web is replaced because db, which it depends on by `host`, is". */
export function sentence(link: Link, verb = "is replaced"): Part[] {
    const self: Part =
        link.step === undefined ? { resource: link.resource } : { resource: link.resource, step: link.step };
    if (link.by) {
        const on: Part = { resource: link.by.resource };
        if (link.by.kind === "property") {
            const by: Part[] = link.by.property ? [" by ", { code: link.by.property }] : [];
            return [self, ` ${verb} because `, on, ", which it depends on", ...by, ", is."];
        }
        if (link.by.kind === "replaceWith")
            return [
                self,
                ` ${verb} because `,
                on,
                ", with which it is to be replaced (",
                { code: "replaceWith" },
                "), is.",
            ];
        return [self, ` ${verb} because `, on, ", with which it is deleted (", { code: "deletedWith" }, "), is."];
    }
    if (link.keys.length > 0) {
        return [self, ` ${verb} because its `, ...list(link.keys), " changed."];
    }
    return [self, link.note ? ` ${verb}: ${link.note}.` : ` ${verb}.`];
}

function list(keys: string[]): Part[] {
    return keys.flatMap((code, index): Part[] => {
        if (index === 0) return [{ code }];
        return [index === keys.length - 1 ? " and " : ", ", { code }];
    });
}

/** Steps with the same changes as an earlier step of their resource, such as the two of a replacement. */
export function repeats(steps: Step[]): Set<number> {
    const seen = new Map<number, string[]>();
    const found = new Set<number>();
    steps.forEach((step, index) => {
        if (!step.changes?.length) return;
        const text = JSON.stringify(step.changes);
        const before = seen.get(step.resource);
        if (!before) seen.set(step.resource, [text]);
        else if (before.includes(text)) found.add(index);
        else before.push(text);
    });
    return found;
}
