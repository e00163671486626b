// The list of steps: a row for each resource that was changed, with the first of its properties. A replacement unfolds into its steps.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Change, Step } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { chain } from "../model/causes.ts";
import { failureLine } from "../model/failures.ts";
import { changing, type StepLine, type StepRow, stepLines, stepRows, telling } from "../model/step-rows.ts";
import { byWeight, count, opWords, whole } from "../model/words.ts";
import { NameAndType, OpSign } from "../parts/badges.tsx";
import { Toggles } from "../parts/layout.tsx";
import { PickList } from "../parts/pick-list.tsx";
import { brief } from "../parts/value.tsx";
import { adjust, go, pick, route, withParams } from "../route.ts";

const HEAD = 28;
const LINE = 20;
/** So many properties are in the list; the details have all. */
const MAX_LINES = 6;

/** The rows that were unfolded by hand, by their main step. */
const unfolded = signal<ReadonlySet<number>>(new Set());

/** A line below the name: a property, an error, or how many properties are left out. */
type Below = Change | { error: string } | string;

export function StepList(props: {
    catalog: Catalog;
    steps: Step[];
    selected: number | undefined;
    note: string | undefined;
}): JSX.Element {
    const { catalog, steps, selected, note } = props;
    const { params } = route.value;
    const rows = useMemo(() => stepRows(steps), [catalog, steps]);
    const ops = useMemo(() => {
        const counts = new Map<string, number>();
        for (const { op } of rows) counts.set(op, (counts.get(op) ?? 0) + 1);
        return counts;
    }, [rows]);
    const on = new Set((params.ops ?? "").split(",").filter(Boolean));
    const text = (params.q ?? "").toLowerCase();
    // Unless they are asked for, steps that changed nothing are left out.
    const shown = useMemo(
        () =>
            rows.filter((row) => {
                const resource = steps[row.main]?.resource ?? -1;
                if (text && !catalog.texts[resource]?.includes(text)) return false;
                return on.size > 0
                    ? on.has(row.op)
                    : row.op !== "same" || row.failed || row.parts.includes(selected ?? -1);
            }),
        [catalog, rows, params.ops, text, selected],
    );
    const lines = useMemo(() => stepLines(shown, unfolded.value, selected), [shown, unfolded.value, selected]);
    const below = useMemo(() => lines.map((line) => linesBelow(catalog, steps, line)), [catalog, steps, lines]);
    const size = useMemo(() => (at: number) => HEAD + (below[at]?.length ?? 0) * LINE, [below]);
    const names = [...ops.keys()].sort(byWeight);
    const place = selected === undefined ? -1 : lines.findIndex((line) => line.index === selected);
    const fold = (row: StepRow, open: boolean) => {
        const next = new Set(unfolded.value);
        if (open) next.add(row.main);
        else next.delete(row.main);
        unfolded.value = next;
    };
    const onKey = (key: string, index: number): number | boolean | undefined => {
        const line = lines[index];
        if (!line || (key !== "ArrowRight" && key !== "ArrowLeft")) return undefined;
        if (line.part) return key === "ArrowLeft" ? lines.findIndex((one) => one.row === line.row) : true;
        if (line.row.parts.length < 2) return true;
        const open = lines[index + 1]?.part === true;
        if (key === "ArrowRight" && open) return index + 1;
        fold(line.row, key === "ArrowRight");
        return true;
    };
    return (
        <>
            <div class="bar">
                <input
                    type="search"
                    data-search
                    aria-label="Search the resources of the steps"
                    placeholder="Search  ( / )"
                    value={params.q ?? ""}
                    onInput={(event) => adjust(withParams({ q: event.currentTarget.value }))}
                />
                <Toggles
                    label="Operations"
                    items={names.map((op) => [op, opWords(op).plan, ops.get(op) ?? 0])}
                    on={on}
                    onChange={(next) => go(withParams({ ops: [...next].join(",") }))}
                />
                <span class="dim" role="status">
                    {whole(shown.length)} of {count(rows.length, "step")}
                </span>
            </div>
            {note && <p class="note-line">{note}</p>}
            <PickList
                role="tree"
                label="Steps"
                count={lines.length}
                size={size}
                selected={place < 0 ? undefined : place}
                onPick={(index, how) => pick(String(lines[index]?.index), how)}
                onKey={onKey}
                aria={(index) => {
                    const line = lines[index] as StepLine;
                    return {
                        "aria-level": line.part ? 2 : 1,
                        ...(line.part || line.row.parts.length < 2
                            ? {}
                            : { "aria-expanded": lines[index + 1]?.part === true }),
                    };
                }}
                row={(index) => {
                    const line = lines[index] as StepLine;
                    return line.part ? (
                        <PartLine catalog={catalog} step={steps[line.index] as Step} />
                    ) : (
                        <RowLine
                            catalog={catalog}
                            steps={steps}
                            row={line.row}
                            below={below[index] ?? []}
                            open={lines[index + 1]?.part === true}
                            onFold={fold}
                        />
                    );
                }}
                empty="No step is like that."
            />
        </>
    );
}

