// The points at which an `up` can be cut off, from its plan. By their labels they are the same in every run, whatever turns the
// resources take.
import type { CrashKind } from "../crash";
import type { Plan } from "../plan";

/** A point as the engine labels it. `ahead`: so many of the same label come before it in the run. */
export interface PlannedPoint {
    label: string;
    ahead?: number;
}

function call(method: string, name: string, recorded: string): PlannedPoint[] {
    const intent = { create: "creating", update: "updating", delete: "deleting" }[method];
    const labels = [
        `journal: ${intent} ${name}`,
        `before ${method} of ${name}`,
        `after ${method} of ${name}`,
        recorded,
    ];
    return labels.map((label) => ({ label }));
}

function pointsOfStep(name: string, action: string): PlannedPoint[] {
    switch (action) {
        case "create":
            return call("create", name, `journal: done, put ${name}`);
        case "update":
            return call("update", name, `journal: done, put ${name}`);
        case "delete":
            return call("delete", name, "journal: done, remove");
        case "replace":
            return [
                ...call("create", name, `journal: done, put ${name}, set ${name}`),
                ...call("delete", name, "journal: done, remove"),
            ];
        default:
            return [];
    }
}

/** The journal is folded into the state. */
const FOLD: PlannedPoint[] = [
    { label: "journal: end" },
    { label: "seal write" },
    { label: "checkpoint write" },
    { label: "seal write", ahead: 1 },
    { label: "removal of the journal" },
];

function canHappen(kind: CrashKind, { label }: PlannedPoint): boolean {
    switch (kind) {
        case "raise_before":
            return !label.startsWith("after ");
        case "raise_after":
            return !label.startsWith("before ");
        case "enospc":
            return !/^(before|after|removal) /.test(label);
        default:
            return true;
    }
}

/** The points at which that can happen to an `up` that does what is planned. */
export function pointsOf(plan: Plan, kind: CrashKind): PlannedPoint[] {
    const steps = Object.entries(plan);
    const points = steps.flatMap(([name, { action }]) => pointsOfStep(name, action));
    return (steps.length === 0 ? [] : [...points, ...FOLD]).filter((point) => canHappen(kind, point));
}
