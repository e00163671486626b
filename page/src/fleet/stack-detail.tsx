// One stack of a fleet's run: what came of it and why, what it needs and what needs it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { count, whole } from "../model/words.ts";
import { Section } from "../parts/layout.tsx";
import { address } from "../route.ts";
import type { FleetCatalog, Member } from "./catalog.ts";
import { ChangeSigns, changedOps, changeWords, StackBadge, StackLink } from "./signs.tsx";
import { firstLine, secondsWords } from "./words.ts";

/** Longer lists are shown whole on demand. */
const LONG_LIST = 50;

export function StackDetail({ catalog, index }: { catalog: FleetCatalog; index: number }): JSX.Element {
    const one = catalog.member(index);
    const causes = catalog.causesOf(index);
    return (
        <div class="detail" key={one.id}>
            <h2>{one.id}</h2>
            <p class="badges">
                <StackBadge catalog={catalog} index={index} />
                {one.end?.reason && <span class="badge tone-same">{one.end.reason}</span>}
            </p>
            <Said member={one} />
            {causes.length > 0 && <Causes catalog={catalog} causes={causes} />}
            <Identity member={one} waves={catalog.data.waves} />
            <Order catalog={catalog} index={index} />
        </div>
    );
}

function Said({ member: { end, work, standing } }: { member: Member }): JSX.Element | null {
    if (end?.text)
        return (
            <div class={standing === "failed" ? "failure" : undefined}>
                <p class="message">{end.text}</p>
                {end.urn && <p class="urn">{end.urn}</p>}
            </div>
        );
    if (!work) return null;
    return (
        <p class="message">
            {work.text}
            {work.note && <span class="dim"> {work.note}</span>}
        </p>
    );
}

function Causes({ catalog, causes }: { catalog: FleetCatalog; causes: number[] }): JSX.Element {
    return (
        <section class="why" aria-label="Why it was skipped">
            {causes.slice(0, LONG_LIST).map((at) => (
                <p key={at}>
                    Because <StackLink catalog={catalog} index={at} /> failed:{" "}
                    {firstLine(catalog.member(at).end?.text ?? "")}
                </p>
            ))}
            {causes.length > LONG_LIST && <p class="dim">and {whole(causes.length - LONG_LIST)} more that failed</p>}
        </section>
    );
}

function Identity({ member, waves }: { member: Member; waves: number }): JSX.Element {
    const { labels, queue, wave, end, work } = member;
    const changes = end?.changes ?? {};
    const attempts = end?.attempts ?? work?.attempt ?? 0;
    const worker = end?.worker ?? work?.worker;
    return (
        <dl class="identity">
            {changedOps(changes).length > 0 && (
                <div>
                    <dt>changes</dt>
                    <dd>
                        {changedOps(changes)
                            .map((op) => changeWords(op, changes))
                            .join(", ")}
                    </dd>
                </div>
            )}
            {end?.method && (
                <div>
                    <dt>method</dt>
                    <dd>{end.method}</dd>
                </div>
            )}
            <div>
                <dt>attempts</dt>
                <dd>{attempts > 0 ? whole(attempts) : "none"}</dd>
            </div>
            {end && end.attempts > 0 && (
                <div>
                    <dt>last attempt took</dt>
                    <dd>{secondsWords(end.seconds)}</dd>
                </div>
            )}
            {worker && (
                <div>
                    <dt>worker</dt>
                    <dd>{worker}</dd>
                </div>
            )}
            {queue && (
                <div>
                    <dt>queue</dt>
                    <dd>{queue}</dd>
                </div>
            )}
            {waves > 1 && (
                <div>
                    <dt>wave</dt>
                    <dd>{wave + 1}</dd>
                </div>
            )}
            {Object.entries(labels).map(([name, value]) => (
                <div key={`label ${name}`}>
                    <dt>label {name}</dt>
                    <dd>{value}</dd>
                </div>
            ))}
        </dl>
    );
}

function Order({ catalog, index }: { catalog: FleetCatalog; index: number }): JSX.Element {
    const { id, needs, others, dependents } = catalog.member(index);
    const before = catalog.needsOf(index).length;
    const after = catalog.dependentsOf(index).length;
    return (
        <>
            <Section title={`Needs ${count(needs.length + others.length, "stack")}`}>
                {needs.length + others.length === 0 ? (
                    <p class="dim">It waits for no other stack.</p>
                ) : (
                    <StackList catalog={catalog} stacks={needs} />
                )}
                {others.map((other) => (
                    <p key={other}>
                        {other} <span class="dim">is not part of this run</span>
                    </p>
                ))}
                {before > needs.length && <p class="dim">With what these need: {count(before, "stack")}.</p>}
            </Section>
            <Section title={`Needed by ${count(dependents.length, "stack")}`}>
                {dependents.length === 0 ? (
                    <p class="dim">No stack of this run waits for it.</p>
                ) : (
                    <StackList catalog={catalog} stacks={dependents} />
                )}
                {after > dependents.length && <p class="dim">With what needs these: {count(after, "stack")}.</p>}
            </Section>
            {before + after > 0 && (
                <p>
                    <a href={address("stacks", id, { around: id })}>Show these in the table</a>
                </p>
            )}
        </>
    );
}

export function StackList(props: {
    catalog: FleetCatalog;
    stacks: number[];
    /** Is it said where each stands? */
    standing?: boolean;
}): JSX.Element {
    const { catalog, stacks, standing = true } = props;
    const [all, setAll] = useState(false);
    const shown = all ? stacks : stacks.slice(0, LONG_LIST);
    return (
        <ul class="plain">
            {shown.map((at) => (
                <li key={at}>
                    <StackLink catalog={catalog} index={at} /> {standing && <StackBadge catalog={catalog} index={at} />}{" "}
                    <ChangeSigns changes={catalog.member(at).end?.changes ?? {}} />
                </li>
            ))}
            {shown.length < stacks.length && (
                <li>
                    <button type="button" class="link" onClick={() => setAll(true)}>
                        Show all {whole(stacks.length)}
                    </button>
                </li>
            )}
        </ul>
    );
}