/** The error of a step that failed and its properties; the last line says how many properties are left out. */
function linesBelow(catalog: Catalog, steps: Step[], { row, part }: StepLine): Below[] {
    if (part) return [];
    const failed = row.failed && telling(steps, row);
    const error = failed ? failureLine(catalog, failed) : "";
    const errors: Below[] = error ? [{ error }] : [];
    const changes = changing(steps, row)?.changes ?? [];
    if (changes.length <= MAX_LINES) return [...errors, ...changes];
    const left = changes.length - MAX_LINES + 1;
    return [...errors, ...changes.slice(0, MAX_LINES - 1), `and ${left} more properties`];
}

const SIGNS = { add: "+", delete: "−", update: "~" };

/** An operation in the words for how it stands. */
function words(catalog: Catalog, step: Step): string {
    const all = opWords(step.op);
    if (step.status === "failed") return all.failed;
    if (step.status === "running") return all.doing;
    return catalog.data.run?.dryRun ? all.plan : all.done;
}

function RowLine(props: {
    catalog: Catalog;
    steps: Step[];
    row: StepRow;
    below: Below[];
    open: boolean;
    onFold: (row: StepRow, open: boolean) => void;
}): JSX.Element {
    const { catalog, steps, row, open, onFold } = props;
    const step = steps[row.main] as Step;
    const told = telling(steps, row) ?? step;
    const resource = catalog.resource(step.resource);
    const several = row.parts.length > 1;
    return (
        <div class="step-line">
            <div class="line">
                {/* For the mouse: the keyboard has its arrows. */}
                <span
                    class="fold"
                    aria-hidden="true"
                    onClick={(event) => {
                        if (!several) return;
                        event.stopPropagation();
                        onFold(row, !open);
                    }}
                >
                    {several ? (open ? "▾" : "▸") : ""}
                </span>
                <OpSign op={step.op} failed={row.failed} />
                {resource && <NameAndType resource={resource} />}
                <span class={`op tone-${row.failed ? "failed" : opWords(step.op).tone}`}>{words(catalog, told)}</span>
                {(step.because || step.keys) && <span class="dim reason cut">{reason(catalog, step, row.main)}</span>}
            </div>
            {props.below.map((line, place) => (
                <LineBelow key={place} line={line} />
            ))}
        </div>
    );
}

/** One of the steps of a replacement. */
function PartLine({ catalog, step }: { catalog: Catalog; step: Step }): JSX.Element {
    const failed = step.status === "failed";
    return (
        <div class="step-line part">
            <div class="line">
                <OpSign op={step.op} failed={failed} />
                <span class={`op tone-${failed ? "failed" : opWords(step.op).tone}`}>{words(catalog, step)}</span>
            </div>
        </div>
    );
}

function LineBelow({ line }: { line: Below }): JSX.Element {
    if (typeof line === "string") return <div class="change dim">{line}</div>;
    if ("error" in line) return <div class="change cut tone-failed">{line.error}</div>;
    return (
        <div class="change cut">
            <span class={`mark kind-${line.kind}`} aria-hidden="true">
                {SIGNS[line.kind]}
            </span>
            <span class="path">{line.path}</span>
            {line.replace && <span class="dim"> replaces</span>}
            <span class="values">
                {line.kind !== "add" && <span class="old">{brief(line.old)}</span>}
                {line.kind === "update" && <span class="dim"> → </span>}
                {line.kind !== "delete" && <span class="new">{brief(line.new)}</span>}
            </span>
        </div>
    );
}

function reason(catalog: Catalog, step: Step, index: number): string {
    if (!step.because) return step.keys?.length ? `because of ${step.keys.join(", ")}` : "";
    const root = chain(catalog, step, index)[0];
    const near = `because of ${catalog.nameOf(step.because.resource)}`;
    return root && root.resource !== step.because.resource
        ? `${near}, at the root ${catalog.nameOf(root.resource)}`
        : near;
}
