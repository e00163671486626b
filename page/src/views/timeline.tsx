// The timeline of a run: a canvas, because there may be tens of thousands of calls. The table of calls says the same.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { elapsed } from "../app.ts";
import type { Run } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { barAt, type Lane, packedLanes, resourceLanes, runEnd } from "../model/lanes.ts";
import { activityTitle, duration, offset } from "../model/words.ts";
import { colours, HEAD, LANE, msOf, type Picture, paint } from "../timeline/paint.ts";
import { moveRange, type Range, rangeWith, zoomRange } from "../timeline/scale.ts";

/** More lanes than these are packed at first. */
const MANY_LANES = 400;

export function activityName(catalog: Catalog, run: Run, index: number): string {
    const activity = run.activities[index];
    if (!activity) return "";
    return activityTitle(activity, activity.resource === undefined ? undefined : catalog.nameOf(activity.resource));
}

export function Timeline(props: {
    catalog: Catalog;
    run: Run;
    selected: number | undefined;
    onPick: (activity: number, how: "move" | "open") => void;
}): JSX.Element {
    const { catalog, run, selected, onPick } = props;
    const end = runEnd(run, elapsed(run));
    const byResource = useMemo(() => resourceLanes(run, end), [catalog, end]);
    const [packed, setPacked] = useState(byResource.length > MANY_LANES);
    const lanes = useMemo(() => (packed ? packedLanes(run, end) : byResource), [packed, byResource]);
    const place = useMemo(() => placesOf(lanes), [lanes]);
    const critical = useMemo(
        () => new Set(run.criticalPath.flatMap((item) => (item.activity === undefined ? [] : [item.activity]))),
        [catalog],
    );
    const [range, setRange] = useState<Range>({ from: 0, to: end });
    // While the run goes on, all of it stays in view.
    const before = useRef(end);
    if (before.current !== end) {
        if (range.from === 0 && range.to >= before.current) setRange({ from: 0, to: end });
        before.current = end;
    }
    const [hover, setHover] = useState<{ activity: number; x: number; y: number } | undefined>();
    const scroller = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const picture = useRef<Picture | undefined>(undefined);
    const [size, setSize] = useState({ width: 0, height: 0 });

    useLayoutEffect(() => {
        const element = scroller.current;
        if (!element) return;
        const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        measure();
        return () => observer.disconnect();
    }, []);

    const draw = () => {
        const [element, area] = [canvas.current, scroller.current];
        const context = element?.getContext("2d");
        if (!element || !area || !context || size.width === 0) return;
        const ratio = devicePixelRatio || 1;
        const [wide, high] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
        if (element.width !== wide || element.height !== high) {
            element.width = wide;
            element.height = high;
        }
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        picture.current = {
            run,
            catalog,
            lanes,
            range,
            end,
            width: size.width,
            height: size.height,
            gutter: packed ? 0 : Math.min(180, size.width * 0.3),
            top: area.scrollTop,
            critical,
            selected,
            hovered: hover?.activity,
        };
        paint(context, picture.current, colours(element));
    };
    useLayoutEffect(draw);
    const drawNow = useRef(draw);
    drawNow.current = draw;

    useEffect(() => {
        const scheme = matchMedia("(prefers-color-scheme: dark)");
        const redraw = () => drawNow.current();
        scheme.addEventListener("change", redraw);
        return () => scheme.removeEventListener("change", redraw);
    }, []);

    // What is chosen elsewhere is brought into view.
    useEffect(() => {
        const at = selected === undefined ? undefined : place.get(selected);
        const area = scroller.current;
        if (!at || !area) return;
        setRange((now) => rangeWith(now, at.began, at.ended, end));
        const y = at.lane * LANE;
        const room = area.clientHeight - HEAD - LANE;
        if (y < area.scrollTop || y > area.scrollTop + room) area.scrollTop = y - room / 2;
    }, [selected, place]);

    const under = (event: MouseEvent): number | undefined => {
        const now = picture.current;
        const box = canvas.current?.getBoundingClientRect();
        if (!now || !box) return undefined;
        const [x, y] = [event.clientX - box.left, event.clientY - box.top];
        const ms = msOf(now, x);
        if (x < now.gutter) return undefined;
        if (y < HEAD) {
            return run.criticalPath.find((item) => ms >= item.began && ms <= item.began + item.duration)?.activity;
        }
        const lane = lanes[Math.floor((y - HEAD + now.top) / LANE)];
        const reach = ((range.to - range.from) / Math.max(now.width - now.gutter, 1)) * 3;
        return lane && barAt(lane, ms, reach)?.activity;
    };

    const dragging = useRef<{ x: number; y: number; moved: number } | undefined>(undefined);
    const perPixel = () => (range.to - range.from) / Math.max(size.width - (picture.current?.gutter ?? 0), 1);
    const onWheel = useRef<(event: WheelEvent) => void>(() => {});
    onWheel.current = (event) => {
        const now = picture.current;
        const box = canvas.current?.getBoundingClientRect();
        if (!now || !box) return;
        if (event.ctrlKey || event.metaKey) {
            event.preventDefault();
            const about = msOf(now, Math.max(event.clientX - box.left, now.gutter));
            setRange((old) => zoomRange(old, Math.exp(event.deltaY * 0.002), about, end));
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            event.preventDefault();
            const by = (event.shiftKey ? event.deltaY || event.deltaX : event.deltaX) * perPixel();
            setRange((old) => moveRange(old, by, end));
        }
    };
    useEffect(() => {
        const element = scroller.current;
        const listen = (event: WheelEvent) => onWheel.current(event);
        element?.addEventListener("wheel", listen, { passive: false });
        return () => element?.removeEventListener("wheel", listen);
    }, []);

    const middle = (range.from + range.to) / 2;
    const zoom = (factor: number) => setRange((old) => zoomRange(old, factor, middle, end));
    const pick = (activity: number | undefined) => {
        if (activity !== undefined) onPick(activity, "move");
    };
    const keys: { [key: string]: () => void } = {
        ArrowRight: () => pick(beside(lanes, place, selected, 1)),
        ArrowLeft: () => pick(beside(lanes, place, selected, -1)),
        ArrowDown: () => pick(below(lanes, place, selected, 1)),
        ArrowUp: () => pick(below(lanes, place, selected, -1)),
        "+": () => zoom(0.7),
        "=": () => zoom(0.7),
        "-": () => zoom(1 / 0.7),
        "0": () => setRange({ from: 0, to: end }),
        Enter: () => selected !== undefined && onPick(selected, "open"),
    };
    return (
        <div class="timeline">
            <div class="bar">
                <label>
                    <input type="checkbox" checked={packed} onChange={() => setPacked(!packed)} /> As few lanes as
                    possible
                </label>
                <fieldset class="zoom">
                    <legend class="hidden">Zoom</legend>
                    <button type="button" aria-label="Zoom in" onClick={() => zoom(0.7)}>
                        +
                    </button>
                    <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / 0.7)}>
                        −
                    </button>
                    <button type="button" onClick={() => setRange({ from: 0, to: end })}>
                        Whole run
                    </button>
                </fieldset>
                <Legend />
            </div>
            <div
                ref={scroller}
                class="lanes"
                role="application"
                aria-roledescription="timeline"
                aria-label="Timeline of the run. Arrow keys go from call to call, plus and minus zoom, 0 shows the whole run. The tab Table says the same."
                tabIndex={0}
                onScroll={() => drawNow.current()}
                onKeyDown={(event) => {
                    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
                    if (!act) return;
                    act();
                    event.preventDefault();
                }}
                onPointerDown={(event) => {
                    if (event.button === 0) dragging.current = { x: event.clientX, y: event.clientY, moved: 0 };
                }}
                onPointerMove={(event) => {
                    const drag = dragging.current;
                    if (drag && event.buttons & 1) {
                        const by = event.clientX - drag.x;
                        drag.moved += Math.abs(by);
                        drag.x = event.clientX;
                        if (drag.moved > 4) setRange((old) => moveRange(old, -by * perPixel(), end));
                        return;
                    }
                    const activity = under(event);
                    if (activity === undefined) return hover && setHover(undefined);
                    const box = event.currentTarget.getBoundingClientRect();
                    setHover({ activity, x: event.clientX - box.left, y: event.clientY - box.top });
                }}
                onPointerLeave={() => setHover(undefined)}
                onPointerUp={(event) => {
                    const drag = dragging.current;
                    dragging.current = undefined;
                    if (!drag || drag.moved > 4) return;
                    const activity = under(event);
                    if (activity !== undefined) onPick(activity, "open");
                }}
            >
                <canvas ref={canvas} aria-hidden="true" style={`width: ${size.width}px; height: ${size.height}px`} />
                <div style={`height: ${Math.max(HEAD + lanes.length * LANE - size.height, 0)}px`} />
            </div>
            {hover && (
                <div class="tip" style={tipPlace(hover, size)}>
                    <Tip catalog={catalog} run={run} index={hover.activity} />
                </div>
            )}
            <p class="hidden" role="status">
                {selected !== undefined &&
                    `${activityName(catalog, run, selected)}, ${duration(run.activities[selected]?.duration ?? 0)}`}
            </p>
        </div>
    );
}

