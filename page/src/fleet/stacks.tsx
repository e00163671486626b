// The stacks of a fleet's run as a table: searched, filtered, sorted, with the details of one beside it.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { whole } from "../model/words.ts";
import { Split, Toggles } from "../parts/layout.tsx";
import { PickList } from "../parts/pick-list.tsx";
import { Search, searchText } from "../parts/search.tsx";
import { address, go, pick, route, setOf, withParams } from "../route.ts";
import type { FleetCatalog, Member } from "./catalog.ts";
import { beginsDown, type Column, type Order, type StackFilter, saidOf, sorted, stacksOf } from "./rows.ts";
import { ChangeSigns, StandingSign } from "./signs.tsx";
import { StackDetail } from "./stack-detail.tsx";
import { STANDINGS, secondsWords, toneOf } from "./words.ts";

const ROW = 26;
const HEAD = 28;
const COLUMNS: [Column, string][] = [
    ["stack", "Stack"],
    ["standing", "Outcome"],
    ["changes", "Changes"],
    ["attempts", "Attempts"],
    ["seconds", "Time"],
    ["worker", "Worker"],
    ["text", "What is said"],
];
/** Labels with more values than this are searched for. */
const MAX_VALUES = 200;
const MAX_LABELS = 6;
/** A parameter for the value of each label. */
const OF_LABEL = "label.";

/** Absent: the order of the document. */
const order = signal<Order | undefined>(undefined);

export function Stacks({ catalog }: { catalog: FleetCatalog }): JSX.Element {
    const { item, params } = route.value;
    const text = searchText();
    const filter = filterOf(catalog, params, text);
    const found = useMemo(() => stacksOf(catalog, filter), [catalog, text, JSON.stringify(params)]);
    const rows = useMemo(() => sorted(catalog, found, order.value), [found, order.value]);
    const places = useMemo(() => new Map(rows.map((index, place) => [index, place])), [rows]);
    const size = useMemo(() => () => ROW, []);
    const selected = item === undefined ? undefined : catalog.byId.get(item);
    const all = catalog.members.length;
    return (
        <Split
            label="Details of the stack"
            full={item === undefined}
            back={selected === undefined ? undefined : address("stacks", undefined, params)}
            list={
                <>
                    <h2 class="hidden">Stacks</h2>
                    <div class="bar">
                        <Search
                            label="Search by stack, label, worker or text"
                            placeholder="Search stack, label=value, text  ( / )"
                            found={found.length === all ? whole(all) : `${whole(found.length)} of ${whole(all)}`}
                        />
                        <Choices catalog={catalog} />
                    </div>
                    <div class="filters">
                        <Toggles
                            label="Where they stand"
                            items={STANDINGS.filter(
                                (name) => catalog.standings.has(name) || filter.standings.has(name),
                            ).map((name) => [name, catalog.wordOf(name), catalog.standings.get(name) ?? 0])}
                            on={filter.standings}
                            onChange={(on) => go(withParams({ standing: [...on].join(",") }))}
                        />
                        {filter.around !== undefined && <Around member={catalog.member(filter.around)} />}
                    </div>
                    <PickList
                        role="grid"
                        label="Stacks"
                        count={rows.length}
                        size={size}
                        order={order.value}
                        selected={selected === undefined ? undefined : places.get(selected)}
                        onPick={(place, how) => pick(catalog.member(rows[place] as number).id, how)}
                        head={<Head />}
                        headSize={HEAD}
                        rowClass="stack-columns"
                        row={(place) => <Row catalog={catalog} member={catalog.member(rows[place] as number)} />}
                        empty="No stack is like that."
                    />
                </>
            }
            detail={
                selected === undefined ? (
                    <p class="empty">{`This run has no stack ${item}.`}</p>
                ) : (
                    <StackDetail catalog={catalog} index={selected} />
                )
            }
        />
    );
}

function filterOf(catalog: FleetCatalog, params: { [name: string]: string }, text: string): StackFilter {
    const wave = params.wave ? Number(params.wave) - 1 : undefined;
    const labels = Object.entries(params).flatMap(([name, value]): [string, string][] =>
        name.startsWith(OF_LABEL) ? [[name.slice(OF_LABEL.length), value]] : [],
    );
    return {
        text,
        standings: setOf(params.standing),
        labels: Object.fromEntries(labels),
        wave,
        around: params.around === undefined ? undefined : catalog.byId.get(params.around),
    };
}

