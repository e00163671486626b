// The points at which an `up` can be cut off, from its plan. By their labels they are the same in every run, whatever turns the
// resources take.
import type { CrashKind } from "../crash";
import { ask } from "../judgement";
import type { Plan } from "../stack/plan";

/** A point as the engine labels it. `ahead`: so many of the same label come before it in the run. */
export interface PlannedPoint {
    label: string;
    ahead: number;
}

/** The points at which that can happen to an `up` that does what is planned. */
export function pointsOf(plan: Plan, kind: CrashKind): PlannedPoint[] {
    const steps = Object.values(plan).map(({ action, name }) => [action, name]);
    return ask({ ask: "crash_points", steps, kind });
}
