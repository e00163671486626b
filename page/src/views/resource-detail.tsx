// Everything about one resource.

import type { ComponentChildren, JSX } from "preact";
import type { Resource } from "../data.ts";
import type { Catalog, Edge } from "../model/catalog.ts";
import { repeats } from "../model/causes.ts";
import { statesOf } from "../model/filter.ts";
import { mainStep } from "../model/step-rows.ts";
import { activityWords, count, duration, moment, offset, opWords, typeOf } from "../model/words.ts";
import { OpBadge, ResourceLink, StateBadge } from "../parts/badges.tsx";
import { ChangeTable, Why } from "../parts/changes.tsx";
import { CallError, Unresolved } from "../parts/failure.tsx";
import { Section } from "../parts/layout.tsx";
import { PropertyTable } from "../parts/value.tsx";
import { address } from "../route.ts";

/** Longer lists of links are cut off. */
const MAX_LINKS = 100;

export function ResourceDetail({ catalog, index }: { catalog: Catalog; index: number }): JSX.Element {
    const resource = catalog.resource(index) as Resource;
    const unresolved = catalog.data.unresolvedCreates.filter((create) => create.urn === resource.urn);
    return (
        <div class="detail" key={index}>
            <h2>
                {resource.name} <span class="dim type">{typeOf(resource)}</span>
            </h2>
            <p class="badges">
                {statesOf(catalog, index).map((state) => (
                    <StateBadge key={state} state={state} />
                ))}
            </p>
            {unresolved.map((create) => (
                <section class="block bad" key={create.urn}>
                    <h3>Unresolved create</h3>
                    <Unresolved create={create} catalog={catalog} />
                </section>
            ))}
            {resource.initErrors?.map((error) => (
                <p class="failure message" key={error}>
                    {error}
                </p>
            ))}
            <Identity catalog={catalog} resource={resource} index={index} />
            <InThisRun catalog={catalog} index={index} />
            <Section title="Inputs">
                <PropertyTable properties={resource.inputs} catalog={catalog} none="No inputs." />
            </Section>
            <Section title="Outputs">
                <PropertyTable properties={resource.outputs} catalog={catalog} none="No outputs." />
            </Section>
            <Links catalog={catalog} index={index} />
            <History catalog={catalog} resource={resource} index={index} />
        </div>
    );
}

function Identity(props: { catalog: Catalog; resource: Resource; index: number }): JSX.Element {
    const { catalog, resource, index } = props;
    const parent = catalog.parentOf(index);
    const rows: [string, ComponentChildren][] = [
        ["URN", <span class="urn">{resource.urn}</span>],
        ["Type", <span class="urn">{resource.type}</span>],
    ];
    if (resource.id !== undefined) rows.push(["ID", <span class="urn">{resource.id}</span>]);
    if (parent !== undefined) rows.push(["Parent", <ResourceLink catalog={catalog} index={parent} type />]);
    if (resource.providerClass) rows.push(["Provider class", <code>{resource.providerClass}</code>]);
    if (resource.provider !== undefined)
        rows.push(["Provider resource", <ResourceLink catalog={catalog} index={resource.provider} type />]);
    if (resource.source) rows.push(["Made at", <code>{resource.source}</code>]);
    if (resource.created) rows.push(["Created", moment(resource.created)]);
    if (resource.modified) rows.push(["Modified", moment(resource.modified)]);
    for (const [name, value] of resource.options ?? []) rows.push([name, <code>{value}</code>]);
    return (
        <dl class="identity">
            {rows.map(([name, value], place) => (
                <div key={place}>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                </div>
            ))}
        </dl>
    );
}

