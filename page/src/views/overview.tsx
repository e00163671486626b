// The whole in one look: what happened, what went wrong, where the time went.

import type { JSX } from "preact";
import { elapsed, goesOn } from "../app.ts";
import type { Activity, Diagnostic, PageData, Run } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { planAgainstResult, whyItDiffers } from "../model/plan.ts";
import { byWeight, count, duration, moment, offset, opWords, runName, ticking, typeOf, whole } from "../model/words.ts";
import { OpBadge, ResourceLink, Sentence } from "../parts/badges.tsx";
import { CallError, Unresolved } from "../parts/failure.tsx";
import { Section } from "../parts/layout.tsx";
import { PropertyTable } from "../parts/value.tsx";
import { address } from "../route.ts";

export function Overview({ catalog }: { catalog: Catalog }): JSX.Element {
    const { data } = catalog;
    const { run } = data;
    return (
        <div class="page overview">
            <h2 class="hidden">Overview</h2>
            <Facts data={data} />
            {run && <Counts run={run} />}
            {run?.outcome === "unfinished" && <Running catalog={catalog} run={run} />}
            {run && <Errors catalog={catalog} run={run} />}
            {data.unresolvedCreates.length > 0 && (
                <section class="block bad">
                    <h3>{count(data.unresolvedCreates.length, "unresolved create")}</h3>
                    <p>It is unknown whether these creates made something. The next run finds out, or asks.</p>
                    {data.unresolvedCreates.map((create) => (
                        <Unresolved key={create.urn} create={create} catalog={catalog} />
                    ))}
                </section>
            )}
            {run && <Time catalog={catalog} run={run} />}
            {run && <Warnings catalog={catalog} run={run} />}
            {run?.plan && <PlanNote catalog={catalog} />}
            {Object.keys(data.outputs).length > 0 && (
                <Section title="Outputs of the stack">
                    <PropertyTable properties={data.outputs} catalog={catalog} none="" />
                </Section>
            )}
        </div>
    );
}

function Facts({ data }: { data: PageData }): JSX.Element {
    const { run } = data;
    const alive = data.resources.filter((resource) => !resource.gone).length;
    const rows: [string, string][] = [
        ["Project", data.project],
        ["Stack", data.stack],
        ["Resources", whole(alive)],
    ];
    if (data.secretsProvider) rows.push(["Secrets provider", data.secretsProvider]);
    if (run) {
        rows.push(["Operation", runName(run.kind, run.dryRun)]);
        rows.push(["Began", moment(run.began)]);
        if (goesOn(run)) rows.push(["Running for", ticking(elapsed(run))]);
        else rows.push([run.outcome === "unfinished" ? "Known until" : "Duration", duration(run.duration)]);
        if (run.message) rows.push(["Message", run.message]);
    }
    if (!run || !goesOn(run)) rows.push(["Page written", `${moment(data.written)} by maloko ${data.maloko}`]);
    return (
        <dl class="facts">
            {rows.map(([name, value]) => (
                <div key={name}>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                </div>
            ))}
        </dl>
    );
}

function Counts({ run }: { run: Run }): JSX.Element {
    const ops = Object.keys(run.changes)
        .filter((op) => (run.changes[op] ?? 0) > 0)
        .sort(byWeight);
    if (ops.length === 0) return <p class="counts">No resource was changed.</p>;
    return (
        <ul class="counts" aria-label="Resources by operation">
            {ops.map((op) => (
                <li key={op}>
                    <a href={address("resources", undefined, { ops: op })} class={`count tone-${opWords(op).tone}`}>
                        <b>{whole(run.changes[op] ?? 0)}</b> {run.dryRun ? opWords(op).plan : opWords(op).done}
                    </a>
                </li>
            ))}
        </ul>
    );
}

