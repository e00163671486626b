// The operations of the past, newest first, and what each did to the resources that the page has.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { goesOn } from "../app.ts";
import type { HistoryItem, Run } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { changesOf, type Entry, entries } from "../model/past.ts";
import { byWeight, count, duration, moment, opWords, runName, whole } from "../model/words.ts";
import { OpBadge, ResourceLink } from "../parts/badges.tsx";
import { ChangeTable } from "../parts/changes.tsx";
import { Split } from "../parts/layout.tsx";
import { PickList } from "../parts/pick-list.tsx";
import { address, pick, route, wide } from "../route.ts";

const ROW = 52;
/** Where the time does not fit behind the name. */
const NARROW_ROW = 72;

export function History({ catalog }: { catalog: Catalog }): JSX.Element {
    const all = useMemo(() => entries(catalog.data), [catalog]);
    const size = useMemo(() => (wide() ? () => ROW : () => NARROW_ROW), []);
    if (all.length === 0) return <p class="empty">No operation of the past is in this page.</p>;
    const at = all.findIndex((entry) => entry.key === route.value.item);
    const chosen = all[at];
    return (
        <Split
            label="Details of the operation"
            back={chosen ? address("history") : undefined}
            list={
                <>
                    <h2 class="hidden">History</h2>
                    <PickList
                        role="listbox"
                        label="Operations of the past"
                        count={all.length}
                        size={size}
                        selected={at < 0 ? undefined : at}
                        onPick={(index, how) => pick(all[index]?.key ?? "", how)}
                        row={(index) => <Line entry={all[index] as Entry} run={catalog.data.run} />}
                        empty=""
                    />
                </>
            }
            detail={
                chosen ? (
                    <Operation key={chosen.key} catalog={catalog} entry={chosen} />
                ) : (
                    <p class="empty">Choose an operation to see what it changed.</p>
                )
            }
        />
    );
}

function Result({ item, run }: { item: HistoryItem; run: Run | undefined }): JSX.Element {
    const going = run && item.version === 0 && goesOn(run);
    const tone = item.result === "succeeded" ? "add" : going ? "same" : "failed";
    return <span class={`badge tone-${tone}`}>{going ? "running" : item.result}</span>;
}

function Line({ entry, run }: { entry: Entry; run: Run | undefined }): JSX.Element {
    const { item, current } = entry;
    return (
        <div class="operation-line">
            <p class="cut">
                <b>
                    {item.version > 0 && <span class="number dim">{item.version}</span>} {runName(item.kind, false)}
                </b>{" "}
                <Result item={item} run={current ? run : undefined} />{" "}
                {current && <span class="badge tone-same">this page</span>}{" "}
                <span class="dim when">
                    {moment(item.began)}, {duration(item.duration)}
                </span>
            </p>
            <p class="cut">
                <Counts item={item} />
                {item.message && <span class="said">{item.message}</span>}
            </p>
        </div>
    );
}

function Counts({ item }: { item: HistoryItem }): JSX.Element {
    const ops = Object.keys(item.changes)
        .filter((op) => (item.changes[op] ?? 0) > 0)
        .sort(byWeight);
    if (ops.length === 0) return <span class="dim">No changes.</span>;
    return (
        <>
            {ops.map((op, place) => (
                <span key={op} class={`tone-${opWords(op).tone}`}>
                    {place > 0 && <span class="dim">, </span>}
                    {whole(item.changes[op] ?? 0)} {opWords(op).done}
                </span>
            ))}
        </>
    );
}

function Operation({ catalog, entry }: { catalog: Catalog; entry: Entry }): JSX.Element {
    const { item, current } = entry;
    const environment = Object.entries(item.environment ?? {});
    return (
        <div class="detail">
            <h2>
                {runName(item.kind, false)}
                {item.version > 0 && <span class="dim"> version {item.version}</span>}
            </h2>
            <p class="badges">
                <Result item={item} run={current ? catalog.data.run : undefined} />
                <span class="dim">
                    {moment(item.began)}, {duration(item.duration)}
                </span>
            </p>
            {item.message && <p class="message">{item.message}</p>}
            <p>
                <Counts item={item} />
            </p>
            {current ? <ThisRun /> : <Changed catalog={catalog} version={item.version} />}
            {environment.length > 0 && (
                <>
                    <h3>Where and by whom</h3>
                    <dl class="identity">
                        {environment.map(([name, value]) => (
                            <div key={name}>
                                <dt>{name}</dt>
                                <dd>{value}</dd>
                            </div>
                        ))}
                    </dl>
                </>
            )}
        </div>
    );
}

function ThisRun(): JSX.Element {
    return (
        <p>
            This page shows it: <a href={address("changes")}>its changes</a>, <a href={address("run")}>its timeline</a>.
        </p>
    );
}

/** More resources are not listed: such an operation has a page of its own. */
const MAX_CHANGED = 200;
/** The properties of so many are unfolded. */
const FEW_CHANGED = 3;

function Changed({ catalog, version }: { catalog: Catalog; version: number }): JSX.Element {
    const all = useMemo(() => changesOf(catalog, version), [catalog, version]);
    return (
        <>
            <h3>What it changed</h3>
            {all.length === 0 && <p class="dim">Nothing that it changed is in this page.</p>}
            {all.slice(0, MAX_CHANGED).map(({ resource, operation }) => (
                <article key={resource} class="past-change">
                    <p>
                        <ResourceLink catalog={catalog} index={resource} type />{" "}
                        <OpBadge op={operation.op} tense={operation.failed ? "failed" : "done"} />
                        {operation.keys && <span class="dim"> because of {operation.keys.join(", ")}</span>}
                    </p>
                    {operation.changes ? (
                        <details open={all.length <= FEW_CHANGED}>
                            <summary>{count(operation.changes.length, "property", "properties")}</summary>
                            <ChangeTable changes={operation.changes} catalog={catalog} />
                        </details>
                    ) : (
                        <p class="dim">Its properties are not in this page.</p>
                    )}
                </article>
            ))}
            {all.length > MAX_CHANGED && <p class="dim">and {count(all.length - MAX_CHANGED, "more resource")}</p>}
            <p class="dim">
                All of it, with what is no longer in the stack: <code>maloko stack history page {version}</code>
            </p>
        </>
    );
}
