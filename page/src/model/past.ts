// The operations of the past, and the run of the page among them.

import type { HistoryItem, PageData, PastOperation } from "../data.ts";
import type { Catalog } from "./catalog.ts";

/** An operation in the list of the past. */
export interface Entry {
    /** What names it in an address: its version, or `this`. */
    key: string;
    item: HistoryItem;
    /** Is it the run of the page? */
    current: boolean;
}

/** The key of a run that has no number yet. */
export const THIS = "this";

/** The operations, newest first: the run of the page too, also where the history does not have it yet. */
export function entries(data: PageData): Entry[] {
    const { run, history } = data;
    const past = history.map(
        (item): Entry => ({ key: String(item.version), item, current: item.version === run?.version }),
    );
    if (!run || run.dryRun || past.some((entry) => entry.current)) return past;
    const { kind, outcome, began, duration, changes, message } = run;
    const item: HistoryItem = { version: 0, kind, result: outcome, began, duration, changes };
    if (message) item.message = message;
    return [{ key: THIS, item, current: true }, ...past];
}

export interface PastChange {
    resource: number;
    operation: PastOperation;
}

/** What an operation of the past did to the resources of the page, in their order. */
export function changesOf(catalog: Catalog, version: number): PastChange[] {
    return catalog.data.resources.flatMap(({ operations }, resource) =>
        (operations ?? []).flatMap((operation) => (operation.version === version ? [{ resource, operation }] : [])),
    );
}