/** What was under way when the data were written. */
function Running({ catalog, run }: { catalog: Catalog; run: Run }): JSX.Element | null {
    const open = run.activities.flatMap((activity, index) =>
        activity.duration === undefined ? [{ activity, index }] : [],
    );
    if (open.length === 0) return null;
    const live = goesOn(run);
    return (
        <section class={live ? "block" : "block bad"}>
            <h3>{live ? "Running now" : "Running when it was cut off"}</h3>
            {!live && <p>The outcome of these is unknown.</p>}
            <ul class="plain">
                {open.slice(0, MAX_ERRORS).map(({ activity, index }) => (
                    <li key={index}>
                        <a href={address("run", String(index))}>{activity.name}</a>
                        {activity.resource !== undefined && (
                            <>
                                {" of "}
                                <ResourceLink catalog={catalog} index={activity.resource} type />
                            </>
                        )}{" "}
                        <span class="dim">since {offset(activity.began)}</span>
                    </li>
                ))}
                {open.length > MAX_ERRORS && <li class="dim">and {whole(open.length - MAX_ERRORS)} more</li>}
            </ul>
        </section>
    );
}

/** More errors than these are in the log alone. */
const MAX_ERRORS = 20;

function Errors({ catalog, run }: { catalog: Catalog; run: Run }): JSX.Element | null {
    const calls = run.activities
        .map((activity, index) => ({ activity, index }))
        .filter(({ activity }) => activity.outcome === "failed" || activity.outcome === "unknown");
    const last = lastAttempts(run);
    // What was tried again later is told by the last attempt.
    const final = calls.filter(
        ({ activity: { kind, resource, name, attempt } }) =>
            kind !== "call" || (attempt ?? 1) >= (last.get(`${resource} ${name}`) ?? 1),
    );
    const told = new Set(final.map(({ activity }) => activity.resource));
    const messages = run.diagnostics.filter(
        (one) => one.severity === "error" && (one.resource === undefined || !told.has(one.resource)),
    );
    const failedSteps = run.steps.filter((step) => step.status === "failed").length;
    const many = Math.max(final.length + messages.length, failedSteps);
    if (many === 0) return null;
    return (
        <section class="block bad">
            <h3>{count(many, "error")}</h3>
            {final.slice(0, MAX_ERRORS).map(({ activity, index }) => (
                <article key={index}>
                    <h4>
                        {activity.resource === undefined ? (
                            activity.name
                        ) : (
                            <>
                                <ResourceLink catalog={catalog} index={activity.resource} type />{" "}
                                <span>{failedWords(activity)}</span>
                            </>
                        )}
                        <a class="aside" href={address("run", String(index))}>
                            Show in the run
                        </a>
                    </h4>
                    <CallError activity={activity} />
                </article>
            ))}
            {messages.slice(0, MAX_ERRORS).map((one, index) => (
                <Message key={index} catalog={catalog} diagnostic={one} />
            ))}
            {many > MAX_ERRORS && <a href={address("log", undefined, { severity: "error" })}>All errors in the log</a>}
        </section>
    );
}

function failedWords(activity: Activity): string {
    const attempt = activity.attempt ? `, attempt ${activity.attempt}` : "";
    return activity.outcome === "unknown"
        ? `${activity.name}: outcome unknown${attempt}`
        : `${activity.name} failed${attempt}`;
}

/** The last attempt at each call, by resource and method. */
function lastAttempts(run: Run): Map<string, number> {
    const last = new Map<string, number>();
    for (const one of run.activities) {
        if (one.kind !== "call") continue;
        const key = `${one.resource} ${one.name}`;
        last.set(key, Math.max(last.get(key) ?? 1, one.attempt ?? 1));
    }
    return last;
}

function Message({ catalog, diagnostic }: { catalog: Catalog; diagnostic: Diagnostic }): JSX.Element {
    return (
        <article>
            {diagnostic.resource !== undefined && (
                <h4>
                    <ResourceLink catalog={catalog} index={diagnostic.resource} type />
                </h4>
            )}
            <p class="message">{diagnostic.message}</p>
        </article>
    );
}

function Warnings({ catalog, run }: { catalog: Catalog; run: Run }): JSX.Element | null {
    const warnings = run.diagnostics.filter((one) => one.severity === "warning");
    if (warnings.length === 0) return null;
    return (
        <section class="block warn">
            <h3>{count(warnings.length, "warning")}</h3>
            {warnings.slice(0, MAX_ERRORS).map((one, index) => (
                <Message key={index} catalog={catalog} diagnostic={one} />
            ))}
            {warnings.length > MAX_ERRORS && (
                <a href={address("log", undefined, { severity: "warning" })}>All warnings in the log</a>
            )}
        </section>
    );
}

