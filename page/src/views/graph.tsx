// The graph of the resources: boxes that unfold, lines of each kind that can be switched off.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { flatten, items, links } from "../graph/groups.ts";
import { type Box, type Layout, layout, TITLE } from "../graph/layout.ts";
import { fitted, usePanZoom } from "../graph/pan-zoom.ts";
import type { Catalog, EdgeKind } from "../model/catalog.ts";
import { isProvider, whole } from "../model/words.ts";
import { Toggles } from "../parts/layout.tsx";
import { GraphBox, GraphLines, GraphTexts } from "./graph-parts.tsx";

const toggled = signal<ReadonlySet<string>>(new Set());
const kinds = signal<ReadonlySet<string>>(new Set(["parent", "dependency", "deletedWith"]));
/** More boxes than these are not drawn at once. */
const MAX_BOXES = 800;

/** Smaller than this, the names can not be read. */
const READABLE = 0.75;
/** Pixels around what is brought into view. */
const MARGIN = 24;

const KIND_NAMES: [EdgeKind, string][] = [
    ["parent", "Parents (boxes)"],
    ["dependency", "Dependencies"],
    ["deletedWith", "Deleted with"],
    ["provider", "Provider resources"],
];

export function Graph(props: {
    catalog: Catalog;
    found: Set<number> | undefined;
    selected: number | undefined;
    onPick: (resource: number) => void;
}): JSX.Element {
    const { catalog, found, selected, onPick } = props;
    const nested = kinds.value.has("parent");
    const providers = kinds.value.has("provider");
    const keep = shownAnyway(catalog, selected);
    const boxes = useMemo(
        () => items(catalog, { nested, providers, keep, toggled: toggled.value, found }),
        [catalog, nested, providers, keep, toggled.value, found],
    );
    const drawn = useMemo((): Layout | undefined => {
        if (flatten(boxes).length > MAX_BOXES) return undefined;
        return layout(boxes, links(catalog, boxes, kinds.value as ReadonlySet<EdgeKind>));
    }, [catalog, boxes, kinds.value]);

    // What is chosen elsewhere is unfolded.
    useEffect(() => {
        if (selected === undefined) return;
        const shown = flatten(boxes).some((item) => item.resource === selected);
        if (shown) return;
        const around = flatten(items(catalog, { nested, providers, toggled: toggled.value, found, reveal: selected }));
        const before = new Map(flatten(boxes).map((item) => [item.id, item.kind]));
        const next = new Set(toggled.value);
        for (const item of around) {
            if (item.kind !== "cluster" || before.get(item.id) === "cluster") continue;
            if (!item.members.includes(selected)) continue;
            if (!next.delete(item.id)) next.add(item.id);
        }
        toggled.value = next;
    }, [selected, catalog, nested, found]);

    return (
        <div class="graph">
            <div class="bar">
                <Toggles
                    label="Lines of the graph"
                    items={KIND_NAMES.map(([kind, label]) => [kind, label, undefined])}
                    on={kinds.value}
                    onChange={(on) => {
                        kinds.value = on;
                    }}
                />
                <span class="dim explanation">A line goes from a resource to what it depends on.</span>
            </div>
            {drawn ? (
                <Canvas catalog={catalog} drawn={drawn} selected={selected} onPick={onPick} />
            ) : (
                <p class="empty">
                    These are more than {whole(MAX_BOXES)} boxes.{" "}
                    <button
                        type="button"
                        onClick={() => {
                            toggled.value = new Set();
                        }}
                    >
                        Fold all
                    </button>
                </p>
            )}
        </div>
    );
}

/** A provider that is chosen is a box, also where providers are none. Another choice draws nothing anew. */
function shownAnyway(catalog: Catalog, selected: number | undefined): number | undefined {
    return selected !== undefined && isProvider(catalog.resource(selected)?.type ?? "") ? selected : undefined;
}

function toggle(id: string): void {
    const next = new Set(toggled.value);
    if (!next.delete(id)) next.add(id);
    toggled.value = next;
}

