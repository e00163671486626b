// Where the bars of the timeline are: rows by resource, or as few lanes as hold them.

import type { Activity, Run } from "../data.ts";

export interface Bar {
    activity: number;
    began: number;
    ended: number;
}

export interface Lane {
    /** The resource whose bars these are; absent: of any. */
    resource?: number;
    /** Is it the first lane of its resource, which has the label? */
    first: boolean;
    bars: Bar[];
}

/** When the last thing of a run ended, in milliseconds since it began; of one that goes on: at least what it took so far. */
export function runEnd(run: Run, soFar = run.duration): number {
    let end = soFar;
    for (const { began, duration } of run.activities) end = Math.max(end, began + (duration ?? 0));
    for (const { began, ended } of run.steps) end = Math.max(end, ended ?? began);
    return Math.max(end, 1);
}

function bar(activity: Activity, index: number, end: number): Bar {
    return {
        activity: index,
        began: activity.began,
        ended: activity.began + (activity.duration ?? end - activity.began),
    };
}

/** Bars that do not overlap share a lane: the first that is free. */
function packed(bars: Bar[]): Bar[][] {
    bars.sort((a, b) => a.began - b.began || b.ended - a.ended);
    const lanes: Bar[][] = [];
    const free: number[] = [];
    // What ends when the next begins leaves room for it, in spite of rounding.
    const slack = 0.01;
    for (const one of bars) {
        let lane = free.findIndex((at) => at <= one.began + slack);
        if (lane < 0) lane = free.push(0) - 1;
        free[lane] = one.ended;
        const list = lanes[lane];
        if (list) list.push(one);
        else lanes.push([one]);
    }
    return lanes;
}

/** As few lanes as hold all bars. */
export function packedLanes(run: Run, end = runEnd(run)): Lane[] {
    return packed(run.activities.map((activity, index) => bar(activity, index, end))).map((bars) => ({
        first: false,
        bars,
    }));
}

/** A row for each resource, in the order in which they began; more than one where its activities overlap. */
export function resourceLanes(run: Run, end = runEnd(run)): Lane[] {
    const by = new Map<number | undefined, Bar[]>();
    run.activities.forEach((activity, index) => {
        const one = bar(activity, index, end);
        const list = by.get(activity.resource);
        if (list) list.push(one);
        else by.set(activity.resource, [one]);
    });
    const began = (bars: Bar[]) => bars.reduce((least, one) => Math.min(least, one.began), Number.POSITIVE_INFINITY);
    return [...by]
        .map(([resource, bars]) => ({ resource, bars, began: began(bars) }))
        .sort((a, b) => a.began - b.began)
        .flatMap(({ resource, bars }) =>
            packed(bars).map((lane, place): Lane => {
                const one: Lane = { first: place === 0, bars: lane };
                if (resource !== undefined) one.resource = resource;
                return one;
            }),
        );
}

/** The bar at a moment; the nearest one within `reach` milliseconds. Bars are in the order in which they began. */
export function barAt(lane: Lane, at: number, reach: number): Bar | undefined {
    let best: Bar | undefined;
    let least = reach;
    for (const one of lane.bars) {
        if (one.began - reach > at) break;
        const away = at < one.began ? one.began - at : at > one.ended ? at - one.ended : 0;
        if (away === 0) return one;
        if (away <= least) {
            least = away;
            best = one;
        }
    }
    return best;
}

/** Round steps for a scale that shows `span` milliseconds with about `most` marks. */
export function scaleStep(span: number, most: number): number {
    const rough = span / Math.max(most, 1);
    const power = 10 ** Math.floor(Math.log10(Math.max(rough, 0.001)));
    const step = [1, 2, 5, 10].find((times) => times * power >= rough) ?? 10;
    return step * power;
}