function tipPlace({ x, y }: { x: number; y: number }, size: { width: number }): string {
    return x > size.width / 2
        ? `right: ${size.width - x + 12}px; top: ${y + 44}px`
        : `left: ${x + 12}px; top: ${y + 44}px`;
}

function Tip({ catalog, run, index }: { catalog: Catalog; run: Run; index: number }): JSX.Element {
    const activity = run.activities[index];
    return (
        <>
            <b>{activityName(catalog, run, index)}</b>
            <br />
            {activity?.duration === undefined ? "running" : duration(activity.duration)} at{" "}
            {offset(activity?.began ?? 0)}
            {activity?.attempt && `, attempt ${activity.attempt}`}
            {activity?.outcome && activity.outcome !== "ok" && `, ${activity.outcome}`}
        </>
    );
}

const KINDS: [kind: string, label: string][] = [
    ["call", "provider call"],
    ["permit", "waits for a permit"],
    ["disk", "waits for the disk"],
    ["dependency", "waits for what comes before"],
    ["pause", "waits to try again"],
    ["hook", "hook"],
    ["plugin", "plugin"],
    ["failed", "failed"],
    ["critical", "on the critical path"],
];

function Legend(): JSX.Element {
    return (
        <ul class="legend" aria-label="Colours">
            {KINDS.map(([kind, label]) => (
                <li key={kind}>
                    <span class={`swatch kind-${kind}`} aria-hidden="true" />
                    {label}
                </li>
            ))}
        </ul>
    );
}

