// A fleet's run in one look: what it is, what went wrong, what goes on, its waves.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { count, moment, whole } from "../model/words.ts";
import { address } from "../route.ts";
import type { FleetCatalog } from "./catalog.ts";
import type { FleetData } from "./data.ts";
import type { Group } from "./groups.ts";
import { Bar, StackLink, StandingBadge } from "./signs.tsx";
import { BAR, paceOf, rateWords, runWords, secondsWords, timeOf } from "./words.ts";

/** More of them are in the views of their own. */
const MAX_GROUPS = 10;
const MAX_AT_WORK = 50;

export function FleetOverview({ catalog, groups }: { catalog: FleetCatalog; groups: Group[] }): JSX.Element {
    const { data } = catalog;
    return (
        <div class="page overview">
            <h2 class="hidden">Overview</h2>
            <Facts catalog={catalog} />
            {groups.length > 0 && <WhatFailed groups={groups} catalog={catalog} />}
            {data.waves > 1 && <Waves catalog={catalog} />}
            {data.atWork.length > 0 && <AtWork catalog={catalog} />}
        </div>
    );
}

function Facts({ catalog }: { catalog: FleetCatalog }): JSX.Element {
    const { data } = catalog;
    const { perMinute, left } = paceOf(data);
    const rows: [string, string][] = [
        ["Fleet", data.fleet],
        ["Run", data.run],
        ["State", runWords(data)],
        ["Stacks", whole(catalog.members.length)],
        ["Began", moment(timeOf(data.began))],
        [data.state === "ended" ? "Duration" : "Known until", secondsWords(data.seconds)],
    ];
    if (data.waves > 1) rows.push(["Wave", `${data.wave} of ${data.waves}`]);
    if (perMinute !== undefined) rows.push(["Rate", rateWords(perMinute)]);
    if (left !== undefined) rows.push(["To go", `about ${secondsWords(left)}`]);
    rows.push(["Page written", `${moment(data.written)} by maloko ${data.maloko}`]);
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

/** Without an end the number of stacks that failed is that of the counts. */
function failedWords({ counts }: FleetData): string {
    if (counts.failed > 0) return `${count(counts.failed, "stack")} failed`;
    return counts.cancelled > 0 ? `${count(counts.cancelled, "stack")} cancelled` : "What was left out";
}

function WhatFailed({ groups, catalog }: { groups: Group[]; catalog: FleetCatalog }): JSX.Element {
    const { counts } = catalog.data;
    return (
        <section class={counts.failed > 0 ? "block bad" : "block warn"}>
            <h3>{failedWords(catalog.data)}</h3>
            <ul class="failure-groups">
                {groups.slice(0, MAX_GROUPS).map((group, index) => (
                    <li key={index}>
                        <StandingBadge standing={group.outcome} many={group.stacks.length} />
                        <span>
                            <a href={address("failures", `group:${index}`)}>
                                {group.stacks.length === 1
                                    ? catalog.member(group.stacks[0] as number).id
                                    : `${whole(group.stacks.length)} of the same`}
                            </a>{" "}
                            <span class="message">{group.text}</span>
                            {group.skipped > 0 && (
                                <span class="dim"> {count(group.skipped, "stack")} skipped because of that</span>
                            )}
                        </span>
                    </li>
                ))}
            </ul>
            {groups.length > MAX_GROUPS && (
                <p>
                    <a href={address("failures")}>and {whole(groups.length - MAX_GROUPS)} more</a>
                </p>
            )}
        </section>
    );
}

function Waves({ catalog }: { catalog: FleetCatalog }): JSX.Element {
    const { data } = catalog;
    const waves = useMemo(() => wavesOf(catalog), [catalog]);
    return (
        <section class="block">
            <h3>Waves</h3>
            <table class="waves">
                <thead>
                    <tr>
                        <th scope="col">Wave</th>
                        <th scope="col" class="number">
                            Stacks
                        </th>
                        <th scope="col">How far</th>
                        <th scope="col">Where they stand</th>
                    </tr>
                </thead>
                <tbody>
                    {waves.map(({ wave, stacks, counts }) => (
                        <tr
                            key={wave}
                            aria-current={wave + 1 === data.wave && data.state !== "ended" ? "step" : undefined}
                        >
                            <th scope="row">
                                <a href={address("stacks", undefined, { wave: String(wave + 1) })}>{wave + 1}</a>
                            </th>
                            <td class="number">{whole(stacks)}</td>
                            <td>
                                <Bar counts={counts} label={`Wave ${wave + 1}`} />
                            </td>
                            <td>
                                {BAR.filter((name) => counts[name])
                                    .map((name) => `${whole(counts[name] ?? 0)} ${catalog.wordOf(name)}`)
                                    .join(", ")}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

interface Wave {
    wave: number;
    stacks: number;
    counts: Partial<FleetData["counts"]>;
}

function wavesOf(catalog: FleetCatalog): Wave[] {
    const waves = new Map<number, Wave>();
    for (const { wave, standing } of catalog.members) {
        const one = waves.get(wave) ?? { wave, stacks: 0, counts: {} };
        one.stacks++;
        one.counts[standing] = (one.counts[standing] ?? 0) + 1;
        waves.set(wave, one);
    }
    return [...waves.values()].sort((a, b) => a.wave - b.wave);
}

function AtWork({ catalog }: { catalog: FleetCatalog }): JSX.Element {
    const { atWork, counts } = catalog.data;
    const all = Math.max(atWork.length, counts.running + counts.retrying);
    const shown = atWork.slice(0, MAX_AT_WORK);
    return (
        <section class="block">
            <h3>At work when the page was written</h3>
            <table class="at-work">
                <thead>
                    <tr>
                        <th scope="col">Stack</th>
                        <th scope="col">How far</th>
                        <th scope="col">Worker</th>
                        <th scope="col" class="number">
                            Attempt
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {shown.map(({ id, text, worker, attempt, note }, place) => (
                        <tr key={place}>
                            <th scope="row">
                                <StackLink catalog={catalog} index={catalog.byId.get(id) ?? 0} />
                            </th>
                            <td>
                                {text}
                                {note && <span class="dim"> {note}</span>}
                            </td>
                            <td>{worker}</td>
                            <td class="number">{whole(attempt)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {all > shown.length && <p class="dim">and {whole(all - shown.length)} more</p>}
        </section>
    );
}