/** What the duration is made of: the longest calls of the critical path, and a bar of the whole path. */
function Time({ catalog, run }: { catalog: Catalog; run: Run }): JSX.Element | null {
    const path = run.criticalPath.map((item, place) => ({ item, place }));
    const calls = path.filter(
        ({ item }) => item.activity !== undefined && run.activities[item.activity]?.kind === "call",
    );
    if (path.length === 0) return null;
    const longest = [...path].sort((a, b) => b.item.duration - a.item.duration).slice(0, 8);
    const total = Math.max(run.duration, 1);
    const share = (ms: number) => `${Math.round((ms / total) * 100)} %`;
    return (
        <section class="block">
            <h3>Where the time went</h3>
            <p>
                This run took <strong>{duration(run.duration)}</strong>
                {calls.length > 0 && (
                    <>
                        ; {calls.length === 1 ? "this call is" : `${count(calls.length, "call")} are`} on its path,
                        together {duration(calls.reduce((sum, { item }) => sum + item.duration, 0))}
                    </>
                )}
                . <a href={address("run")}>Show the timeline</a>
            </p>
            <div class="path-bar" aria-hidden="true">
                {path.map(({ item, place }) => (
                    <span
                        key={place}
                        class={`part kind-${item.activity === undefined ? "program" : run.activities[item.activity]?.kind}`}
                        style={`left: ${(item.began / total) * 100}%; width: ${(item.duration / total) * 100}%`}
                        title={`${item.text}: ${duration(item.duration)}`}
                    />
                ))}
            </div>
            <table class="path-table">
                <thead>
                    <tr>
                        <th scope="col">On the critical path, longest first</th>
                        <th scope="col" class="number">
                            Duration
                        </th>
                        <th scope="col" class="number">
                            Share
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {longest.map(({ item, place }) => {
                        const resource =
                            item.activity === undefined ? undefined : run.activities[item.activity]?.resource;
                        return (
                            <tr key={place}>
                                <td>
                                    {item.activity === undefined ? (
                                        item.text
                                    ) : (
                                        <a href={address("run", String(item.activity))}>{item.text}</a>
                                    )}
                                    {resource !== undefined && (
                                        <span class="dim type"> {typeOf(catalog.resource(resource))}</span>
                                    )}
                                </td>
                                <td class="number">{duration(item.duration)}</td>
                                <td class="number">{share(item.duration)}</td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
            {longest.length < path.length && (
                <p class="dim">and {count(path.length - longest.length, "shorter part")}.</p>
            )}
        </section>
    );
}

function PlanNote({ catalog }: { catalog: Catalog }): JSX.Element {
    const { run } = catalog.data;
    const going = run !== undefined && goesOn(run);
    const differs = planAgainstResult(catalog, going).filter((row) => row.differs);
    return (
        <section class={differs.length > 0 ? "block warn" : "block"}>
            <h3>Plan and result</h3>
            {differs.length === 0 ? (
                <p>What was planned is what was done{going && " so far"}.</p>
            ) : (
                <>
                    <p>
                        {count(differs.length, "resource")} {differs.length === 1 ? "differs" : "differ"} from the plan.{" "}
                        <a href={address("changes", undefined, { show: "plan" })}>Compare</a>
                    </p>
                    <ul class="plain">
                        {differs.slice(0, 8).map((row) => (
                            <li key={row.resource}>
                                <ResourceLink catalog={catalog} index={row.resource} type />: planned{" "}
                                <OpBadge op={row.planned ?? "same"} tense="plan" />,{" "}
                                {row.done ? (
                                    <OpBadge op={row.done} tense={row.failed ? "failed" : "done"} />
                                ) : (
                                    "not done"
                                )}
                                . <Sentence catalog={catalog} parts={whyItDiffers(catalog, row)} />
                            </li>
                        ))}
                    </ul>
                </>
            )}
        </section>
    );
}
