// The plan beside what was done, by resource, and why they differ.

import type { Resource, Step } from "../data.ts";
import type { Catalog } from "./catalog.ts";
import type { Part } from "./causes.ts";
import { failureLine } from "./failures.ts";
import { family, opWords } from "./words.ts";

/** A resource of which the plan said one thing and the run did another. */
export interface Departure {
    resource: number;
    planned?: string;
    done?: string;
    failed: boolean;
    running: boolean;
    differs: boolean;
}

/**
 * The plan beside what was done, by resource; differences first. Resources that both leave alone are not listed. While a run
 * goes on, what it has not come to yet is no difference.
 */
export function planAgainstResult(catalog: Catalog, goesOn = false): Departure[] {
    const planned = plannedOps(catalog);
    const resources = new Set(planned.keys());
    for (const step of catalog.data.run?.steps ?? []) resources.add(step.resource);
    const rows: Departure[] = [];
    for (const resource of resources) {
        const fate = catalog.fate(resource);
        const plan = planned.get(resource);
        if ((plan ?? "same") === "same" && (fate?.op ?? "same") === "same" && !fate?.failed) continue;
        const row: Departure = {
            resource,
            failed: fate?.failed ?? false,
            running: fate?.running ?? false,
            differs: (plan ?? "same") !== (fate?.op ?? "same") || Boolean(fate?.failed),
        };
        if (goesOn && (!fate || fate.running)) row.differs = false;
        if (plan) row.planned = plan;
        if (fate) row.done = fate.op;
        rows.push(row);
    }
    return rows.sort((a, b) => Number(b.differs) - Number(a.differs) || a.resource - b.resource);
}

const plans = new WeakMap<Catalog, Map<number, string>>();

function plannedOps(catalog: Catalog): Map<number, string> {
    const known = plans.get(catalog);
    if (known) return known;
    const planned = new Map<number, string>();
    for (const { resource, op } of catalog.data.run?.plan ?? []) {
        const now = family(op);
        const before = planned.get(resource);
        if (before === undefined || before === "same" || now === "replace") planned.set(resource, now);
    }
    plans.set(catalog, planned);
    return planned;
}

/** What was done in a word: `updated`, `unchanged`, `not done`. */
export function doneWords(row: Departure): string {
    if (row.done === undefined) return "not done";
    const words = opWords(row.done);
    return row.failed ? words.failed : row.running ? words.doing : words.done;
}

/** The longest error that stands in a sentence. */
const LONG_ERROR = 160;

/** Why what was done is another thing than what was planned, in sentences; empty where it is not known, or does not differ. */
export function whyItDiffers(catalog: Catalog, row: Departure): Part[] {
    if (!row.differs) return [];
    const steps = (catalog.fate(row.resource)?.steps ?? []).flatMap((at) => catalog.data.run?.steps[at] ?? []);
    if (row.failed) return ofFailure(catalog, steps);
    if (row.running) return ["It was under way when this was noted."];
    if (row.done === undefined) return ofNothing(catalog, row.resource);
    const before = row.planned ?? "same";
    if (row.done === "same") return ofEqual(catalog, row.resource);
    if (before === "replace" && row.done === "update")
        return ["It differs, but no property does that forces a replacement."];
    return ofMore(catalog, row, steps);
}

function ofFailure(catalog: Catalog, steps: Step[]): Part[] {
    const step = steps.find((one) => one.status === "failed");
    const line = step ? failureLine(catalog, step) : "";
    if (!line) return ["It failed."];
    return [`It failed: ${line.length > LONG_ERROR ? `${line.slice(0, LONG_ERROR)}…` : line}`];
}

/** Why nothing was done to a resource. */
function ofNothing(catalog: Catalog, resource: number): Part[] {
    const failed = failedBelow(catalog, resource);
    if (failed !== undefined) return ["It was not begun: ", { resource: failed }, ", which it depends on, failed."];
    switch (catalog.data.run?.outcome) {
        case "failed":
            return ["The run failed before it came to this."];
        case "cancelled":
            return ["The run was cancelled before it came to this."];
        case "unfinished":
            return ["The run has not come to this."];
        default:
            return ["When the run came to it, there was nothing to do."];
    }
}

/** The nearest resource that failed, of those that one depends on. */
function failedBelow(catalog: Catalog, resource: number): number | undefined {
    const seen = new Set([resource]);
    // A set that grows is walked to its end, nearest first.
    for (const at of seen) {
        if (at !== resource && catalog.fate(at)?.failed) return at;
        for (const edge of catalog.uses(at)) seen.add(edge.to);
    }
    return undefined;
}

/** A change was planned, and its inputs turned out to be those that it has. */
function ofEqual(catalog: Catalog, resource: number): Part[] {
    const equal = "Nothing had to be done: its inputs turned out equal to those that it has.";
    const open = openInputs(catalog, resource);
    if (!open) return [equal];
    return [`${equal} The plan did not know `, ...open, " yet."];
}

/** The inputs that come from a resource which the plan changes: `host`, which comes from db. `only`: of these. */
function openInputs(catalog: Catalog, resource: number, only?: Set<string>): Part[] | undefined {
    const planned = plannedOps(catalog);
    const dependencies = catalog.resource(resource)?.dependencies ?? [];
    const named = (dependency: NonNullable<Resource["dependencies"]>[number]) =>
        dependency.properties.filter((name) => !only || only.has(name));
    const changed = dependencies.find(
        (dependency) => named(dependency).length > 0 && (planned.get(dependency.on) ?? "same") !== "same",
    );
    if (!changed) return undefined;
    const codes = named(changed).flatMap((code, place): Part[] => (place > 0 ? [", ", { code }] : [{ code }]));
    const op = opWords(planned.get(changed.on) ?? "same").plan;
    return [...codes, ", which comes from ", { resource: changed.on }, ` (planned: ${op})`];
}

/** So many properties are named. */
const MAX_NAMED = 4;

/** More was done than was planned. */
function ofMore(catalog: Catalog, row: Departure, steps: Step[]): Part[] {
    const because = steps.find((step) => step.because)?.because;
    if (because) return ["It had to be replaced because ", { resource: because.resource }, " was."];
    if (row.done === "create" && row.planned === undefined)
        return ["The plan did not have it: the program registered it in the run alone."];
    if (row.done === "delete" || row.done === "delete-with" || row.done === "retain")
        return ["The program did not register it in the run."];
    const keys = steps.find((step) => step.keys?.length)?.keys ?? [];
    const paths = steps.find((step) => step.changes?.length)?.changes?.map((change) => change.path) ?? [];
    const names = [...new Set(keys.length > 0 ? keys : paths)];
    if (names.length === 0) return [];
    const codes = names
        .slice(0, MAX_NAMED)
        .flatMap((code, place): Part[] => (place > 0 ? [", ", { code }] : [{ code }]));
    const more = names.length > MAX_NAMED ? " and more" : "";
    const verb = keys.length > 0 ? " changed, which forces a replacement" : " changed";
    const open = openInputs(catalog, row.resource, new Set(names.map((name) => name.split(/[.[]/, 1)[0] ?? name)));
    const origin: Part[] = open ? [" The plan did not know ", ...open, " yet."] : [];
    return ["In the run ", ...codes, `${more}${verb}.`, ...origin];
}
