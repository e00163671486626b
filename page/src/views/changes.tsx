// What the run did, property by property; the plan beside it; two states side by side.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Change, Step } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { chain, planAgainstResult, repeats } from "../model/causes.ts";
import { byWeight, count, duration, family, offset, opWords, whole } from "../model/words.ts";
import { NameAndType, OpBadge, OpSign, ResourceLink } from "../parts/badges.tsx";
import { ChangeTable, Why } from "../parts/changes.tsx";
import { Split, Tabs, Toggles } from "../parts/layout.tsx";
import { PickList } from "../parts/pick-list.tsx";
import { brief } from "../parts/value.tsx";
import { address, adjust, go, route, withParams } from "../route.ts";
import { wide } from "./resources.tsx";

const HEAD = 28;
const LINE = 20;
/** So many properties are in the list; the details have all. */
const MOST_LINES = 6;

type Show = "run" | "plan" | "states";

export function Changes({ catalog }: { catalog: Catalog }): JSX.Element {
    const { run, comparison } = catalog.data;
    const { params } = route.value;
    const tabs: [Show, string][] = [];
    if (run) tabs.push(["run", run.dryRun ? "What would change" : "This run"]);
    if (run?.plan) tabs.push(["plan", "Plan and result"]);
    if (comparison) tabs.push(["states", "Two states"]);
    const first = tabs[0]?.[0];
    if (!first) return <p class="empty">This page is of the stack alone: no changes are in it.</p>;
    const show = tabs.find(([name]) => name === params.show)?.[0] ?? first;
    const steps = show === "states" ? (comparison?.steps ?? []) : (run?.steps ?? []);
    const { item } = route.value;
    const selected = show !== "plan" && item !== undefined && steps[Number(item)] ? Number(item) : undefined;
    const body = (
        <Tabs
            label="Which changes"
            tabs={tabs}
            chosen={show}
            onChoose={(name) => go({ view: "changes", params: name === first ? {} : { show: name } })}
        >
            {show === "plan" ? (
                <Plan catalog={catalog} />
            ) : (
                <StepList
                    catalog={catalog}
                    steps={steps}
                    selected={selected}
                    note={show === "states" && comparison ? `${comparison.from} → ${comparison.to}` : undefined}
                />
            )}
        </Tabs>
    );
    if (show === "plan") return body;
    return (
        <Split
            label="Details of the step"
            back={selected === undefined ? undefined : address("changes", undefined, params)}
            list={body}
            detail={
                selected === undefined ? (
                    <p class="empty">Choose a step to see what it changed, and why.</p>
                ) : (
                    <StepDetail
                        catalog={catalog}
                        step={steps[selected] as Step}
                        index={selected}
                        ofRun={show === "run"}
                    />
                )
            }
        />
    );
}

function StepList(props: {
    catalog: Catalog;
    steps: Step[];
    selected: number | undefined;
    note: string | undefined;
}): JSX.Element {
    const { catalog, steps, selected, note } = props;
    const { params } = route.value;
    const ops = useMemo(() => {
        const counts = new Map<string, number>();
        for (const { op } of steps) counts.set(op, (counts.get(op) ?? 0) + 1);
        return counts;
    }, [catalog, steps]);
    const on = new Set((params.ops ?? "").split(",").filter(Boolean));
    const text = (params.q ?? "").toLowerCase();
    // Unless they are asked for, steps that changed nothing are left out.
    const shown = useMemo(
        () =>
            steps
                .map((_, index) => index)
                .filter((index) => {
                    const step = steps[index] as Step;
                    if (text && !catalog.texts[step.resource]?.includes(text)) return false;
                    return on.size > 0
                        ? on.has(step.op)
                        : step.op !== "same" || step.status === "failed" || index === selected;
                }),
        [catalog, steps, params.ops, text, selected],
    );
    const again = useMemo(() => repeats(steps), [catalog, steps]);
    const linesOf = (index: number) => (again.has(index) ? [] : lines(steps[index]));
    const size = useMemo(() => (at: number) => HEAD + linesOf(shown[at] as number).length * LINE, [shown, again]);
    const names = [...ops.keys()].sort(byWeight);
    return (
        <>
            <div class="bar">
                <input
                    type="search"
                    data-search
                    aria-label="Search the resources of the steps"
                    placeholder="Search name, type, URN  ( / )"
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
                    {whole(shown.length)} of {count(steps.length, "step")}
                </span>
            </div>
            {note && <p class="note-line">{note}</p>}
            <PickList
                role="listbox"
                label="Steps"
                count={shown.length}
                size={size}
                selected={selected === undefined ? undefined : shown.indexOf(selected)}
                onPick={(at, how) => {
                    const next = { ...route.value, item: String(shown[at]) };
                    if (how === "open") go(next);
                    else if (wide()) adjust(next);
                }}
                row={(at) => (
                    <StepLine
                        catalog={catalog}
                        steps={steps}
                        index={shown[at] as number}
                        lines={linesOf(shown[at] as number)}
                    />
                )}
                empty="No step is like that."
            />
        </>
    );
}

