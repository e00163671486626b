// Which boxes a graph of thousands shows: components fold what is below them, many siblings of one type fold into a group.

import type { Catalog, EdgeKind } from "../model/catalog.ts";
import { isProvider, typeOf, whole } from "../model/words.ts";

/** A box of the graph. */
export interface Item {
    id: string;
    /** `resource`: one that has nothing inside. `group`: it is folded. `cluster`: it is unfolded, and `items` are inside. */
    kind: "resource" | "group" | "cluster";
    label: string;
    /** The second line. */
    note: string;
    /** The resource that it is: none for siblings of one type. */
    resource?: number;
    /** All resources that it stands for or that are inside. */
    members: number[];
    items: Item[];
}

export interface Link {
    from: string;
    to: string;
    kind: EdgeKind;
    properties: string[];
    /** How many edges of resources it stands for. */
    count: number;
}

/** So many resources are shown without groups. */
export const FEW = 80;
/** More siblings than these are grouped by type. */
const MANY_SIBLINGS = 40;
/** Fewer of a type are not worth a group. */
const SMALL_TYPE = 6;
/** A group with more than these unfolds into groups of so many. */
const CHUNK = 50;

export interface Options {
    /** Are children inside the boxes of their parents? */
    nested: boolean;
    /** Groups that are not as they would be by themselves. */
    toggled: ReadonlySet<string>;
    /** The resources that are shown; absent: all. */
    found?: ReadonlySet<number> | undefined;
    /** Are the resources of providers boxes? Otherwise those alone are that have children, or that are looked for. */
    providers?: boolean;
    /** Is shown, whatever it is. */
    keep?: number | undefined;
    /** Groups with this resource are unfolded. */
    reveal?: number | undefined;
}

/** The boxes, outermost first. */
export function items(catalog: Catalog, options: Options): Item[] {
    return new Grouping(catalog, options).top();
}

class Grouping {
    private readonly shown: (index: number) => boolean;
    private readonly unfoldAll: boolean;
    private readonly inside = new Map<number, number[]>();

    constructor(
        private readonly catalog: Catalog,
        private readonly options: Options,
    ) {
        const { found } = options;
        let shown: Set<number> | undefined;
        if (found) {
            shown = new Set(found);
            if (options.nested)
                for (const index of found) for (const above of catalog.ancestors(index)) shown.add(above);
        }
        this.shown = (index) => (shown ? shown.has(index) : !this.isHidden(index));
        this.unfoldAll = (found?.size ?? catalog.data.resources.length) <= FEW;
    }

    top(): Item[] {
        const { catalog, options } = this;
        if (!options.nested) {
            const all = catalog.data.resources
                .map((_, index) => index)
                .filter((index) => this.shown(index) && !this.isStack(index));
            return this.siblings("", all);
        }
        // The stack is around everything, so it is no box.
        const roots = catalog.roots.flatMap((index) => (this.isStack(index) ? catalog.children(index) : [index]));
        return this.siblings("", roots.filter(this.shown));
    }

    private isHidden(index: number): boolean {
        const { providers, keep, reveal } = this.options;
        if (providers || index === keep || index === reveal) return false;
        return isProvider(this.catalog.resource(index)?.type ?? "") && this.catalog.children(index).length === 0;
    }

    private isStack(index: number): boolean {
        return this.catalog.resource(index)?.type === "pulumi:pulumi:Stack";
    }

    private siblings(place: string, list: readonly number[]): Item[] {
        if (list.length <= MANY_SIBLINGS) return list.map((index) => this.one(index));
        const types = new Map<string, number[]>();
        for (const index of list) {
            const type = this.kindOf(index);
            const same = types.get(type);
            if (same) same.push(index);
            else types.set(type, [index]);
        }
        return [...types].flatMap(([type, same]) =>
            same.length < SMALL_TYPE
                ? same.map((index) => this.one(index))
                : [this.typeGroup(`${place}/${type}`, same)],
        );
    }

    /** What siblings of one group have in common: the type, and the word for it. */
    private kindOf(index: number): string {
        const resource = this.catalog.resource(index);
        const type = resource?.type ?? "";
        const word = typeOf(resource);
        return type.endsWith(`:${word}`) ? type : `${type} ${word}`;
    }

