// The rows of the list of steps: a replacement is one row, which unfolds into its steps.

import type { Step } from "../data.ts";
import { family } from "./words.ts";

export interface StepRow {
    /** The index of the step that says most: what is shown while it is folded. */
    main: number;
    /** Indices of all of its steps, in their order; a single one: there is nothing to unfold. */
    parts: number[];
    /** The operation by which it is found. */
    op: string;
    failed: boolean;
    running: boolean;
}

/** What a replacement is called by, best first. */
const MAIN = ["replace", "create-replacement", "import-replacement", "read-replacement"];

/** The rows, each at the place of its first step. */
export function stepRows(steps: readonly Step[]): StepRow[] {
    const rows: StepRow[] = [];
    const replacements = new Map<number, StepRow>();
    steps.forEach((step, index) => {
        const op = family(step.op);
        const known = op === "replace" ? replacements.get(step.resource) : undefined;
        if (known) {
            known.parts.push(index);
            known.failed ||= step.status === "failed";
            known.running ||= step.status === "running";
            if (rank(step.op) < rank(steps[known.main]?.op ?? "")) known.main = index;
            return;
        }
        const [failed, running] = [step.status === "failed", step.status === "running"];
        const row: StepRow = { main: index, parts: [index], op, failed, running };
        rows.push(row);
        if (op === "replace") replacements.set(step.resource, row);
    });
    return rows;
}

function rank(op: string): number {
    const place = MAIN.indexOf(op);
    return place < 0 ? MAIN.length : place;
}

/** The step of a row that has the properties which changed. */
export function changing(steps: readonly Step[], row: StepRow): Step | undefined {
    const has = (at: number) => (steps[at]?.changes?.length ?? 0) > 0;
    return steps[has(row.main) ? row.main : (row.parts.find(has) ?? row.main)];
}

/** The step of a row by which it failed, or that still runs; else its main one. */
export function telling(steps: readonly Step[], row: StepRow): Step | undefined {
    const like = (status: Step["status"]) => row.parts.find((at) => steps[at]?.status === status);
    return steps[like("failed") ?? like("running") ?? row.main];
}

/** A line of the list: a row, or one of the steps into which it is unfolded. */
export interface StepLine {
    row: StepRow;
    /** The step; of a row its main one. */
    index: number;
    /** Is it one of the other steps of a row? */
    part: boolean;
}

/** The lines of the list: `unfolded` says by the main step which rows are; the one with the chosen step is, too. */
export function stepLines(rows: StepRow[], unfolded: ReadonlySet<number>, selected: number | undefined): StepLine[] {
    return rows.flatMap((row): StepLine[] => {
        const first: StepLine = { row, index: row.main, part: false };
        if (row.parts.length < 2) return [first];
        const inside = selected !== undefined && selected !== row.main && row.parts.includes(selected);
        if (!unfolded.has(row.main) && !inside) return [first];
        const others = row.parts.filter((index) => index !== row.main);
        return [first, ...others.map((index) => ({ row, index, part: true }))];
    });
}

/** Of some steps of a resource the one that its row is about: of one that was refreshed and changed, the change. */
export function mainStep(all: readonly Step[], steps: readonly number[]): number | undefined {
    const rows = stepRows(steps.flatMap((at) => all[at] ?? []));
    const row = rows.find(({ op }) => op !== "same" && op !== "refresh") ?? rows[0];
    return row && steps[row.main];
}
