// The engine's reports and resources, as tests see them.
import { mapMembers } from "../../process/members";
import { isSecret, UNKNOWN } from "../../sdk/signatures";
import { forSnapshots } from "../serializers";
import { difference, HIDDEN, isListed, show } from "../values";
import type { Report } from "./operate";
import { type Change, type Planned, planOf } from "./plan";
import type { Outcome, Row } from "./settings";

/** A resource as messages name it. */
export function labelOf({ name, type, id }: Row): string {
    return `${name} (${type}, id ${show(id)})`;
}

/** What the engine is told to take over. */
export function importOf({ urn, type, parent }: { urn: string; type: string; parent?: string | null }, id: string) {
    return { urn, type, id, ...(parent === undefined || parent === null ? {} : { parent }) };
}

/** A report as tests see it. */
export function outcomeOf({ plan, outputs, changes, diagnostics, seconds }: Report): Outcome {
    const steps = plan.map(({ key, changes: differing, inputs, ...entry }): [string, Planned] => {
        const shown = shownValue(differing) as Record<string, Change>;
        return [key, { ...entry, inputs: shownValue(inputs) as Record<string, unknown>, changes: shown }];
    });
    return forSnapshots({ plan: forSnapshots(planOf(steps)), outputs, changes, diagnostics, seconds });
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

/** How a resource that was taken over differs in its `id`, `inputs` or `outputs`: a line for each difference. */
export function partDifferences(before: Row, taken: Row, part: string, ignore: string[]): string[] {
    const [old, now] = [before, taken].map((resource) => (resource as unknown as Record<string, unknown>)[part]);
    if (part === "id") {
        return old === now ? [] : [`id: ${show(old)} in the state, ${show(now)} when imported`];
    }
    const keys = new Set([...Object.keys(old as object), ...Object.keys(now as object)]);
    return [...keys]
        .filter((key) => !isListed(key, ignore) && !key.startsWith("__"))
        .flatMap((key) => {
            const [was, is] = [old, now].map((it) => (it as Record<string, unknown>)[key]);
            const same = difference(was, is) === undefined && difference(is, was) === undefined;
            return same ? [] : [`${part}.${key}: ${show(was)} in the state, ${show(is)} when imported`];
        });
}
