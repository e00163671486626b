// What the views look up, indexed once: children, dependents, steps, calls and messages of each resource.

import type { PageData, Resource, Step } from "../data.ts";
import { family, typeOf } from "./words.ts";

/** How one resource hangs on another. */
export type EdgeKind = "parent" | "dependency" | "deletedWith" | "provider";

export interface Edge {
    /** The resource that depends, or the child. */
    from: number;
    /** What it depends on. */
    to: number;
    kind: EdgeKind;
    properties: string[];
}

/** What the run did to a resource, over all of its steps. */
export interface Fate {
    /** The family of the operation: `replace` for any step of a replacement. */
    op: string;
    failed: boolean;
    running: boolean;
    steps: number[];
}

const NONE: readonly number[] = [];
const NO_EDGES: readonly Edge[] = [];

export class Catalog {
    /** What names a resource in an address: its URN; its index as well, where several have the same. */
    readonly keys: string[] = [];
    readonly byKey = new Map<string, number>();
    readonly byUrn = new Map<string, number>();
    readonly roots: number[] = [];
    /** What is in a circle of parents, or below one: no root leads to it. */
    readonly lost: number[];
    readonly texts: string[] = [];
    private readonly childrenOf = new Map<number, number[]>();
    private readonly edgesFrom = new Map<number, Edge[]>();
    private readonly edgesTo = new Map<number, Edge[]>();
    private readonly fates = new Map<number, Fate>();
    private readonly activities: Map<number, number[]>;
    private readonly diagnostics: Map<number, number[]>;
    private readonly consequences = new Map<number, number[]>();

    constructor(readonly data: PageData) {
        data.resources.forEach((resource, index) => {
            this.addName(resource, index);
            this.addEdges(resource, index);
        });
        this.lost = this.unreached();
        (data.run?.steps ?? []).forEach((step, index) => {
            this.addStep(step, index);
        });
        this.activities = grouped(data.run?.activities ?? []);
        this.diagnostics = grouped(data.run?.diagnostics ?? []);
    }

    private addName(resource: Resource, index: number): void {
        const key = this.byUrn.has(resource.urn) ? `${resource.urn}#${index}` : resource.urn;
        if (key === resource.urn) this.byUrn.set(key, index);
        this.keys.push(key);
        this.byKey.set(key, index);
        this.texts.push(`${resource.name}\n${resource.type}\n${resource.urn}\n${typeOf(resource)}`.toLowerCase());
    }

    private addEdges(resource: Resource, index: number): void {
        const parent = this.parentOf(index);
        if (parent === undefined) this.roots.push(index);
        else {
            push(this.childrenOf, parent, index);
            this.addEdge({ from: index, to: parent, kind: "parent", properties: [] });
        }
        for (const { on, properties } of resource.dependencies ?? [])
            this.addEdge({ from: index, to: on, kind: "dependency", properties });
        if (resource.deletedWith !== undefined)
            this.addEdge({ from: index, to: resource.deletedWith, kind: "deletedWith", properties: [] });
        if (resource.provider !== undefined)
            this.addEdge({ from: index, to: resource.provider, kind: "provider", properties: [] });
    }

    private unreached(): number[] {
        const reached = new Set(this.roots);
        // A set that grows is walked to its end.
        for (const index of reached) for (const child of this.children(index)) reached.add(child);
        return this.data.resources.map((_, index) => index).filter((index) => !reached.has(index));
    }

    private addEdge(edge: Edge): void {
        push(this.edgesFrom, edge.from, edge);
        push(this.edgesTo, edge.to, edge);
    }

    private addStep(step: Step, index: number): void {
        const op = family(step.op);
        const fate = this.fates.get(step.resource);
        if (fate) {
            if (op === "replace" || fate.op === "same") fate.op = op;
            fate.failed ||= step.status === "failed";
            fate.running ||= step.status === "running";
            fate.steps.push(index);
        } else {
            this.fates.set(step.resource, {
                op,
                failed: step.status === "failed",
                running: step.status === "running",
                steps: [index],
            });
        }
        if (step.because) push(this.consequences, step.because.resource, index);
    }

    resource(index: number): Resource | undefined {
        return this.data.resources[index];
    }

    /** The parent; none where the data names the resource itself or none that is there. */
    parentOf(index: number): number | undefined {
        const parent = this.data.resources[index]?.parent;
        return parent === undefined || parent === index || !this.data.resources[parent] ? undefined : parent;
    }

    children(index: number): readonly number[] {
        return this.childrenOf.get(index) ?? NONE;
    }

    /** Edges to what a resource hangs on. */
    uses(index: number): readonly Edge[] {
        return this.edgesFrom.get(index) ?? NO_EDGES;
    }

    /** Edges from what hangs on a resource. */
    usedBy(index: number): readonly Edge[] {
        return this.edgesTo.get(index) ?? NO_EDGES;
    }

    fate(index: number): Fate | undefined {
        return this.fates.get(index);
    }

    activitiesOf(index: number): readonly number[] {
        return this.activities.get(index) ?? NONE;
    }

    diagnosticsOf(index: number): readonly number[] {
        return this.diagnostics.get(index) ?? NONE;
    }

    /** Steps that were taken because a resource is replaced. */
    consequencesOf(index: number): readonly number[] {
        return this.consequences.get(index) ?? NONE;
    }

    /** Ancestors, nearest first. A circle in the data ends it. */
    ancestors(index: number): number[] {
        const found: number[] = [];
        const seen = new Set([index]);
        for (let at = this.parentOf(index); at !== undefined && !seen.has(at); at = this.parentOf(at)) {
            seen.add(at);
            found.push(at);
        }
        return found;
    }

    /** What a link shows of a resource. */
    nameOf(index: number | undefined): string {
        return (index === undefined ? undefined : this.data.resources[index]?.name) ?? "?";
    }
}

function push<T>(map: Map<number, T[]>, key: number, value: T): void {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
}

function grouped(list: readonly { resource?: number }[]): Map<number, number[]> {
    const map = new Map<number, number[]>();
    list.forEach((item, index) => {
        if (item.resource !== undefined) push(map, item.resource, index);
    });
    return map;
}