    private typeGroup(id: string, list: number[]): Item {
        const label = typeOf(this.catalog.resource(list[0] ?? -1));
        const note = `${whole(list.length)} of this type`;
        if (list.length <= CHUNK)
            return this.group(id, label, note, this.withBelow(list), () => list.map((index) => this.one(index)));
        return this.group(id, label, note, this.withBelow(list), () => {
            const chunks: Item[] = [];
            for (let from = 0; from < list.length; from += CHUNK) {
                const part = list.slice(from, from + CHUNK);
                const names = `${this.catalog.nameOf(part[0])} … ${this.catalog.nameOf(part.at(-1))}`;
                const show = () => part.map((index) => this.one(index));
                const numbers = `${label} ${whole(from + 1)}–${whole(from + part.length)}`;
                chunks.push(this.group(`${id}/${from}`, numbers, names, this.withBelow(part), show));
            }
            return chunks;
        });
    }

    private one(index: number): Item {
        const resource = this.catalog.resource(index);
        const label = resource?.name ?? "?";
        const type = typeOf(resource);
        const children = this.options.nested ? this.catalog.children(index).filter(this.shown) : [];
        if (children.length === 0) {
            return {
                id: `r${index}`,
                kind: "resource",
                label,
                note: type,
                resource: index,
                members: [index],
                items: [],
            };
        }
        const members = [index, ...this.below(index)];
        const note = `${type} · ${whole(members.length - 1)}`;
        const item = this.group(`r${index}`, label, note, members, () => this.siblings(`r${index}`, children));
        return { ...item, resource: index };
    }

    private group(id: string, label: string, note: string, members: number[], inside: () => Item[]): Item {
        const { toggled, reveal } = this.options;
        const unfolded = this.unfoldAll !== toggled.has(id) || (reveal !== undefined && members.includes(reveal));
        if (!unfolded) return { id, kind: "group", label, note, members, items: [] };
        return { id, kind: "cluster", label, note, members, items: inside() };
    }

    private withBelow(list: number[]): number[] {
        return list.flatMap((index) => (this.options.nested ? [index, ...this.below(index)] : [index]));
    }

    private below(index: number): number[] {
        const known = this.inside.get(index);
        if (known) return known;
        // Set before the children are looked at: a circle in the data ends here.
        const list: number[] = [];
        this.inside.set(index, list);
        for (const child of this.catalog.children(index)) {
            if (!this.shown(child)) continue;
            list.push(child);
            for (const one of this.below(child)) list.push(one);
        }
        return list;
    }
}

/** All boxes, those inside as well. */
export function flatten(list: Item[]): Item[] {
    return list.flatMap((item) => [item, ...flatten(item.items)]);
}

/** The lines between boxes: edges of resources, those between the same boxes as one. */
export function links(catalog: Catalog, list: Item[], kinds: ReadonlySet<EdgeKind>): Link[] {
    const boxOf = new Map<number, string>();
    const around = new Map<string, Set<string>>();
    const visit = (item: Item, outer: string[]) => {
        around.set(item.id, new Set(outer));
        if (item.kind !== "cluster") for (const member of item.members) boxOf.set(member, item.id);
        else if (item.resource !== undefined) boxOf.set(item.resource, item.id);
        for (const one of item.items) visit(one, [...outer, item.id]);
    };
    for (const item of list) visit(item, []);
    const found = new Map<string, Link>();
    for (const [index, from] of boxOf) {
        for (const edge of catalog.uses(index)) {
            if (edge.kind === "parent" || !kinds.has(edge.kind)) continue;
            const to = boxOf.get(edge.to);
            // What is inside a box needs no line to it.
            if (to === undefined || to === from || around.get(from)?.has(to) || around.get(to)?.has(from)) continue;
            const key = `${edge.kind} ${from} ${to}`;
            const link = found.get(key);
            if (link) {
                link.count++;
                for (const name of edge.properties) if (!link.properties.includes(name)) link.properties.push(name);
            } else found.set(key, { from, to, kind: edge.kind, properties: [...edge.properties], count: 1 });
        }
    }
    return [...found.values()];
}
