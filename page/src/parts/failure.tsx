// What went wrong: an error with its traceback, an unresolved create.

import type { JSX } from "preact";
import type { Activity, UnresolvedCreate } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { moment, shortType } from "../model/words.ts";
import { PropertyTable } from "./value.tsx";

/** The error of a call, with the lines of its traceback. */
export function CallError({ activity, open }: { activity: Activity; open?: boolean }): JSX.Element | null {
    if (!activity.error && !activity.traceback) return null;
    return (
        <div class="failure">
            {activity.error && <p class="message">{activity.error}</p>}
            {activity.traceback && (
                <details open={open}>
                    <summary>Traceback</summary>
                    <pre tabIndex={0}>{activity.traceback}</pre>
                </details>
            )}
        </div>
    );
}

export function Unresolved({ create, catalog }: { create: UnresolvedCreate; catalog: Catalog }): JSX.Element {
    return (
        <div class="unresolved">
            <p>
                <strong>{create.name}</strong> <span class="dim">{shortType(create.type)}</span>
                {create.since && <span class="dim"> since {moment(create.since)}</span>}
            </p>
            <p>{create.reason ?? "The outcome of its create is unknown: its object may exist."}</p>
            <details>
                <summary>URN and inputs</summary>
                <p class="urn">{create.urn}</p>
                <PropertyTable properties={create.inputs} catalog={catalog} none="No inputs." />
            </details>
        </div>
    );
}
