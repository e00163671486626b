// Where the boxes of the graph are. Each box is laid out by itself, from the innermost on, so that thousands cost little.

import { layout as dagre, Graph } from "@dagrejs/dagre";
import type { Item, Link } from "./groups.ts";

export interface Box {
    item: Item;
    x: number;
    y: number;
    width: number;
    height: number;
}

export interface Line {
    link: Link;
    points: [number, number][];
}

export interface Layout {
    /** Outer boxes before those inside them. */
    boxes: Box[];
    lines: Line[];
    width: number;
    height: number;
}

export const NODE = { width: 190, height: 40 };
/** The title of an unfolded box. */
export const TITLE = 30;
const PAD = 14;
const GAP = 14;
const RANK_GAP = 84;
/** A drawing that is stretched more than this is tried in the other direction as well. */
const STRETCHED = 0.6;
/** From left to right lines cross fewer boxes, which are wide: it is taken unless it is stretched by so much more. */
const LEFT_TO_RIGHT = 0.6;
/** Larger boxes are laid out once. */
const MAX_TRIED = 120;

/** The size of a box, and where those inside it are. */
interface Inner {
    width: number;
    height: number;
    /** From the corner of the box's inside. */
    children: Map<string, { x: number; y: number; inner: Inner | undefined }>;
    /** Ways around other boxes, by `from to`. */
    ways: Map<string, [number, number][]>;
}

export function layout(list: Item[], links: Link[]): Layout {
    const pathOf = new Map<string, string[]>();
    const note = (item: Item, path: string[]) => {
        const own = [...path, item.id];
        pathOf.set(item.id, own);
        for (const one of item.items) note(one, own);
    };
    for (const item of list) note(item, []);

    // Each line counts in the box that both of its ends are in.
    const inBox = new Map<string, [string, string][]>();
    for (const { from, to } of links) {
        const a = pathOf.get(from) ?? [];
        const b = pathOf.get(to) ?? [];
        let depth = 0;
        while (depth < a.length && a[depth] === b[depth]) depth++;
        const [start, end] = [a[depth], b[depth]];
        if (start === undefined || end === undefined) continue;
        const box = depth === 0 ? "" : (a[depth - 1] as string);
        const lines = inBox.get(box);
        if (lines) lines.push([start, end]);
        else inBox.set(box, [[start, end]]);
    }

    const whole = arrange("", list, inBox);
    const boxes: Box[] = [];
    const at = new Map<string, Box>();
    const ways = new Map<string, [number, number][]>();
    const place = (items: Item[], inner: Inner, x: number, y: number) => {
        for (const [key, points] of inner.ways)
            ways.set(
                key,
                points.map(([px, py]) => [px + x, py + y]),
            );
        for (const item of items) {
            const child = inner.children.get(item.id);
            if (!child) continue;
            const box: Box = { item, x: x + child.x, y: y + child.y, ...size(child.inner) };
            boxes.push(box);
            at.set(item.id, box);
            if (child.inner) place(item.items, child.inner, box.x + PAD, box.y + TITLE + PAD / 2);
        }
    };
    place(list, whole, 0, 0);
    const lines = links.flatMap((link): Line[] => {
        const from = at.get(link.from);
        const to = at.get(link.to);
        if (!from || !to) return [];
        return [{ link, points: ways.get(`${link.from} ${link.to}`) ?? direct(from, to) }];
    });
    return { boxes, lines, width: whole.width, height: whole.height };
}

function size(inner: Inner | undefined): { width: number; height: number } {
    if (!inner) return NODE;
    return { width: Math.max(inner.width, NODE.width) + 2 * PAD, height: inner.height + TITLE + 1.5 * PAD };
}

function arrange(box: string, list: Item[], inBox: Map<string, [string, string][]>): Inner {
    const inner = new Map(
        list.map((item) => [item.id, item.kind === "cluster" ? arrange(item.id, item.items, inBox) : undefined]),
    );
    const lines = inBox.get(box) ?? [];
    const linked = new Set(lines.flat());
    const alone = list.filter((item) => !linked.has(item.id));
    const result: Inner = { width: 0, height: 0, children: new Map(), ways: new Map() };
    if (linked.size > 0) {
        const members = list.filter((item) => linked.has(item.id));
        const across = ranked(members, lines, inner, "LR");
        const better = members.length <= MAX_TRIED && stretch(across) > STRETCHED;
        const down = better ? ranked(members, lines, inner, "TB") : across;
        Object.assign(result, stretch(down) + LEFT_TO_RIGHT < stretch(across) ? down : across);
    }
    if (alone.length > 0) shelves(alone, inner, result);
    return result;
}

