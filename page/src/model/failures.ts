// What a step failed of, from the calls of its resource and from what was said of it.

import type { Step } from "../data.ts";
import type { Catalog } from "./catalog.ts";

/** A step may be noted a little after what belongs to it (milliseconds). */
const SLACK = 1;
/** A message may be noted so long after the step that it is about has ended (milliseconds). */
const LATE = 50;

/** The calls and waits of a step: what its resource took time for while it went on, and what it had to wait for before. */
export function callsOf(catalog: Catalog, step: Step): number[] {
    const ended = step.ended ?? Number.POSITIVE_INFINITY;
    const all = catalog.data.run?.activities ?? [];
    return catalog.activitiesOf(step.resource).filter((at) => {
        const one = all[at];
        if (!one) return false;
        if (one.began >= step.began - SLACK) return one.began <= ended;
        const over = one.began + (one.duration ?? Number.POSITIVE_INFINITY);
        return one.kind === "dependency" && Math.abs(over - step.began) <= LATE;
    });
}

export interface Failure {
    /** The call that failed last: index of `Run.activities`. */
    call?: number;
    /** What was said, where no call has an error. */
    messages: string[];
}

/** Of what a step failed; nothing where it did not fail. */
export function failureOf(catalog: Catalog, step: Step): Failure | undefined {
    const { run } = catalog.data;
    if (!run || step.status !== "failed") return undefined;
    const failed = callsOf(catalog, step).filter((at) => {
        const outcome = run.activities[at]?.outcome;
        return outcome === "failed" || outcome === "unknown";
    });
    const ended = (at: number) => (run.activities[at]?.began ?? 0) + (run.activities[at]?.duration ?? 0);
    const call = failed.reduce<number | undefined>(
        (last, at) => (last === undefined || ended(at) >= ended(last) ? at : last),
        undefined,
    );
    if (call !== undefined && run.activities[call]?.error) return { call, messages: [] };
    const errors = catalog
        .diagnosticsOf(step.resource)
        .flatMap((at) => run.diagnostics[at] ?? [])
        .filter((one) => one.severity === "error");
    const until = (step.ended ?? Number.POSITIVE_INFINITY) + LATE;
    const meanwhile = errors.filter((one) => one.at >= step.began - SLACK && one.at <= until);
    const messages = (meanwhile.length > 0 ? meanwhile : errors).map((one) => one.message);
    return call === undefined ? { messages } : { call, messages };
}

/** The first line of what a step failed of. */
export function failureLine(catalog: Catalog, step: Step): string {
    const failure = failureOf(catalog, step);
    if (!failure) return "";
    const call = failure.call === undefined ? undefined : catalog.data.run?.activities[failure.call];
    return (call?.error || failure.messages[0] || "").split("\n", 1)[0] as string;
}
