// The calls of a run as a table that can be sorted: what the timeline shows, for whoever does not see it.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Activity, Run } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { activityWords, duration, offset, typeOf, whole } from "../model/words.ts";
import { ResourceLink } from "../parts/badges.tsx";
import { Toggles } from "../parts/layout.tsx";
import { useWindow } from "../parts/virtual.ts";
import { address, route } from "../route.ts";

type Column = "what" | "resource" | "type" | "began" | "duration" | "outcome";
const COLUMNS: [Column, string][] = [
    ["what", "Call"],
    ["resource", "Resource"],
    ["type", "Type"],
    ["began", "Began"],
    ["duration", "Duration"],
    ["outcome", "Outcome"],
];
const ROW = 26;

const order = signal<{ by: Column; down: boolean }>({ by: "duration", down: true });
const shown = signal<ReadonlySet<string>>(new Set());

const KIND_NAMES: { [kind in Activity["kind"]]: string } = {
    call: "Calls",
    permit: "Permits",
    disk: "Disk",
    dependency: "Dependencies",
    pause: "Pauses",
    hook: "Hooks",
    plugin: "Plugins",
};

export function CallTable(props: { catalog: Catalog; run: Run; selected: number | undefined }): JSX.Element {
    const { catalog, run, selected } = props;
    const { by, down } = order.value;
    const rows = useMemo(() => sorted(catalog, run, by, down, shown.value), [catalog, by, down, shown.value]);
    const critical = useMemo(
        () => new Set(run.criticalPath.flatMap((item) => (item.activity === undefined ? [] : [item.activity]))),
        [catalog],
    );
    const kinds = useMemo(() => {
        const counts = new Map<Activity["kind"], number>();
        for (const { kind } of run.activities) counts.set(kind, (counts.get(kind) ?? 0) + 1);
        return [...counts];
    }, [catalog]);
    const size = useMemo(() => () => ROW, []);
    const list = useWindow(rows.length, size);
    useEffect(() => {
        const at = selected === undefined ? -1 : rows.indexOf(selected);
        if (at >= 0) list.scrollTo(at);
    }, [selected]);
    const sort = (column: Column) => {
        order.value = by === column ? { by, down: !down } : { by: column, down: column === "duration" };
    };
    return (
        <div class="call-table">
            <div class="bar">
                <Toggles
                    label="Kinds"
                    items={kinds.map(([kind, many]) => [kind, KIND_NAMES[kind], many])}
                    on={shown.value}
                    onChange={(on) => {
                        shown.value = on;
                    }}
                />
                <span class="dim" role="status">
                    {whole(rows.length)} rows
                </span>
            </div>
            <div class="table" role="table" aria-label="Calls of the run" aria-rowcount={rows.length + 1}>
                <div role="rowgroup" class="table-head">
                    <div role="row" class="columns" aria-rowindex={1}>
                        {COLUMNS.map(([column, label]) => (
                            <div
                                key={column}
                                role="columnheader"
                                class={`c-${column}`}
                                aria-sort={by === column ? (down ? "descending" : "ascending") : "none"}
                            >
                                <button type="button" onClick={() => sort(column)}>
                                    {label}
                                    <span aria-hidden="true">{by === column ? (down ? " ↓" : " ↑") : ""}</span>
                                </button>
                            </div>
                        ))}
                    </div>
                </div>
                <div role="rowgroup" class="scroll" ref={list.scroller} tabIndex={0} aria-label="Rows">
                    <div class="all" role="presentation" style={`height: ${list.height}px`}>
                        {list.rows.map((item) => {
                            const index = rows[item.index] as number;
                            const activity = run.activities[index] as Activity;
                            const failed = activity.outcome === "failed" || activity.outcome === "unknown";
                            return (
                                <div
                                    key={index}
                                    role="row"
                                    aria-rowindex={item.index + 2}
                                    class={`row columns${index === selected ? " selected" : ""}`}
                                    style={`transform: translateY(${item.start}px); height: ${ROW}px`}
                                >
                                    <div role="cell" class="c-what">
                                        <span
                                            class={`swatch kind-${failed ? "failed" : activity.kind}`}
                                            aria-hidden="true"
                                        />
                                        <a href={address("run", String(index), route.value.params)}>
                                            {activityWords(activity)}
                                        </a>
                                        {activity.attempt && <span class="dim"> attempt {activity.attempt}</span>}
                                        {critical.has(index) && <span class="badge tone-critical">path</span>}
                                    </div>
                                    <div role="cell" class="c-resource">
                                        {activity.resource !== undefined && (
                                            <ResourceLink catalog={catalog} index={activity.resource} />
                                        )}
                                    </div>
                                    <div role="cell" class="c-type dim">
                                        {activity.resource !== undefined && typeOf(catalog.resource(activity.resource))}
                                    </div>
                                    <div role="cell" class="c-began number">
                                        {offset(activity.began)}
                                    </div>
                                    <div role="cell" class="c-duration number">
                                        {activity.duration === undefined ? "running" : duration(activity.duration)}
                                    </div>
                                    <div role="cell" class={failed ? "c-outcome tone-failed" : "c-outcome"}>
                                        {activity.outcome ?? ""}
                                    </div>
                                </div>
                            );
                        })}
                    </div>
                </div>
            </div>
        </div>
    );
}

function sorted(catalog: Catalog, run: Run, by: Column, down: boolean, kinds: ReadonlySet<string>): number[] {
    const all = run.activities;
    const rows = all.map((_, index) => index).filter((index) => kinds.size === 0 || kinds.has(all[index]?.kind ?? ""));
    const text: { [column in Column]?: (one: Activity) => string } = {
        what: activityWords,
        resource: (one) => (one.resource === undefined ? "" : catalog.nameOf(one.resource)),
        type: (one) => typeOf(catalog.resource(one.resource ?? -1)),
        outcome: (one) => one.outcome ?? "",
    };
    const words = text[by];
    const sign = down ? -1 : 1;
    const number = (one: Activity) => (by === "began" ? one.began : (one.duration ?? Number.POSITIVE_INFINITY));
    const keys = all.map((one) => (words ? words(one) : number(one)));
    return rows.sort((a, b) => {
        const [x, y] = [keys[a] as string | number, keys[b] as string | number];
        return (x < y ? -sign : x > y ? sign : 0) || a - b;
    });
}
