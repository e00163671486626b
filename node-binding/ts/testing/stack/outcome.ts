// The engine's reports and resources, as tests see them.
import { mapMembers } from "../../process/members";
import { isSecret, UNKNOWN } from "../../sdk/signatures";
import { forSnapshots } from "../serializers";
import { HIDDEN } from "../values";
import { callOf } from "./calls";
import type { Report } from "./operate";
import { type Change, type Planned, planOf } from "./plan";
import type { Remediation } from "./policies";
import type { Outcome, Run, Verb } from "./settings";

/** A report as tests see it. */
export function outcomeOf({
    plan,
    outputs,
    changes,
    diagnostics,
    seconds,
    violations,
    remediations: rewritten,
}: Report): Outcome {
    const steps = plan.map(({ key, changes: differing, inputs, ...entry }): [string, Planned] => {
        const shown = shownValue(differing) as Record<string, Change>;
        return [key, { ...entry, inputs: shownValue(inputs) as Record<string, unknown>, changes: shown }];
    });
    const remediations = rewritten.map(({ before, after, ...told }) => {
        const [shownBefore, shownAfter] = shownValue([before, after]) as [Remediation["before"], Remediation["after"]];
        return { ...told, before: shownBefore, after: shownAfter };
    });
    return forSnapshots({
        plan: forSnapshots(planOf(steps)),
        outputs,
        changes,
        diagnostics,
        seconds,
        violations,
        remediations,
    });
}

// What JSON has no word for, in words.
function shownValue(value: unknown): unknown {
    if (value === UNKNOWN) {
        return "[unknown]";
    }
    if (value === null || typeof value !== "object") {
        return value;
    }
    return isSecret(value) ? HIDDEN : mapMembers(value, shownValue);
}

/** A report as the outcome of an operation that did not throw. */
export function runOf(verb: Verb, report: Report): Run {
    const { outcome, error, thrown, steps, secretOutputs, calls } = report;
    const exception = thrown?.value;
    return { ...outcomeOf(report), verb, outcome, error, exception, steps, secretOutputs, calls: calls.map(callOf) };
}
