// One run: the timeline, the table that says the same, and the details of a call.

import type { JSX } from "preact";
import type { Run } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { activityWords, duration, offset, opWords } from "../model/words.ts";
import { ResourceLink } from "../parts/badges.tsx";
import { CallError } from "../parts/failure.tsx";
import { Split, Tabs } from "../parts/layout.tsx";
import { address, go, pick, route, withParams } from "../route.ts";
import { CallTable } from "./call-table.tsx";
import { activityName, Timeline } from "./timeline.tsx";

export function RunView({ catalog }: { catalog: Catalog }): JSX.Element {
    const { run } = catalog.data;
    if (!run) return <p class="empty">This page is of the stack alone: no run is in it.</p>;
    if (run.activities.length === 0) return <p class="empty">This run has no calls.</p>;
    const { item, params } = route.value;
    const selected = item !== undefined && run.activities[Number(item)] ? Number(item) : undefined;
    const view = params.show === "table" ? "table" : "timeline";
    const choose = (activity: number, how: "move" | "open") => pick(String(activity), how);
    return (
        <Split
            label="Details of the call"
            back={selected === undefined ? undefined : address("run", undefined, params)}
            list={
                <Tabs
                    label="How the run is shown"
                    tabs={[
                        ["timeline", "Timeline"],
                        ["table", "Table"],
                    ]}
                    chosen={view}
                    onChoose={(name) => go(withParams({ show: name === "timeline" ? "" : name }))}
                >
                    {view === "timeline" ? (
                        <Timeline catalog={catalog} run={run} selected={selected} onPick={choose} />
                    ) : (
                        <CallTable catalog={catalog} run={run} selected={selected} />
                    )}
                </Tabs>
            }
            detail={
                selected === undefined ? (
                    <PathDetail catalog={catalog} run={run} />
                ) : (
                    <CallDetail catalog={catalog} run={run} index={selected} />
                )
            }
        />
    );
}

const KINDS = {
    call: "Provider call",
    permit: "Waiting for a permit",
    disk: "Waiting for the disk",
    dependency: "Waiting for what has to be done before",
    pause: "Waiting before another attempt",
    hook: "Hook",
    plugin: "Plugin",
};

function CallDetail({ catalog, run, index }: { catalog: Catalog; run: Run; index: number }): JSX.Element | null {
    const activity = run.activities[index];
    if (!activity) return null;
    const ended = activity.began + (activity.duration ?? Number.POSITIVE_INFINITY);
    const onPath = run.criticalPath.some((item) => item.activity === index);
    const others =
        activity.resource === undefined ? [] : catalog.activitiesOf(activity.resource).filter((at) => at !== index);
    const messages =
        activity.resource === undefined
            ? []
            : catalog
                  .diagnosticsOf(activity.resource)
                  .map((at) => run.diagnostics[at])
                  // A message may be noted just after its call has ended.
                  .filter((one) => one && one.at >= activity.began && one.at <= ended + 50);
    const rows: [string, JSX.Element | string][] = [["Kind", KINDS[activity.kind]]];
    if (activity.resource !== undefined)
        rows.push(["Resource", <ResourceLink catalog={catalog} index={activity.resource} type />]);
    rows.push(["Began", offset(activity.began)]);
    rows.push(["Duration", activity.duration === undefined ? "it has not ended" : duration(activity.duration)]);
    if (activity.attempt) rows.push(["Attempt", String(activity.attempt)]);
    if (activity.outcome) rows.push(["Outcome", OUTCOMES[activity.outcome]]);
    if (onPath) rows.push(["Critical path", "This is a part of what the run's duration is made of."]);
    return (
        <div class="detail" key={index}>
            <h2>{activityName(catalog, run, index)}</h2>
            <dl class="identity">
                {rows.map(([name, value]) => (
                    <div key={name}>
                        <dt>{name}</dt>
                        <dd>{value}</dd>
                    </div>
                ))}
            </dl>
            <CallError activity={activity} open />
            {messages.length > 0 && <h3>Messages</h3>}
            {messages.map(
                (one, place) =>
                    one && (
                        <p key={place} class={`message severity-${one.severity}`}>
                            <span class="dim">{offset(one.at)}</span> {one.message}
                        </p>
                    ),
            )}
            {others.length > 0 && (
                <>
                    <h3>Other calls and waiting of this resource</h3>
                    <ul class="plain">
                        {others.slice(0, 50).map((at) => {
                            const other = run.activities[at];
                            return (
                                <li key={at}>
                                    <a href={address("run", String(at), route.value.params)}>
                                        {other && activityWords(other)}
                                    </a>{" "}
                                    <span class="dim">
                                        {offset(other?.began ?? 0)}
                                        {other?.duration !== undefined && `, ${duration(other.duration)}`}
                                        {other?.attempt && `, attempt ${other.attempt}`}
                                        {other?.outcome && other.outcome !== "ok" && `, ${other.outcome}`}
                                    </span>
                                </li>
                            );
                        })}
                    </ul>
                </>
            )}
            {activity.resource !== undefined && <Steps catalog={catalog} run={run} resource={activity.resource} />}
        </div>
    );
}

const OUTCOMES = { ok: "ok", failed: "failed", unknown: "unknown: it was given up or cut off" };

function Steps({ catalog, run, resource }: { catalog: Catalog; run: Run; resource: number }): JSX.Element | null {
    const steps = catalog.fate(resource)?.steps ?? [];
    if (steps.length === 0) return null;
    return (
        <>
            <h3>Steps</h3>
            <ul class="plain">
                {steps.map((at) => {
                    const step = run.steps[at];
                    return (
                        <li key={at}>
                            <a href={address("changes", String(at))}>{opWords(step?.op ?? "").plan}</a>{" "}
                            <span class="dim">{step?.status}</span>
                        </li>
                    );
                })}
            </ul>
        </>
    );
}

/** Without a chosen call: the critical path, first to last. */
function PathDetail({ catalog, run }: { catalog: Catalog; run: Run }): JSX.Element {
    if (run.criticalPath.length === 0) return <p class="empty">Choose a call to see its details.</p>;
    return (
        <div class="detail">
            <h2>Critical path</h2>
            <p class="dim">What the duration of {duration(run.duration)} is made of, first to last.</p>
            <ol class="plain path-list">
                {run.criticalPath.slice(0, 200).map((item, place) => {
                    const activity = item.activity === undefined ? undefined : run.activities[item.activity];
                    return (
                        <li key={place}>
                            <span
                                class={`swatch kind-${activity?.kind === "call" ? "critical" : (activity?.kind ?? "program")}`}
                                aria-hidden="true"
                            />
                            {item.activity === undefined ? (
                                <span>{item.text}</span>
                            ) : (
                                <a
                                    href={address("run", String(item.activity), route.value.params)}
                                    title={activityName(catalog, run, item.activity)}
                                >
                                    {item.text}
                                </a>
                            )}
                            <span class="number">{duration(item.duration)}</span>
                        </li>
                    );
                })}
            </ol>
        </div>
    );
}