/** The properties of a step that are in the list; the last one says how many are not. */
function lines(step: Step | undefined): (Change | string)[] {
    const changes = step?.changes ?? [];
    if (changes.length <= MOST_LINES) return changes;
    return [...changes.slice(0, MOST_LINES - 1), `and ${changes.length - MOST_LINES + 1} more properties`];
}

const SIGNS = { add: "+", delete: "−", update: "~" };

function StepLine(props: { catalog: Catalog; steps: Step[]; index: number; lines: (Change | string)[] }): JSX.Element {
    const { catalog, steps, index } = props;
    const step = steps[index] as Step;
    const resource = catalog.resource(step.resource);
    const failed = step.status === "failed";
    const words = opWords(step.op);
    return (
        <div class="step-line">
            <div class="line">
                <OpSign op={step.op} failed={failed} />
                {resource && <NameAndType resource={resource} />}
                <span class={`op tone-${failed ? "failed" : words.tone}`}>
                    {failed
                        ? words.failed
                        : step.status === "running"
                          ? words.doing
                          : catalog.data.run?.dryRun
                            ? words.plan
                            : words.done}
                </span>
                {(step.because || step.keys) && <span class="dim reason cut">{reason(catalog, step, index)}</span>}
            </div>
            {props.lines.map((change, place) =>
                typeof change === "string" ? (
                    <div key={place} class="change dim">
                        {change}
                    </div>
                ) : (
                    <div key={place} class="change cut">
                        <span class={`mark kind-${change.kind}`} aria-hidden="true">
                            {SIGNS[change.kind]}
                        </span>
                        <span class="path">{change.path}</span>
                        {change.replace && <span class="dim"> replaces</span>}
                        <span class="values">
                            {change.kind !== "add" && <span class="old">{brief(change.old)}</span>}
                            {change.kind === "update" && <span class="dim"> → </span>}
                            {change.kind !== "delete" && <span class="new">{brief(change.new)}</span>}
                        </span>
                    </div>
                ),
            )}
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

function StepDetail(props: { catalog: Catalog; step: Step; index: number; ofRun: boolean }): JSX.Element {
    const { catalog, step, index, ofRun } = props;
    const dryRun = catalog.data.run?.dryRun;
    const tense = step.status === "failed" ? "failed" : step.status === "running" ? "doing" : dryRun ? "plan" : "done";
    const planned = ofRun ? planAgainstResult(catalog).find((row) => row.resource === step.resource) : undefined;
    return (
        <div class="detail" key={index}>
            <h2>
                <ResourceLink catalog={catalog} index={step.resource} type />
            </h2>
            <p class="badges">
                <OpBadge op={step.op} tense={tense} />
                {step.note && <span class="badge tone-same">{step.note}</span>}
                {ofRun && (
                    <span class="dim">
                        {offset(step.began)}
                        {step.ended !== undefined && `, ${duration(step.ended - step.began)}`}
                    </span>
                )}
            </p>
            {planned && catalog.data.run?.plan && (
                <p class={planned.differs ? "differs" : "dim"}>
                    {planned.differs ? "Differs from the plan: planned " : "As planned: "}
                    {opWords(planned.planned ?? "same").plan}.
                </p>
            )}
            {ofRun && <Why catalog={catalog} step={step} index={index} />}
            {step.keys && step.keys.length > 0 && (
                <p>
                    Replacement keys: <code>{step.keys.join(", ")}</code>
                </p>
            )}
            {step.changes && step.changes.length > 0 ? (
                <ChangeTable changes={step.changes} catalog={catalog} />
            ) : (
                <p class="dim">No property differs.</p>
            )}
            {ofRun && family(step.op) === "replace" && <OtherSteps catalog={catalog} step={step} index={index} />}
            {ofRun && <Calls catalog={catalog} step={step} />}
        </div>
    );
}

function OtherSteps({ catalog, step, index }: { catalog: Catalog; step: Step; index: number }): JSX.Element | null {
    const others = (catalog.fate(step.resource)?.steps ?? []).filter((at) => at !== index);
    if (others.length === 0) return null;
    return (
        <>
            <h3>Other steps of this replacement</h3>
            <ul class="plain">
                {others.map((at) => (
                    <li key={at}>
                        <a href={address("changes", String(at))}>
                            {opWords(catalog.data.run?.steps[at]?.op ?? "").plan}
                        </a>
                    </li>
                ))}
            </ul>
        </>
    );
}

function Calls({ catalog, step }: { catalog: Catalog; step: Step }): JSX.Element | null {
    const { run } = catalog.data;
    const ended = step.ended ?? Number.POSITIVE_INFINITY;
    const calls = catalog.activitiesOf(step.resource).filter((at) => {
        const one = run?.activities[at];
        return one && one.began >= step.began - 1 && one.began <= ended;
    });
    if (!run || calls.length === 0) return null;
    return (
        <>
            <h3>Calls and waiting</h3>
            <ul class="plain">
                {calls.slice(0, 50).map((at) => {
                    const one = run.activities[at];
                    return (
                        <li key={at}>
                            <a href={address("run", String(at))}>{one?.name}</a>{" "}
                            <span class="dim">
                                {one?.duration === undefined ? "running" : duration(one.duration)}
                                {one?.attempt && `, attempt ${one.attempt}`}
                                {one?.outcome && one.outcome !== "ok" && `, ${one.outcome}`}
                            </span>
                        </li>
                    );
                })}
            </ul>
        </>
    );
}

/** More rows than these are not listed: those that differ come first. */
const MOST_ROWS = 500;

function Plan({ catalog }: { catalog: Catalog }): JSX.Element {
    const rows = useMemo(() => planAgainstResult(catalog), [catalog]);
    const differs = rows.filter((row) => row.differs).length;
    return (
        <div class="plan">
            <p>
                {differs === 0
                    ? "What was planned is what was done."
                    : `${count(differs, "resource")} ${differs === 1 ? "differs" : "differ"} from the plan, and ${differs === 1 ? "comes" : "come"} first.`}
            </p>
            <table>
                <thead>
                    <tr>
                        <th scope="col">Resource</th>
                        <th scope="col">Planned</th>
                        <th scope="col">Done</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, MOST_ROWS).map((row) => (
                        <tr key={row.resource} class={row.differs ? "differs" : undefined}>
                            <th scope="row">
                                {row.differs && <span class="badge tone-failed">differs</span>}{" "}
                                <ResourceLink catalog={catalog} index={row.resource} type />
                            </th>
                            <td>
                                {row.planned ? (
                                    <OpBadge op={row.planned} tense="plan" />
                                ) : (
                                    <span class="dim">nothing</span>
                                )}
                            </td>
                            <td>
                                {row.done ? (
                                    <OpBadge
                                        op={row.done}
                                        tense={row.failed ? "failed" : row.running ? "doing" : "done"}
                                    />
                                ) : (
                                    <span class="dim">not done</span>
                                )}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {rows.length > MOST_ROWS && <p class="dim">and {whole(rows.length - MOST_ROWS)} more</p>}
        </div>
    );
}
