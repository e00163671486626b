// One step of the run: what it changed and why, what it failed of, how it stands to the plan.

import type { JSX } from "preact";
import { goesOn } from "../app.ts";
import type { Step } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { callsOf, failureOf } from "../model/failures.ts";
import { type Departure, doneWords, planAgainstResult, whyItDiffers } from "../model/plan.ts";
import { activityWords, duration, family, offset, opWords } from "../model/words.ts";
import { OpBadge, ResourceLink, Sentence } from "../parts/badges.tsx";
import { ChangeTable, Why } from "../parts/changes.tsx";
import { CallError } from "../parts/failure.tsx";
import { address } from "../route.ts";

export function StepDetail(props: { catalog: Catalog; step: Step; index: number; ofRun: boolean }): JSX.Element {
    const { catalog, step, index, ofRun } = props;
    const dryRun = catalog.data.run?.dryRun;
    const tense = step.status === "failed" ? "failed" : step.status === "running" ? "doing" : dryRun ? "plan" : "done";
    const { run } = catalog.data;
    const going = run !== undefined && goesOn(run);
    const planned = ofRun ? planAgainstResult(catalog, going).find((row) => row.resource === step.resource) : undefined;
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
            {ofRun && <StepFailure catalog={catalog} step={step} />}
            {planned && catalog.data.run?.plan && <AgainstPlan catalog={catalog} row={planned} />}
            {ofRun && <Why catalog={catalog} step={step} index={index} />}
            {step.keys && step.keys.length > 0 && (
                <p>
                    Replacement keys: <code>{step.keys.join(", ")}</code>
                </p>
            )}
            {step.changes && step.changes.length > 0 ? (
                <ChangeTable changes={step.changes} catalog={catalog} />
            ) : (
                <p class="dim">{step.op === "same" ? "No property differs." : "No property is noted of this step."}</p>
            )}
            {ofRun && family(step.op) === "replace" && <OtherSteps catalog={catalog} step={step} index={index} />}
            {ofRun && <Calls catalog={catalog} step={step} />}
        </div>
    );
}

/** What it failed of, with the traceback; the timeline has the call. */
function StepFailure({ catalog, step }: { catalog: Catalog; step: Step }): JSX.Element | null {
    const failure = failureOf(catalog, step);
    if (!failure) return null;
    const call = failure.call === undefined ? undefined : catalog.data.run?.activities[failure.call];
    return (
        <section class="block bad" aria-label="Why it failed">
            <h3>
                {call
                    ? `${call.name} ${call.outcome === "unknown" ? "has an unknown outcome" : "failed"}`
                    : opWords(step.op).failed}
                {failure.call !== undefined && (
                    <a class="aside" href={address("run", String(failure.call))}>
                        Show on the timeline
                    </a>
                )}
            </h3>
            {call && <CallError activity={call} open />}
            {failure.messages.map((message, place) => (
                <p key={place} class="message">
                    {message}
                </p>
            ))}
        </section>
    );
}

/** What was planned, what was done, and why that is another thing. */
function AgainstPlan({ catalog, row }: { catalog: Catalog; row: Departure }): JSX.Element {
    const planned = row.planned === undefined ? "nothing" : opWords(row.planned).plan;
    if (!row.differs) return <p class="dim">As planned: {planned}.</p>;
    return (
        <p class="against-plan">
            <span class={`differs tone-${row.failed ? "failed" : "change"}`}>
                Differs from the plan: planned {planned}; {doneWords(row)}.
            </span>{" "}
            {/* Of what it failed stands above. */}
            {!row.failed && <Sentence catalog={catalog} parts={whyItDiffers(catalog, row)} />}
        </p>
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
    const calls = callsOf(catalog, step);
    if (!run || calls.length === 0) return null;
    return (
        <>
            <h3>Calls and waiting</h3>
            <ul class="plain">
                {calls.slice(0, 50).map((at) => {
                    const one = run.activities[at];
                    return (
                        <li key={at}>
                            <a href={address("run", String(at))}>{one && activityWords(one)}</a>{" "}
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