/** What has lines, in ranks: from left to right, or from top to bottom. */
function ranked(
    list: Item[],
    lines: [string, string][],
    inner: Map<string, Inner | undefined>,
    rankdir: "LR" | "TB",
): Inner {
    const result: Inner = { width: 0, height: 0, children: new Map(), ways: new Map() };
    const graph = new Graph({ directed: true });
    graph.setGraph({
        rankdir,
        nodesep: GAP,
        ranksep: rankdir === "LR" ? RANK_GAP : RANK_GAP / 2,
        marginx: 0,
        marginy: 0,
    });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const item of list) graph.setNode(item.id, { ...size(inner.get(item.id)) });
    for (const [from, to] of lines) graph.setEdge(from, to, {});
    dagre(graph);
    for (const id of graph.nodes()) {
        const node = graph.node(id) as { x: number; y: number; width: number; height: number };
        result.children.set(id, { x: node.x - node.width / 2, y: node.y - node.height / 2, inner: inner.get(id) });
        result.width = Math.max(result.width, node.x + node.width / 2);
        result.height = Math.max(result.height, node.y + node.height / 2);
    }
    for (const edge of graph.edges()) {
        const { points } = graph.edge(edge) as { points?: { x: number; y: number }[] };
        if (points)
            result.ways.set(
                `${edge.v} ${edge.w}`,
                points.map(({ x, y }) => [x, y]),
            );
    }
    return result;
}

/** How far a drawing is from one and a half times as wide as high: 0 is just that. */
function stretch({ width, height }: Inner): number {
    return Math.abs(Math.log(width / Math.max(height, 1) / 1.5));
}

/** What has no line is put in rows: below what has, or beside it where that is higher than wide. */
function shelves(alone: Item[], inner: Map<string, Inner | undefined>, result: Inner): void {
    const sizes = alone.map((item) => ({ item, ...size(inner.get(item.id)) }));
    const area = sizes.reduce((sum, one) => sum + (one.width + GAP) * (one.height + GAP), 0);
    const widest = Math.max(...sizes.map((one) => one.width));
    const beside = result.height > result.width;
    const left = beside ? result.width + 2 * GAP : 0;
    const top = beside || result.height === 0 ? 0 : result.height + 2 * GAP;
    const room = beside ? area / result.height : Math.max(Math.sqrt(area * 1.6), result.width);
    const most = Math.max(room, widest);
    let x = 0;
    let y = top;
    let row = 0;
    for (const { item, width, height } of sizes) {
        if (x > 0 && x + width > most) {
            x = 0;
            y += row + GAP;
            row = 0;
        }
        result.children.set(item.id, { x: left + x, y, inner: inner.get(item.id) });
        result.width = Math.max(result.width, left + x + width);
        row = Math.max(row, height);
        x += width + GAP;
    }
    result.height = Math.max(result.height, y + row);
}

/** From the side of one box to that of another. */
function direct(from: Box, to: Box): [number, number][] {
    const leftToRight = from.x + from.width <= to.x;
    const rightToLeft = to.x + to.width <= from.x;
    const start: [number, number] = [
        leftToRight ? from.x + from.width : rightToLeft ? from.x : from.x + from.width / 2,
        from.y + from.height / 2,
    ];
    const end: [number, number] = [
        leftToRight ? to.x : rightToLeft ? to.x + to.width : to.x + to.width / 2,
        to.y + to.height / 2,
    ];
    if (!leftToRight && !rightToLeft) {
        const down = from.y < to.y;
        start[1] = down ? from.y + from.height : from.y;
        end[1] = down ? to.y : to.y + to.height;
    }
    return [start, [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2], end];
}

/** A line as an SVG path: smooth through its points. */
export function pathOf(points: [number, number][]): string {
    const [first, ...rest] = points;
    if (!first) return "";
    let path = `M${first[0]} ${first[1]}`;
    rest.forEach((point, place) => {
        const next = rest[place + 1];
        if (!next) path += `L${point[0]} ${point[1]}`;
        else path += `Q${point[0]} ${point[1]} ${(point[0] + next[0]) / 2} ${(point[1] + next[1]) / 2}`;
    });
    return path;
}