function InThisRun({ catalog, index }: { catalog: Catalog; index: number }): JSX.Element | null {
    const { run } = catalog.data;
    const fate = catalog.fate(index);
    if (!run) return null;
    if (!fate) return <Section title="In this run">Nothing was done to it.</Section>;
    const activities = catalog.activitiesOf(index);
    const own = fate.steps.flatMap((at) => run.steps[at] ?? []);
    const again = repeats(own);
    const messages = catalog.diagnosticsOf(index);
    return (
        <Section title="In this run">
            {fate.steps.map((at, place) => {
                const step = run.steps[at];
                if (!step) return null;
                const tense =
                    step.status === "failed"
                        ? "failed"
                        : step.status === "running"
                          ? "doing"
                          : run.dryRun
                            ? "plan"
                            : "done";
                return (
                    <div class="step" key={at}>
                        <p>
                            <OpBadge op={step.op} tense={tense} /> {step.note && <span>{step.note} </span>}
                            <span class="dim">
                                {offset(step.began)}
                                {step.ended !== undefined && `, ${duration(step.ended - step.began)}`}
                            </span>{" "}
                            <a
                                href={address("changes", String(at))}
                                aria-label={`Changes of this step: ${opWords(step.op).plan}`}
                            >
                                Changes
                            </a>
                        </p>
                        {place === 0 && <Why catalog={catalog} step={step} index={at} />}
                        {step.changes && step.changes.length > 0 && !again.has(place) && (
                            <ChangeTable changes={step.changes} catalog={catalog} />
                        )}
                    </div>
                );
            })}
            {activities.length > 0 && (
                <table class="calls">
                    <caption>Calls and waiting</caption>
                    <tbody>
                        {activities.slice(0, MAX_LINKS).map((at) => {
                            const activity = run.activities[at];
                            if (!activity) return null;
                            return (
                                <tr key={at}>
                                    <td>
                                        <a href={address("run", String(at))}>{activityWords(activity)}</a>
                                        {activity.attempt && <span class="dim"> attempt {activity.attempt}</span>}
                                        <CallError activity={activity} />
                                    </td>
                                    <td class="dim">{activity.outcome === "ok" ? "" : (activity.outcome ?? "")}</td>
                                    <td class="number">{offset(activity.began)}</td>
                                    <td class="number">
                                        {activity.duration === undefined ? "running" : duration(activity.duration)}
                                    </td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            )}
            {messages.slice(0, MAX_LINKS).map((at) => {
                const message = run.diagnostics[at];
                return (
                    message && (
                        <p key={at} class={`message severity-${message.severity}`}>
                            {message.message}
                        </p>
                    )
                );
            })}
        </Section>
    );
}

function Links({ catalog, index }: { catalog: Catalog; index: number }): JSX.Element | null {
    const resource = catalog.resource(index) as Resource;
    const uses = catalog.uses(index).filter((edge) => edge.kind !== "parent" && edge.kind !== "provider");
    const used = catalog.usedBy(index).filter((edge) => edge.kind !== "parent");
    const children = catalog.children(index);
    const together = resource.replaceWith ?? [];
    if (uses.length + used.length + children.length + together.length === 0) return null;
    return (
        <Section title="Dependencies and dependents">
            <EdgeList catalog={catalog} title="Depends on" edges={uses} end="to" />
            <EdgeList catalog={catalog} title="Depended on by" edges={used} end="from" />
            {together.length > 0 && (
                <EdgeList
                    catalog={catalog}
                    title="Replaced with"
                    edges={together.map((to) => ({ from: index, to, kind: "parent", properties: [] }))}
                    end="to"
                />
            )}
            {children.length > 0 && (
                <EdgeList
                    catalog={catalog}
                    title={count(children.length, "child", "children")}
                    edges={children.map((from) => ({ from, to: index, kind: "parent", properties: [] }))}
                    end="from"
                />
            )}
        </Section>
    );
}

const BY: { [kind in Edge["kind"]]: string } = {
    parent: "",
    dependency: "",
    deletedWith: "deleted with it",
    provider: "served by it",
};

function EdgeList(props: { catalog: Catalog; title: string; edges: Edge[]; end: "from" | "to" }): JSX.Element | null {
    if (props.edges.length === 0) return null;
    return (
        <>
            <h4>{props.title}</h4>
            <ul class="plain edges">
                {props.edges.slice(0, MAX_LINKS).map((edge, place) => (
                    <li key={place}>
                        <ResourceLink catalog={props.catalog} index={edge[props.end]} type />{" "}
                        {edge.kind === "dependency" && edge.properties.length === 0 && (
                            <span class="dim">by dependsOn</span>
                        )}
                        {edge.properties.length > 0 && (
                            <span class="dim">
                                by <code>{edge.properties.join(", ")}</code>
                            </span>
                        )}
                        <span class="dim">{BY[edge.kind]}</span>
                    </li>
                ))}
                {props.edges.length > MAX_LINKS && <li class="dim">and {props.edges.length - MAX_LINKS} more</li>}
            </ul>
        </>
    );
}

function History(props: { catalog: Catalog; resource: Resource; index: number }): JSX.Element {
    const { catalog, resource, index } = props;
    const { history, run } = catalog.data;
    const now = run && !run.dryRun ? catalog.fate(index) : undefined;
    const operations = (resource.operations ?? []).filter((one) => one.version !== run?.version);
    const known = new Set(history.map((item) => item.version));
    const compared = catalog.data.comparison?.steps.findIndex((step) => step.resource === index) ?? -1;
    const changed = now && now.op !== "same" ? now : undefined;
    if (operations.length === 0 && compared < 0 && !changed)
        return (
            <Section title="History">
                <p class="dim">No operation of the past is known to have changed it.</p>
            </Section>
        );
    return (
        <Section title="History">
            <ul class="plain">
                {compared >= 0 && (
                    <li>
                        <a href={address("changes", String(compared), { show: "states" })}>
                            Compared with {catalog.data.comparison?.from}
                        </a>
                    </li>
                )}
                {run && changed && (
                    <li>
                        <OpBadge
                            op={changed.op}
                            tense={changed.failed ? "failed" : changed.running ? "doing" : "done"}
                        />{" "}
                        <span>{moment(run.began)}</span>{" "}
                        <a href={address("changes", String(mainStep(run.steps, changed.steps)))}>this run</a>
                    </li>
                )}
                {operations.map((one) => (
                    <li key={one.version}>
                        <OpBadge op={one.op} tense={one.failed ? "failed" : "done"} /> <span>{moment(one.at)}</span>{" "}
                        {known.has(one.version) ? (
                            <a href={address("history", String(one.version))}>version {one.version}</a>
                        ) : (
                            <span class="dim">version {one.version}</span>
                        )}
                        {one.changes && one.changes.length > 0 && (
                            <details>
                                <summary>{count(one.changes.length, "property", "properties")}</summary>
                                <ChangeTable changes={one.changes} catalog={catalog} />
                            </details>
                        )}
                    </li>
                ))}
            </ul>
        </Section>
    );
}
