// What an edit makes of a resource's inputs; which of them change is the engine's side's to say
// (`engine-kit/src/lifecycle/edits.rs`).
import { ask } from "../judgement";
import type { Inputs } from "../stack/subject";
import { plainJson } from "../values";

/** How much an edit changes: one property, some of them, any one (a name, too), or all. */
export type Extent = "one" | "some" | "any" | "all";

/** An edit as it was drawn: what it makes depends on what there is. */
export interface Edit {
    drawn: Inputs;
    extent: Extent;
    /** Says which properties it is that change. */
    pick: number;
}

/** The inputs `now` with as many of the drawn properties as the extent says. */
export function edited(now: Inputs, edit: Edit, unique: readonly string[] = []): Inputs {
    const taken = new Set(ask<string[]>({ ask: "edit", edit: plainJson({ now, ...edit, unique }) }));
    const all = [...new Set([...Object.keys(now), ...Object.keys(edit.drawn)])];
    return Object.fromEntries(
        all.flatMap((key) => {
            const source = taken.has(key) ? edit.drawn : now;
            return Object.hasOwn(source, key) ? [[key, source[key]]] : [];
        }),
    );
}

/** The same of examples that an author wrote down: they are taken whole. */
export function nearest(now: Inputs, examples: readonly Inputs[], edit: Edit, unique: readonly string[] = []): Inputs {
    const asked = plainJson({ edit: { now, ...edit, unique }, examples }) as Record<string, unknown>;
    const number = ask<number | null>({ ask: "nearest_example", ...asked });
    return (number === null ? undefined : examples[number]) ?? edit.drawn;
}
