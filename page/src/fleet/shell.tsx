// The page of a fleet's run: what it is about, how far it is, its views.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { moment, whole } from "../model/words.ts";
import { Frame, Many, useFrame } from "../parts/frame.tsx";
import { address, FLEET_VIEWS, type FleetView, viewAmong } from "../route.ts";
import type { FleetCatalog } from "./catalog.ts";
import type { FleetData } from "./data.ts";
import { Failures } from "./failures.tsx";
import { type Group, groupsOf } from "./groups.ts";
import { FleetOverview } from "./overview.tsx";
import { Bar, StandingSign } from "./signs.tsx";
import { Stacks } from "./stacks.tsx";
import { BAR, paceOf, rateWords, runWords, secondsWords, timeOf, toneOf } from "./words.ts";

const NAMES: { [view in FleetView]: string } = { overview: "Overview", stacks: "Stacks", failures: "Failures" };

export function FleetShell({ catalog }: { catalog: FleetCatalog }): JSX.Element {
    const { data } = catalog;
    const view = viewAmong(FLEET_VIEWS);
    const groups = useMemo(() => groupsOf(catalog), [catalog]);
    useFrame(`${NAMES[view]} · ${data.run}`);
    return (
        <Frame
            title={<Title data={data} />}
            views={FLEET_VIEWS}
            view={view}
            names={NAMES}
            beside={(name) =>
                name === "failures" && (
                    <Many number={data.counts.failed} one="stack that failed" several="stacks that failed" />
                )
            }
            above={
                <>
                    <Notice data={data} />
                    <Counts data={data} />
                </>
            }
        >
            <Body catalog={catalog} groups={groups} view={view} />
        </Frame>
    );
}

function Body(props: { catalog: FleetCatalog; groups: Group[]; view: FleetView }): JSX.Element {
    switch (props.view) {
        case "overview":
            return <FleetOverview catalog={props.catalog} groups={props.groups} />;
        case "stacks":
            return <Stacks catalog={props.catalog} />;
        case "failures":
            return <Failures catalog={props.catalog} groups={props.groups} />;
    }
}

function Title({ data }: { data: FleetData }): JSX.Element {
    const { perMinute, left } = paceOf(data);
    const facts = [
        data.waves > 1 && `wave ${data.wave} of ${data.waves}`,
        secondsWords(data.seconds),
        perMinute !== undefined && rateWords(perMinute),
        left !== undefined && `about ${secondsWords(left)} to go`,
        moment(timeOf(data.began)),
    ];
    return (
        <div class="title">
            <h1>
                <span class="project">{data.fleet}</span>
                <span class="dim" aria-hidden="true">
                    {" / "}
                </span>
                <span class="stack">{data.run}</span>
            </h1>
            <p>
                <span class={`outcome outcome-${outcomeClass(data)}`}>{runWords(data)}</span>{" "}
                <span class="dim">{facts.filter(Boolean).join(", ")}</span>
            </p>
        </div>
    );
}

function outcomeClass({ state, outcome, counts }: FleetData): string {
    if (state === "ended") return outcome === "done" ? "succeeded" : (outcome ?? "failed");
    return counts.failed > 0 ? "failed" : "running";
}

/** Says loudly what is not to be seen from the counts: that the run goes on, or that nothing begins any more. */
function Notice({ data }: { data: FleetData }): JSX.Element | null {
    const { state, stopped, written } = data;
    const texts: string[] = [];
    if (stopped) texts.push(`Stopped: ${stopped}.`);
    if (state === "stopping") texts.push("Nothing begins any more; what is running goes on to its end.");
    if (state === "paused") texts.push("The run is paused: nothing begins until it is resumed.");
    if (state !== "ended") texts.push(`The run went on when this page was written (${moment(written)}).`);
    if (texts.length === 0) return null;
    return (
        <p class={stopped ? "standing bad" : "standing"} role={stopped ? "alert" : "status"}>
            {texts.join(" ")}
        </p>
    );
}

/** How many stacks stand where: a bar, and links to them. */
function Counts({ data }: { data: FleetData }): JSX.Element {
    const names = BAR.filter((name) => data.counts[name] > 0);
    return (
        <section class="standings" aria-label="How far it is">
            <Bar counts={data.counts} label="Stacks" />
            <ul aria-label="Stacks by where they stand">
                {names.map((name) => (
                    <li key={name}>
                        <a href={address("stacks", undefined, { standing: name })} class={`tone-${toneOf(name)}`}>
                            <StandingSign standing={name} />
                            <b>{whole(data.counts[name])}</b> {name}
                        </a>
                    </li>
                ))}
            </ul>
        </section>
    );
}