type Places = Map<number, { lane: number; place: number; began: number; ended: number }>;

function placesOf(lanes: Lane[]): Places {
    const places: Places = new Map();
    lanes.forEach((lane, at) => {
        lane.bars.forEach((bar, place) => {
            places.set(bar.activity, { lane: at, place, began: bar.began, ended: bar.ended });
        });
    });
    return places;
}

/** The bar before or after one, in its lane; then in the next lane. */
function beside(lanes: Lane[], places: Places, from: number | undefined, by: 1 | -1): number | undefined {
    const at = from === undefined ? undefined : places.get(from);
    if (!at) return lanes[0]?.bars[0]?.activity;
    const next = lanes[at.lane]?.bars[at.place + by];
    return (next ?? (by > 0 ? lanes[at.lane + 1]?.bars[0] : lanes[at.lane - 1]?.bars.at(-1)))?.activity;
}

/** The bar of the next lane that is nearest in time. */
function below(lanes: Lane[], places: Places, from: number | undefined, by: 1 | -1): number | undefined {
    const at = from === undefined ? undefined : places.get(from);
    if (!at) return lanes[0]?.bars[0]?.activity;
    const lane = lanes[at.lane + by];
    return lane && barAt(lane, (at.began + at.ended) / 2, Number.POSITIVE_INFINITY)?.activity;
}