/** A choice for each label that has few values, and for the waves. */
function Choices({ catalog }: { catalog: FleetCatalog }): JSX.Element {
    const waves = useMemo(() => {
        const counts = new Map<number, number>();
        for (const { wave } of catalog.members) counts.set(wave, (counts.get(wave) ?? 0) + 1);
        return [...counts].sort(([a], [b]) => a - b).map(([wave, many]): [string, number] => [String(wave + 1), many]);
    }, [catalog]);
    const labels = catalog.labels
        .filter(({ name, values }) => values.length <= MAX_VALUES || route.value.params[OF_LABEL + name])
        .slice(0, MAX_LABELS);
    return (
        <div class="choices">
            {labels.map(({ name, values }) => (
                <Choice key={name} name={name} parameter={OF_LABEL + name} values={values} />
            ))}
            {waves.length > 1 && <Choice name="wave" parameter="wave" values={waves} />}
        </div>
    );
}

function Choice(props: { name: string; parameter: string; values: [value: string, stacks: number][] }): JSX.Element {
    const { name, parameter, values } = props;
    const chosen = route.value.params[parameter] ?? "";
    return (
        <label>
            {name}{" "}
            <select value={chosen} onChange={(event) => go(withParams({ [parameter]: event.currentTarget.value }))}>
                <option value="">any</option>
                {values.map(([value, stacks]) => (
                    <option key={value} value={value} selected={value === chosen}>
                        {`${value} (${whole(stacks)})`}
                    </option>
                ))}
            </select>
        </label>
    );
}

function Around({ member }: { member: Member }): JSX.Element {
    return (
        <p class="around">
            What <strong>{member.id}</strong> needs, and what needs it.{" "}
            <button type="button" class="link" onClick={() => go(withParams({ around: "" }))}>
                Show all
            </button>
        </p>
    );
}

function Head(): JSX.Element {
    const chosen = order.value;
    const sort = (by: Column) => {
        const down = chosen?.by === by ? !chosen.down : beginsDown(by);
        // The third time, the order is that of the document again.
        order.value = chosen?.by === by && chosen.down !== beginsDown(by) ? undefined : { by, down };
    };
    return (
        <div role="rowgroup" class="table-head" style={`height: ${HEAD}px`}>
            <div role="row" class="stack-columns" aria-rowindex={1}>
                {COLUMNS.map(([column, label]) => (
                    <div
                        key={column}
                        role="columnheader"
                        class={`s-${column}`}
                        aria-sort={chosen?.by === column ? (chosen.down ? "descending" : "ascending") : "none"}
                    >
                        <button type="button" onClick={() => sort(column)}>
                            {label}
                            <span aria-hidden="true">{chosen?.by === column ? (chosen.down ? " ↓" : " ↑") : ""}</span>
                        </button>
                    </div>
                ))}
            </div>
        </div>
    );
}

function Row({ catalog, member }: { catalog: FleetCatalog; member: Member }): JSX.Element {
    const { id, standing, end, work } = member;
    const said = saidOf(member);
    const attempts = end?.attempts ?? work?.attempt ?? 0;
    return (
        <>
            <div role="gridcell" class="s-stack" title={id}>
                {id}
            </div>
            <div role="gridcell" class={`s-standing tone-${toneOf(standing)}`}>
                <StandingSign standing={standing} />
                {catalog.wordOf(standing)}
            </div>
            <div role="gridcell" class="s-changes">
                {end?.changes && <ChangeSigns changes={end.changes} />}
            </div>
            <div role="gridcell" class="s-attempts number">
                {attempts > 0 ? whole(attempts) : ""}
            </div>
            <div role="gridcell" class="s-seconds number">
                {end && end.attempts > 0 ? secondsWords(end.seconds) : ""}
            </div>
            <div role="gridcell" class="s-worker">
                {end?.worker ?? work?.worker}
            </div>
            <div role="gridcell" class={`s-text${standing === "failed" ? " tone-failed" : ""}`} title={said}>
                {said}
            </div>
        </>
    );
}
