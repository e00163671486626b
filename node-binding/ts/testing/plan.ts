// What an operation would do, or did, as plain data that tests compare.
import { difference, show } from "./values";

/** What is done to a resource. */
export type Action =
    | "create"
    | "update"
    | "replace"
    | "delete"
    | "read"
    | "refresh"
    | "import"
    | "import-replacement"
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
    action: Action;
    /** By property path (`tags.a[0]`): how it differs. */
    changes: Record<string, Change>;
    /** Properties that are the reason of a replacement. */
    replaces: string[];
    /** Paths of inputs whose values are not known yet. */
    unknown: string[];
    /** Paths of inputs that are secret. */
    secret: string[];
    /** Of a replacement: is the old object deleted first? */
    deleteBeforeReplace: boolean;
}

/**
 * What is done, by the resources' names; resources of which nothing changes are not in it. A plain object: `plan.b?.action`,
 * `expect(plan).toEqual({})`. Where two resources have one name, each is under `type::name`.
 */
export type Plan = Record<string, Planned>;

/** What a test expects of one resource: the action, or those members of {@link Planned} that matter. */
export type ExpectedStep = Action | { [member in keyof Planned]?: unknown };

/** What a test expects of a plan: every resource that changes, and no other. */
export type ExpectedPlan = Record<string, ExpectedStep>;

/** A plan of these steps, in their order. */
export function planOf(steps: Planned[]): Plan {
    const changing = steps.filter(({ action }) => action !== "same" && action !== "read");
    const names = new Map<string, number>();
    for (const { name } of changing) {
        names.set(name, (names.get(name) ?? 0) + 1);
    }
    return Object.fromEntries(
        changing.map((step) => [(names.get(step.name) ?? 0) > 1 ? `${step.type}::${step.name}` : step.name, step]),
    );
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
    const lines: string[] = [];
    for (const [name, wanted] of Object.entries(expected)) {
        const step = plan[name];
        if (step === undefined) {
            lines.push(`- ${name}: expected ${show(wanted)}, but nothing is done to it`);
            continue;
        }
        const wrong = difference(typeof wanted === "string" ? step.action : step, wanted);
        if (wrong !== undefined) {
            lines.push(`  ${name}: ${wrong}${typeof wanted === "string" ? describeChanges(step) : ""}`);
        }
    }
    for (const [name, step] of Object.entries(plan)) {
        if (!Object.hasOwn(expected, name)) {
            lines.push(`+ ${name}: ${step.action}, which is not expected${describeChanges(step)}`);
        }
    }
    return lines;
}

/** A plan for people, a line for each resource and one for each property that differs. */
export function planText(plan: Plan): string {
    const lines = Object.entries(plan).flatMap(([name, step]) => [`${step.action} ${name}`, ...changeLines(step)]);
    return lines.length === 0 ? "nothing to do" : lines.join("\n");
}

function describeChanges(step: Planned): string {
    // Of a new resource everything is new, which says nothing.
    const lines = step.action === "create" || step.action === "delete" ? [] : changeLines(step);
    return lines.map((line) => `\n  ${line}`).join("");
}

/** One line for each property that differs. */
export function changeLines(step: Planned): string[] {
    return Object.entries(step.changes).map(([path, change]) => {
        const replaces = change.kind.endsWith("-replace") ? " (needs a replacement)" : "";
        const before = "old" in change ? show(change.old) : "nothing";
        const after = "new" in change ? show(change.new) : "nothing";
        return `    ${path}: ${before} -> ${after}${replaces}`;
    });
}

/** Names of resources that would be replaced. */
export function replacements(plan: Plan): string[] {
    return Object.entries(plan)
        .filter(([, { action }]) => action === "replace")
        .map(([name]) => name);
}

/** Names of resources whose objects would be deleted, by a replacement too. */
export function deletions(plan: Plan): string[] {
    return Object.entries(plan)
        .filter(([, { action }]) => action === "delete" || action === "replace")
        .map(([name]) => name);
}
