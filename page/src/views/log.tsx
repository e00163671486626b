// The messages of the run, in the order in which they came.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Diagnostic } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { wordsOf } from "../model/filter.ts";
import { offset, whole } from "../model/words.ts";
import { ResourceLink } from "../parts/badges.tsx";
import { Toggles } from "../parts/layout.tsx";
import { useWindow } from "../parts/virtual.ts";
import { adjust, go, route, withParams } from "../route.ts";

const SEVERITIES = ["error", "warning", "info", "output", "debug"] as const;

export function Log({ catalog }: { catalog: Catalog }): JSX.Element {
    const { run } = catalog.data;
    const { params } = route.value;
    const all = run?.diagnostics ?? [];
    const on = new Set((params.severity ?? "").split(",").filter(Boolean));
    const text = params.q ?? "";
    const counts = useMemo(() => {
        const by = new Map<string, number>();
        for (const { severity } of all) by.set(severity, (by.get(severity) ?? 0) + 1);
        return by;
    }, [catalog]);
    const shown = useMemo(() => {
        const words = wordsOf(text);
        return all.filter((one) => {
            // What is for those who write providers is shown on demand.
            if (on.size > 0 ? !on.has(one.severity) : one.severity === "debug") return false;
            if (words.length === 0) return true;
            const of = `${one.message.toLowerCase()} ${one.resource === undefined ? "" : catalog.texts[one.resource]}`;
            return words.every((word) => of.includes(word));
        });
    }, [catalog, text, params.severity]);
    const size = useMemo(() => (at: number) => 22 * (1 + (shown[at]?.message.split("\n").length ?? 1) - 1), [shown]);
    const list = useWindow(shown.length, size, true);
    return (
        <div class="log view">
            <h2 class="hidden">Log</h2>
            <div class="bar">
                <input
                    type="search"
                    data-search
                    aria-label="Search the messages"
                    placeholder="Search messages  ( / )"
                    value={text}
                    onInput={(event) => adjust(withParams({ q: event.currentTarget.value }))}
                />
                <Toggles
                    label="Severities"
                    items={SEVERITIES.filter((name) => counts.has(name)).map((name) => [
                        name,
                        name,
                        counts.get(name) ?? 0,
                    ])}
                    on={on}
                    onChange={(next) => go(withParams({ severity: [...next].join(",") }))}
                />
                <span class="dim" role="status">
                    {whole(shown.length)} of {whole(all.length)}
                </span>
            </div>
            {shown.length === 0 ? (
                <p class="empty">{all.length === 0 ? "No messages." : "No message is like that."}</p>
            ) : (
                <div class="scroll" ref={list.scroller} tabIndex={0} role="list" aria-label="Messages">
                    <div class="all" role="presentation" style={`height: ${list.height}px`}>
                        {list.rows.map((item) => (
                            <div
                                key={item.index}
                                ref={list.measure}
                                data-index={item.index}
                                role="listitem"
                                aria-setsize={shown.length}
                                aria-posinset={item.index + 1}
                                class="row"
                                style={`transform: translateY(${item.start}px)`}
                            >
                                <Entry catalog={catalog} one={shown[item.index] as Diagnostic} />
                            </div>
                        ))}
                    </div>
                </div>
            )}
        </div>
    );
}

function Entry({ catalog, one }: { catalog: Catalog; one: Diagnostic }): JSX.Element {
    return (
        <div class={`entry severity-${one.severity}`}>
            <span class="at number dim">{offset(one.at)}</span>
            <span class="severity">{one.severity}</span>
            <span class="of">
                {one.resource !== undefined && <ResourceLink catalog={catalog} index={one.resource} />}
            </span>
            <span class="message">{one.message}</span>
        </div>
    );
}