function Canvas(props: {
    catalog: Catalog;
    drawn: Layout;
    selected: number | undefined;
    onPick: (resource: number) => void;
}): JSX.Element {
    const { catalog, drawn, selected, onPick } = props;
    const { frame, scene, view, zoom, apply } = usePanZoom();
    const [focus, setFocus] = useState<string | undefined>();
    /** The box that was folded or unfolded: it stays where it was on the screen. */
    const anchor = useRef<{ id: string; x: number; y: number } | undefined>(undefined);
    const fitAll = () => {
        const size = frame.current?.getBoundingClientRect();
        if (size) apply(fitted(drawn, size));
    };
    /** All of it, where that can be read; else what is chosen, or its beginning. */
    const begin = () => {
        const size = frame.current?.getBoundingClientRect();
        if (!size) return;
        const whole = fitted(drawn, size);
        if (whole.scale >= READABLE) return apply(whole);
        const box = drawn.boxes.find(({ item }) => item.resource !== undefined && item.resource === selected);
        const scale = READABLE;
        if (!box) return apply({ scale, x: Math.max(whole.x, 24), y: 24 });
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        apply({ scale, x: size.width / 2 - x * scale, y: size.height / 2 - y * scale });
    };
    useLayoutEffect(() => {
        const kept = anchor.current;
        anchor.current = undefined;
        const box = kept && drawn.boxes.find(({ item }) => item.id === kept.id);
        if (!kept || !box) return begin();
        const { scale } = view.current;
        const size = frame.current?.getBoundingClientRect();
        // What it has unfolded comes into view, as far as it fits.
        const place = (at: number, length: number, room: number) =>
            Math.max(Math.min(at, room - length * scale - MARGIN), Math.min(at, MARGIN));
        const x = place(kept.x, box.width, size?.width ?? 0);
        const y = place(kept.y, box.height, size?.height ?? 0);
        apply({ scale, x: x - box.x * scale, y: y - box.y * scale });
    }, [drawn]);

    // Where the details take their room, what was chosen stays in sight.
    useEffect(() => {
        const box = drawn.boxes.find(({ item }) => item.resource !== undefined && item.resource === selected);
        const size = frame.current?.getBoundingClientRect();
        if (box && size) reveal(box, size);
    }, [selected]);

    const reveal = (to: Box, size: DOMRect) => {
        const { scale, x, y } = view.current;
        const [left, top] = [to.x * scale + x, to.y * scale + y];
        const outside =
            left < 0 || top < 0 || left + to.width * scale > size.width || top + TITLE * scale > size.height;
        if (outside) apply({ scale, x: size.width / 3 - to.x * scale, y: size.height / 3 - to.y * scale });
    };
    const unfold = (box: Box) => {
        const { scale, x, y } = view.current;
        anchor.current = { id: box.item.id, x: box.x * scale + x, y: box.y * scale + y };
        setFocus(box.item.id);
        toggle(box.item.id);
    };
    const activate = (box: Box) => {
        if (box.item.kind === "group") unfold(box);
        else if (box.item.resource !== undefined) onPick(box.item.resource);
        else unfold(box);
    };
    const at = drawn.boxes.find(({ item }) => item.id === focus) ?? drawn.boxes[0];
    const step = (to: Box | undefined) => {
        if (!to) return;
        setFocus(to.item.id);
        frame.current?.querySelector<SVGElement>(`[data-box="${CSS.escape(to.item.id)}"]`)?.focus();
        const size = frame.current?.getBoundingClientRect();
        if (size) reveal(to, size);
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey || !at) return;
        const { key } = event;
        if (key in SIDES) step(nearest(drawn.boxes, at, SIDES[key] as Side));
        else if (key === "Enter" || key === " ") activate(at);
        else if ((key === "Backspace" || key === "f") && at.item.kind !== "resource") unfold(at);
        else if (key === "+" || key === "=") zoom(1.25);
        else if (key === "-") zoom(0.8);
        else if (key === "0") fitAll();
        else return;
        event.preventDefault();
    };
    if (drawn.boxes.length === 0) return <p class="empty">No resource is like that.</p>;
    return (
        <div class="canvas" ref={frame}>
            <svg role="group" aria-label="Graph of the resources" onKeyDown={onKeyDown}>
                <defs>
                    <marker
                        id="arrow"
                        viewBox="0 0 8 8"
                        refX="7"
                        refY="4"
                        markerWidth="7"
                        markerHeight="7"
                        orient="auto"
                    >
                        <path d="M0 0L8 4L0 8z" class="arrow" />
                    </marker>
                </defs>
                <g ref={scene}>
                    {drawn.boxes
                        .filter(({ item }) => item.kind === "cluster")
                        .map((box) => (
                            <rect
                                key={box.item.id}
                                class="cluster"
                                x={box.x}
                                y={box.y}
                                width={box.width}
                                height={box.height}
                                rx="6"
                            />
                        ))}
                    <GraphLines drawn={drawn} selected={selected} />
                    {drawn.boxes.map((box) => (
                        <GraphBox
                            key={box.item.id}
                            catalog={catalog}
                            box={box}
                            selected={box.item.resource !== undefined && box.item.resource === selected}
                            tabbable={box === at}
                            onFocus={() => setFocus(box.item.id)}
                            onActivate={() => {
                                setFocus(box.item.id);
                                activate(box);
                            }}
                            onFold={() => unfold(box)}
                        />
                    ))}
                    <GraphTexts drawn={drawn} selected={selected} />
                </g>
            </svg>
            <fieldset class="zoom">
                <legend class="hidden">Zoom</legend>
                <button type="button" aria-label="Zoom in" onClick={() => zoom(1.25)}>
                    +
                </button>
                <button type="button" aria-label="Zoom out" onClick={() => zoom(0.8)}>
                    −
                </button>
                <button type="button" onClick={fitAll}>
                    Fit
                </button>
            </fieldset>
        </div>
    );
}

type Side = [number, number];
const SIDES: { [key: string]: Side } = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/** The nearest box on a side; what is straight ahead counts as nearer. */
function nearest(boxes: Box[], from: Box, [dx, dy]: Side): Box | undefined {
    const middle = (box: Box): [number, number] => [
        box.x + box.width / 2,
        box.item.kind === "cluster" ? box.y + 15 : box.y + box.height / 2,
    ];
    const [x, y] = middle(from);
    let best: Box | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const box of boxes) {
        const [bx, by] = middle(box);
        const ahead = (bx - x) * dx + (by - y) * dy;
        if (box === from || ahead <= 1) continue;
        const aside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
        const distance = ahead + 2 * aside;
        if (distance < least) {
            least = distance;
            best = box;
        }
    }
    return best;
}
