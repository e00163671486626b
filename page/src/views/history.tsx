// The operations of the past, newest first.

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { HistoryItem } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { byWeight, duration, moment, opWords, runName, whole } from "../model/words.ts";
import { useWindow } from "../parts/virtual.ts";
import { route } from "../route.ts";

export function History({ catalog }: { catalog: Catalog }): JSX.Element {
    const items = catalog.data.history;
    const chosen = route.value.item;
    const size = useMemo(() => () => 64, [items]);
    const list = useWindow(items.length, size, true);
    useEffect(() => {
        const at = items.findIndex((item) => String(item.version) === chosen);
        if (at >= 0) list.scrollTo(at);
    }, [chosen]);
    if (items.length === 0) return <p class="empty">No operation of the past is in this page.</p>;
    return (
        <div class="history view">
            <h2 class="hidden">History</h2>
            <div class="scroll" ref={list.scroller} tabIndex={0} role="list" aria-label="Operations of the past">
                <div class="all" role="presentation" style={`height: ${list.height}px`}>
                    {list.rows.map((row) => {
                        const item = items[row.index] as HistoryItem;
                        return (
                            <div
                                key={row.index}
                                ref={list.measure}
                                data-index={row.index}
                                role="listitem"
                                aria-setsize={items.length}
                                aria-posinset={row.index + 1}
                                class={String(item.version) === chosen ? "row selected" : "row"}
                                style={`transform: translateY(${row.start}px)`}
                            >
                                <Operation item={item} />
                            </div>
                        );
                    })}
                </div>
            </div>
        </div>
    );
}

function Operation({ item }: { item: HistoryItem }): JSX.Element {
    const ops = Object.keys(item.changes)
        .filter((op) => (item.changes[op] ?? 0) > 0)
        .sort(byWeight);
    const environment = Object.entries(item.environment ?? {});
    return (
        <article class="operation">
            <h3>
                <span class="number dim">{item.version}</span> {runName(item.kind, false)}{" "}
                <span class={`badge ${item.result === "succeeded" ? "tone-add" : "tone-failed"}`}>{item.result}</span>
                <span class="dim when">
                    {moment(item.began)}, {duration(item.duration)}
                </span>
            </h3>
            {item.message && <p class="message">{item.message}</p>}
            <p class="ops">
                {ops.length === 0 && <span class="dim">No changes.</span>}
                {ops.map((op) => (
                    <span key={op} class={`tone-${opWords(op).tone}`}>
                        {whole(item.changes[op] ?? 0)} {opWords(op).done}
                    </span>
                ))}
            </p>
            {environment.length > 0 && (
                <details>
                    <summary>Where and by whom</summary>
                    <dl class="identity">
                        {environment.map(([name, value]) => (
                            <div key={name}>
                                <dt>{name}</dt>
                                <dd>{value}</dd>
                            </div>
                        ))}
                    </dl>
                </details>
            )}
        </article>
    );
}
