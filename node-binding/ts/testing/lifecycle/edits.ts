// What an edit makes of a resource's inputs. Drawn on their own, two inputs differ in everything, their names as well; an edit
// that changes a name replaces the resource as a rule, and `update` is never seen.
import { isDeepStrictEqual } from "node:util";
import type { Inputs } from "../stack/subject";

/** How much an edit changes: one property, some of them, any one (a name, too), or all. */
export type Extent = "one" | "some" | "any" | "all";

/** How often each extent is to be drawn. */
export const EXTENTS: readonly { weight: number; extent: Extent }[] = [
    { weight: 6, extent: "one" },
    { weight: 2, extent: "some" },
    { weight: 1, extent: "any" },
    { weight: 2, extent: "all" },
];

export const MOST_PICKS = 2 ** 16 - 1;

/** An edit as it was drawn: what it makes depends on what there is. */
export interface Edit {
    drawn: Inputs;
    extent: Extent;
    /** Says which properties it is that change. */
    pick: number;
}

/** Does a property of this name say which object is meant? */
export function isName(key: string): boolean {
    // `name`, `bucketName`, `user_name`, `hostname`; `id`, `parentId`, `parent_id`; `key`, `slug`.
    return /([Nn]ame|(^|_)id|[a-z]Id|^key|^slug)$/.test(key);
}

type IsName = (key: string) => boolean;

/** The inputs `now` with as many of the drawn properties as the extent says. */
export function edited(now: Inputs, { drawn, extent, pick }: Edit, names: IsName = isName): Inputs {
    const keys = differing(now, drawn);
    if (extent === "all" || keys.length < 2) {
        return drawn;
    }
    const others = keys.filter((key) => !names(key));
    const changing = extent === "any" || others.length === 0 ? keys : others;
    const picked =
        extent === "some"
            ? changing.filter((_, at) => ((pick >> at) & 1) === 1)
            : changing.slice(pick % changing.length).slice(0, 1);
    const taken = new Set(picked.length === 0 ? changing : picked);
    const all = [...new Set([...Object.keys(now), ...Object.keys(drawn)])];
    return Object.fromEntries(
        all.flatMap((key) => {
            const source = taken.has(key) ? drawn : now;
            return Object.hasOwn(source, key) ? [[key, source[key]]] : [];
        }),
    );
}

/**
 * The same of examples that an author wrote down: they are taken whole. Those come first that keep the names and change
 * little.
 */
export function nearest(
    now: Inputs,
    examples: readonly Inputs[],
    { drawn, extent, pick }: Edit,
    names: IsName = isName,
): Inputs {
    const others = examples.map((it) => ({ it, keys: differing(now, it) })).filter(({ keys }) => keys.length > 0);
    if (extent === "any" || extent === "all" || others.length === 0) {
        return drawn;
    }
    // One property: the nearest; some of them: any that keeps the names, or most of them.
    const distance = ({ keys }: { keys: string[] }): number =>
        keys.filter(names).length * 1e6 + (extent === "one" ? keys.length : 0);
    const least = Math.min(...others.map(distance));
    const near = others.filter((other) => distance(other) === least);
    return near[pick % near.length]?.it ?? drawn;
}

function differing(one: Inputs, other: Inputs): string[] {
    return [...new Set([...Object.keys(one), ...Object.keys(other)])]
        .filter((key) => !isDeepStrictEqual(one[key], other[key]))
        .sort();
}
