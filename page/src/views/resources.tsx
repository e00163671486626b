// The resources: a tree or a graph, what is shown of them, and the details of one.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Catalog } from "../model/catalog.ts";
import { counts, type Filter, isActive, matches, STATES, stateWords, type TreeRow, treeRows } from "../model/filter.ts";
import { byWeight, opWords, whole } from "../model/words.ts";
import { NameAndType, OpSign, StateBadge } from "../parts/badges.tsx";
import { Split, Tabs, Toggles } from "../parts/layout.tsx";
import { PickList } from "../parts/pick-list.tsx";
import { Search, searchText } from "../parts/search.tsx";
import { address, go, pick, route, setOf, withParams } from "../route.ts";
import { Graph } from "./graph.tsx";
import { ResourceDetail } from "./resource-detail.tsx";

const ROW = 26;

/** What was folded by hand. */
const folded = signal<ReadonlySet<number>>(new Set());

export function Resources({ catalog }: { catalog: Catalog }): JSX.Element {
    const { item, params } = route.value;
    const text = searchText();
    const filter: Filter = { text, ops: setOf(params.ops), states: setOf(params.states) };
    const active = isActive(filter);
    const found = useMemo(
        () => (active ? matches(catalog, filter) : undefined),
        [catalog, active, text, params.ops, params.states],
    );
    const selected = item === undefined ? undefined : catalog.byKey.get(item);
    const view = params.view === "graph" ? "graph" : "tree";
    const all = catalog.data.resources.length;
    const open = (index: number, how: "move" | "open") => pick(catalog.keys[index] as string, how);
    return (
        <Split
            label="Details of the resource"
            full={view === "graph"}
            back={selected === undefined ? undefined : address("resources", undefined, params)}
            list={
                <Tabs
                    label="How the resources are shown"
                    tabs={[
                        ["tree", "Tree"],
                        ["graph", "Graph"],
                    ]}
                    chosen={view}
                    onChoose={(name) => go(withParams({ view: name === "tree" ? "" : name }))}
                    beside={
                        <Search
                            label="Search by name, type or URN"
                            placeholder="Search name, type, URN  ( / )"
                            found={found ? `${whole(found.size)} of ${whole(all)}` : whole(all)}
                        />
                    }
                >
                    <Filters catalog={catalog} filter={filter} />
                    {view === "tree" ? (
                        <Tree catalog={catalog} found={found} selected={selected} onPick={open} />
                    ) : (
                        <Graph
                            catalog={catalog}
                            found={found}
                            selected={selected}
                            onPick={(index) => open(index, "open")}
                        />
                    )}
                </Tabs>
            }
            detail={
                selected === undefined ? (
                    <p class="empty">
                        {item === undefined
                            ? "Choose a resource to see its details."
                            : `This page has no resource ${item}.`}
                    </p>
                ) : (
                    <ResourceDetail catalog={catalog} index={selected} />
                )
            }
        />
    );
}

function Filters({ catalog, filter }: { catalog: Catalog; filter: Filter }): JSX.Element {
    const { ops, states } = useMemo(() => counts(catalog), [catalog]);
    const names = [...new Set([...ops.keys(), ...filter.ops])].sort(byWeight);
    const marks = STATES.filter(([state]) => states.has(state) || filter.states.has(state));
    const change = (name: "ops" | "states") => (on: Set<string>) => go(withParams({ [name]: [...on].join(",") }));
    return (
        <div class="filters">
            <Toggles
                label="Operations"
                items={names.map((op) => [
                    op,
                    catalog.data.run?.dryRun ? opWords(op).plan : opWords(op).done,
                    ops.get(op) ?? 0,
                ])}
                on={filter.ops}
                onChange={change("ops")}
            />
            <Toggles
                label="States"
                items={marks.map(([state]) => [state, stateWords(state), states.get(state) ?? 0])}
                on={filter.states}
                onChange={change("states")}
            />
        </div>
    );
}

/** States that are worth a sign in a row. */
const LOUD = new Set(["tainted", "unhealthy", "pendingDelete", "pendingReplacement", "protected"]);

function Tree(props: {
    catalog: Catalog;
    found: Set<number> | undefined;
    selected: number | undefined;
    onPick: (index: number, how: "move" | "open") => void;
}): JSX.Element {
    const { catalog, found, selected, onPick } = props;
    const rows = useMemo(() => treeRows(catalog, found, folded.value), [catalog, found, folded.value]);
    const place = useMemo(() => new Map(rows.map((row, at) => [row.index, at])), [rows]);
    const fold = (index: number, closed: boolean) => {
        const next = new Set(folded.value);
        if (closed) next.add(index);
        else next.delete(index);
        folded.value = next;
    };
    const size = useMemo(() => () => ROW, []);
    const onKey = (key: string, at: number): number | boolean | undefined => {
        const row = rows[at];
        if (!row) return undefined;
        if (key === "ArrowRight") {
            if (row.expanded === undefined) return true;
            if (row.expanded) return at + 1;
            fold(row.index, false);
            return true;
        }
        if (key === "ArrowLeft") {
            if (row.expanded) {
                fold(row.index, true);
                return true;
            }
            const parent = catalog.parentOf(row.index);
            return (parent === undefined ? undefined : place.get(parent)) ?? true;
        }
        return undefined;
    };
    return (
        <PickList
            role="tree"
            label="Resources"
            count={rows.length}
            size={size}
            selected={selected === undefined ? undefined : place.get(selected)}
            onPick={(at, how) => onPick((rows[at] as TreeRow).index, how)}
            onKey={onKey}
            aria={(at) => {
                const row = rows[at] as TreeRow;
                return {
                    "aria-level": row.level,
                    "aria-setsize": row.siblings,
                    "aria-posinset": row.position,
                    ...(row.expanded === undefined ? {} : { "aria-expanded": row.expanded }),
                };
            }}
            row={(at) => <TreeLine catalog={catalog} row={rows[at] as TreeRow} onFold={fold} />}
            empty={found ? "No resource is like that." : "The stack has no resources."}
        />
    );
}

function TreeLine(props: {
    catalog: Catalog;
    row: TreeRow;
    onFold: (index: number, closed: boolean) => void;
}): JSX.Element {
    const { catalog, row, onFold } = props;
    const resource = catalog.resource(row.index);
    const fate = catalog.fate(row.index);
    if (!resource) return <span />;
    const op =
        fate && (fate.failed ? opWords(fate.op).failed : fate.running ? opWords(fate.op).doing : opWords(fate.op).done);
    return (
        <span class={row.onlyPath ? "line faint" : "line"} style={`padding-left: ${(row.level - 1) * 14}px`}>
            {/* For the mouse: the keyboard has its arrows. */}
            <span
                class="fold"
                aria-hidden="true"
                onClick={(event) => {
                    if (row.expanded === undefined) return;
                    event.stopPropagation();
                    onFold(row.index, row.expanded);
                }}
            >
                {row.expanded === undefined ? "" : row.expanded ? "▾" : "▸"}
            </span>
            {fate ? <OpSign op={fate.op} failed={fate.failed} /> : <span class="sign" />}
            <NameAndType resource={resource} />
            {op && <span class="hidden">, {op}</span>}
            {resource.gone && <span class="hidden">, removed by the run</span>}
            {resource.marks
                ?.filter((mark) => LOUD.has(mark))
                .map((mark) => (
                    <StateBadge key={mark} state={mark} />
                ))}
        </span>
    );
}
