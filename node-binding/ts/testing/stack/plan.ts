// What an operation would do, or did, as plain data that tests compare.
import { ask } from "../judgement";
import { difference, show } from "../values";

/** What is done to a resource. `delete`, of a refresh: its object is gone; `delete-with`: it goes with its owner. */
export type Action =
    | "create"
    | "update"
    | "replace"
    | "delete"
    | "delete-with"
    | "retain"
    | "read"
    | "import"
    | "discard"
    | "same";

/** How one property differs. */
export interface Change {
    /** `add`, `delete` or `update`, with `-replace` behind it where it needs a replacement. */
    kind: string;
    /** The value before; absent where there was none. Secrets show as `[secret]`. */
    old?: unknown;
    /** The value after; absent where there will be none, `[unknown]` where it is not known yet. */
    new?: unknown;
}

/** What is done to one resource. */
export interface Planned {
    name: string;
    type: string;
    urn: string;
    /** Its parent's URN; null without one. */
    parent: string | null;
    action: Action;
    /** The engine's steps, in order. */
    ops: string[];
    /** By property path (`tags.a[0]`): how it differs. */
    changes: Record<string, Change>;
    /** Properties that are the reason of a replacement. */
    replaces: string[];
    /** Paths of inputs whose values are not known yet. */
    unknown: string[];
    /** Paths of inputs and outputs that are secret. */
    secret: string[];
    /** Of a replacement: is the old object deleted first? */
    deleteBeforeReplace: boolean;
    /** The object's id after the step; empty when it has none, or it is not known yet. */
    id: string;
    /** Its id before the step. */
    oldId: string;
    /** The inputs; what is secret is `[secret]`. */
    inputs: Record<string, unknown>;
    /** Did a step fail? */
    failed: boolean;
    /** Was a step begun that did not come to its end (a crash)? */
    open: boolean;
    /** Has it a provider? Components have none. */
    custom: boolean;
}

/**
 * What is done, by the resources' names; resources that do not change are not in it. A plain object: `plan.b?.action`,
 * `expect(plan).toEqual({})`. Where two resources have one name, each is under `type::name`.
 */
export type Plan = Record<string, Planned>;

/** What a test expects of one resource: the action, or those members of {@link Planned} that matter. */
export type ExpectedStep = Action | { [member in keyof Planned]?: unknown };

/** What a test expects of a plan: every resource that changes, and no other. */
export type ExpectedPlan = Record<string, ExpectedStep>;

/** What a plan must not do; engine-kit/src/plan_assertions.rs says what each forbids. */
export type Demand = "no_changes" | "no_replacements" | "no_deletions" | "upgrade_safe";

/** A plan of these steps, in their order, each with its key. */
export function planOf(steps: [key: string, step: Planned][]): Plan {
    return Object.fromEntries(steps.filter(([, { action }]) => action !== "same" && action !== "read"));
}

/** Is it a plan, and not a promise of one or something else? */
export function isPlan(value: unknown): value is Plan {
    return (
        value !== null &&
        typeof value === "object" &&
        !Array.isArray(value) &&
        Object.values(value).every((step) => typeof (step as Partial<Planned> | null)?.action === "string")
    );
}

/** How a plan differs from what was expected, a line for each resource; empty when it does not. */
export function planDifferences(plan: Plan, expected: ExpectedPlan): string[] {
    const wishes = Object.entries(expected).map(([key, wanted]) => {
        const step = Object.hasOwn(plan, key) ? plan[key] : undefined;
        const wrong =
            step === undefined ? undefined : difference(typeof wanted === "string" ? step.action : step, wanted);
        return { key, shown: show(wanted), mismatches: wrong === undefined ? [] : [wrong] };
    });
    return ask({ ask: "plan_differences", steps: stepsOf(plan), expected: wishes });
}

/** A plan for people, a line for each resource and one for each property that differs. */
export function planText(plan: Plan): string {
    return ask({ ask: "plan_text", steps: stepsOf(plan) });
}

/** Whether a plan meets a demand, and why a test that asserts the opposite fails. */
export function judgePlan(plan: Plan, demand: Demand): { holds: boolean; text: string } {
    return ask({ ask: "plan_demand", steps: stepsOf(plan), demand });
}

// A test may have put a plan together of a few entries, under names of its own.
function stepsOf(plan: Plan): unknown[] {
    return Object.entries(plan).map(([key, { action, changes, replaces, deleteBeforeReplace, failed }]) => ({
        key,
        action,
        changes,
        replaces,
        deleteBeforeReplace,
        failed,
    }));
}
