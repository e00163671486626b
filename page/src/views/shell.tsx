// The frame of the page: what it is about, the views, how it stands to a run that goes on.

import type { JSX } from "preact";
import { catalog as catalogSignal, connection, elapsed, goesOn } from "../app.ts";
import type { PageData, Run } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { duration, moment, runName, ticking } from "../model/words.ts";
import { Frame, Many, useFrame } from "../parts/frame.tsx";
import { STACK_VIEWS, type StackView, viewAmong } from "../route.ts";
import { Changes } from "./changes.tsx";
import { History } from "./history.tsx";
import { Log } from "./log.tsx";
import { Overview } from "./overview.tsx";
import { Resources } from "./resources.tsx";
import { RunView } from "./run.tsx";

const NAMES: { [view in StackView]: string } = {
    overview: "Overview",
    resources: "Resources",
    run: "Run",
    changes: "Changes",
    log: "Log",
    history: "History",
};

export function Shell(): JSX.Element {
    const catalog = catalogSignal.value;
    const view = viewAmong(STACK_VIEWS);
    useFrame(`${NAMES[view]} · ${catalog ? `${catalog.data.stack} (${catalog.data.project})` : "maloko"}`);
    if (!catalog) return <Waiting />;
    return (
        <Frame
            title={<Title data={catalog.data} />}
            views={views(catalog.data)}
            view={view}
            names={NAMES}
            beside={(name) => name === "log" && <Many number={errorsOf(catalog.data)} one="error" several="errors" />}
            above={<Standing data={catalog.data} />}
        >
            <Body catalog={catalog} view={view} />
        </Frame>
    );
}

/** A page of the stack alone has no run to show. */
function views(data: PageData): StackView[] {
    const all: StackView[] = ["overview", "resources"];
    if (data.run) all.push("run");
    if (data.run || data.comparison) all.push("changes");
    if (data.run) all.push("log");
    all.push("history");
    return all;
}

function Body({ catalog, view }: { catalog: Catalog; view: StackView }): JSX.Element {
    switch (view) {
        case "overview":
            return <Overview catalog={catalog} />;
        case "resources":
            return <Resources catalog={catalog} />;
        case "run":
            return <RunView catalog={catalog} />;
        case "changes":
            return <Changes catalog={catalog} />;
        case "log":
            return <Log catalog={catalog} />;
        case "history":
            return <History catalog={catalog} />;
    }
}

function errorsOf({ run }: PageData): number {
    return (run?.diagnostics ?? []).filter((one) => one.severity === "error").length;
}

const OUTCOMES = { succeeded: "succeeded", failed: "failed", cancelled: "cancelled", unfinished: "unfinished" };

function Title({ data }: { data: PageData }): JSX.Element {
    const { run } = data;
    return (
        <div class="title">
            <h1>
                <span class="project">{data.project}</span>
                <span class="dim" aria-hidden="true">
                    {" / "}
                </span>
                <span class="stack">{data.stack}</span>
            </h1>
            {run && (
                <p>
                    <Outcome run={run} />{" "}
                    <span class="dim">
                        {goesOn(run) ? ticking(elapsed(run)) : duration(run.duration)}, {moment(run.began)}
                    </span>
                </p>
            )}
        </div>
    );
}

/** How the run stands: of one that goes on, whether something of it has failed. */
function Outcome({ run }: { run: Run }): JSX.Element {
    const name = runName(run.kind, run.dryRun);
    if (!goesOn(run)) return <span class={`outcome outcome-${run.outcome}`}>{`${name} ${OUTCOMES[run.outcome]}`}</span>;
    const failed = run.steps.some((step) => step.status === "failed");
    return (
        <span class={`outcome outcome-${failed ? "failed" : "running"}`}>
            {name} is running{failed && ", with errors"}
        </span>
    );
}

/** Says loudly what the page can not show: a run that was killed, a connection that was lost. */
function Standing({ data }: { data: PageData }): JSX.Element | null {
    const { run } = data;
    switch (connection.value) {
        case "following":
            return (
                <p class="standing live" role="status">
                    Live: this page follows the run.
                </p>
            );
        case "ended":
            return (
                <p class="standing" role="status">
                    The run ended: it {run ? OUTCOMES[run.outcome] : "is over"}. This page shows all of it.
                </p>
            );
        case "lost":
            return (
                <p class="standing bad" role="alert">
                    The connection was lost before the run ended. This page shows what was known until then: the run may
                    go on, or its process was killed.
                </p>
            );
    }
    if (run?.outcome !== "unfinished") return null;
    return (
        <p class="standing bad" role="alert">
            <strong>Unfinished.</strong> This run has no end: its process was killed, or it still went on when this page
            was written ({moment(data.written)}). What ran then is shown as running; the next operation on the stack
            finds out what became of it.
        </p>
    );
}

function Waiting(): JSX.Element {
    return (
        <main id="main" class="waiting">
            <h1>maloko</h1>
            <p role="status">
                {connection.value === "lost"
                    ? "The connection was lost before anything came."
                    : connection.value === "file"
                      ? "This page has no data: it is the empty form, into which maloko writes a stack or a run."
                      : "Waiting for the run…"}
            </p>
        </main>
    );
}
