// Draws the timeline: only what is on the screen.

import type { Run } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { type Lane, scaleStep } from "../model/lanes.ts";
import { duration } from "../model/words.ts";
import type { Range } from "./scale.ts";

export const LANE = 22;
/** The scale, and the lane of the critical path below it. */
export const HEAD = 46;

export interface Picture {
    run: Run;
    catalog: Catalog;
    lanes: Lane[];
    range: Range;
    /** Milliseconds of the whole run. */
    end: number;
    width: number;
    height: number;
    /** The width of the names. */
    gutter: number;
    /** How far the lanes are scrolled. */
    top: number;
    critical: ReadonlySet<number>;
    selected: number | undefined;
    hovered: number | undefined;
}

/** The colours of the style sheet. */
export interface Colours {
    [name: string]: string;
}

const NAMES = [
    "bg",
    "panel",
    "line",
    "text",
    "dim",
    "accent",
    "failed",
    "critical",
    "call",
    "permit",
    "disk",
    "dependency",
    "pause",
    "hook",
    "plugin",
    "program",
    "on-bar",
    "on-failed",
];

/** They are drawn lower than what is done. */
const WAITS: ReadonlySet<string> = new Set(["permit", "disk", "dependency", "pause"]);

export function colours(element: Element): Colours {
    const style = getComputedStyle(element);
    return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

export function xOf(picture: Picture, ms: number): number {
    const { range, gutter, width } = picture;
    return gutter + ((ms - range.from) / (range.to - range.from)) * (width - gutter);
}

export function msOf(picture: Picture, x: number): number {
    const { range, gutter, width } = picture;
    return range.from + ((x - gutter) / Math.max(width - gutter, 1)) * (range.to - range.from);
}

export function paint(context: CanvasRenderingContext2D, picture: Picture, colour: Colours): void {
    const { width, height, gutter } = picture;
    context.clearRect(0, 0, width, height);
    context.fillStyle = colour.bg ?? "";
    context.fillRect(0, 0, width, height);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const step = grid(context, picture, colour);
    context.save();
    context.beginPath();
    context.rect(0, HEAD, width, height - HEAD);
    context.clip();
    const first = Math.max(0, Math.floor(picture.top / LANE));
    const last = Math.min(picture.lanes.length, Math.ceil((picture.top + height - HEAD) / LANE));
    for (let index = first; index < last; index++) lane(context, picture, colour, index);
    context.restore();
    head(context, picture, colour, step);
    context.strokeStyle = colour.line ?? "";
    if (gutter > 0) line(context, gutter - 0.5, HEAD, gutter - 0.5, height);
    line(context, 0, HEAD - 0.5, width, HEAD - 0.5);
}

function line(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
}

function grid(context: CanvasRenderingContext2D, picture: Picture, colour: Colours): number {
    const { range, width, height, gutter } = picture;
    const step = scaleStep(range.to - range.from, (width - gutter) / 90);
    context.strokeStyle = colour.line ?? "";
    context.lineWidth = 1;
    for (let at = Math.ceil(range.from / step) * step; at <= range.to; at += step) {
        const x = Math.round(xOf(picture, at)) + 0.5;
        line(context, x, 20, x, height);
    }
    return step;
}

function head(context: CanvasRenderingContext2D, picture: Picture, colour: Colours, step: number): void {
    const { range, run, width, gutter, end } = picture;
    context.fillStyle = colour.dim ?? "";
    for (let at = Math.ceil(range.from / step) * step; at <= range.to; at += step) {
        const text = at === 0 ? "0 s" : scaleText(at, step);
        const x = xOf(picture, at);
        context.textAlign = x < gutter + 12 ? "left" : x > width - 24 ? "right" : "center";
        context.fillText(text, Math.min(x, width - 2), 10);
    }
    context.textAlign = "left";
    if (gutter > 0) context.fillText("critical path", 8, 33);
    for (const item of run.criticalPath) {
        const kind = item.activity === undefined ? "program" : (run.activities[item.activity]?.kind ?? "call");
        const [x1, x2] = clipped(picture, item.began, Math.min(item.began + item.duration, end));
        if (x2 <= x1) continue;
        context.fillStyle = (kind === "call" ? colour.critical : colour[kind]) ?? "";
        context.fillRect(x1, 26, Math.max(x2 - x1 - 0.5, 0.75), 14);
    }
}

/** A mark of the scale: as exact as its steps are. */
function scaleText(at: number, step: number): string {
    if (step < 1) return `${at.toFixed(step < 0.1 ? 2 : 1)} ms`;
    if (step < 1000)
        return at < 1000 ? `${Math.round(at)} ms` : `${(at / 1000).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1)} s`;
    return duration(Math.round(at / 1000) * 1000);
}

function clipped(picture: Picture, began: number, ended: number): [number, number] {
    const left = Math.max(xOf(picture, began), picture.gutter);
    return [left, Math.min(xOf(picture, ended), picture.width)];
}

function lane(context: CanvasRenderingContext2D, picture: Picture, colour: Colours, index: number): void {
    const { run, catalog, lanes, range, gutter, top } = picture;
    const one = lanes[index] as Lane;
    const y = HEAD + index * LANE - top;
    if (gutter > 0 && one.first) {
        context.strokeStyle = colour.line ?? "";
        line(context, 0, y + 0.5, picture.width, y + 0.5);
        const failed = one.resource !== undefined && catalog.fate(one.resource)?.failed;
        context.fillStyle = (failed ? colour.failed : colour.text) ?? "";
        context.textAlign = "left";
        const name = one.resource === undefined ? "the run" : catalog.nameOf(one.resource);
        context.fillText(cut(context, failed ? `! ${name}` : name, gutter - 16), 8, y + LANE / 2);
    }
    let drawnTo = -1;
    for (const bar of one.bars) {
        if (bar.began > range.to) break;
        if (bar.ended < range.from) continue;
        const activity = run.activities[bar.activity];
        if (!activity) continue;
        const [x1, x2] = clipped(picture, bar.began, bar.ended);
        const marked = bar.activity === picture.selected || bar.activity === picture.hovered;
        const failed = activity.outcome === "failed" || activity.outcome === "unknown";
        // Thousands of bars in one pixel are one.
        if (x2 <= drawnTo && !marked && !failed) continue;
        drawnTo = Math.max(drawnTo, Math.ceil(x1 + 0.75));
        const width = Math.max(x2 - x1 - 0.5, 1.5);
        const waits = WAITS.has(activity.kind);
        const [by, height] = waits ? [y + 7, LANE - 14] : [y + 4, LANE - 8];
        context.fillStyle = (failed ? colour.failed : colour[activity.kind]) ?? "";
        context.fillRect(x1, by, width, height);
        if (picture.critical.has(bar.activity)) {
            context.fillStyle = colour.critical ?? "";
            context.fillRect(x1, y + LANE - 4, width, 3);
        }
        if (marked) {
            context.strokeStyle = colour.text ?? "";
            context.lineWidth = 2;
            context.strokeRect(x1 - 1, by - 1, width + 2, height + 2);
            context.lineWidth = 1;
        }
        if (failed && width > 10 && width <= 44) {
            context.fillStyle = colour["on-failed"] ?? "";
            context.textAlign = "center";
            context.fillText("!", x1 + width / 2, y + LANE / 2 + 0.5);
        }
        if (!waits && width > 44) {
            const name =
                gutter > 0 || activity.resource === undefined
                    ? activity.name
                    : `${activity.name} ${catalog.nameOf(activity.resource)}`;
            context.fillStyle = (failed ? colour["on-failed"] : colour["on-bar"]) ?? "";
            context.textAlign = "left";
            const sign = failed ? "! " : activity.attempt ? `${activity.attempt}. ` : "";
            context.fillText(cut(context, sign + name, width - 8), x1 + 4, y + LANE / 2 + 0.5);
        }
    }
}

/** A text that fits into some pixels. */
function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
    if (text.length * 4 < width && context.measureText(text).width <= width) return text;
    let most = Math.min(text.length, Math.ceil(width / 4));
    while (most > 1 && context.measureText(`${text.slice(0, most)}…`).width > width) most--;
    return most >= text.length ? text : `${text.slice(0, most)}…`;
}
