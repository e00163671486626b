// The plan that was shown before the run, and what became of it.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { goesOn } from "../app.ts";
import type { Catalog } from "../model/catalog.ts";
import { type Departure, planAgainstResult, whyItDiffers } from "../model/plan.ts";
import { mainStep } from "../model/step-rows.ts";
import { count, whole } from "../model/words.ts";
import { OpBadge, ResourceLink, Sentence } from "../parts/badges.tsx";
import { address } from "../route.ts";

/** More rows than these are not listed: those that differ come first. */
const MAX_ROWS = 500;

export function Plan({ catalog }: { catalog: Catalog }): JSX.Element {
    const { run } = catalog.data;
    const going = run !== undefined && goesOn(run);
    const rows = useMemo(() => planAgainstResult(catalog, going), [catalog, going]);
    const differs = rows.filter((row) => row.differs).length;
    return (
        <div class="plan">
            <p>
                {differs === 0
                    ? `What was planned is what was done${going ? " so far" : ""}.`
                    : `${count(differs, "resource")} ${differs === 1 ? "differs" : "differ"} from the plan, and ${differs === 1 ? "comes" : "come"} first.`}
            </p>
            <table>
                <thead>
                    <tr>
                        <th scope="col">Resource</th>
                        <th scope="col">Planned</th>
                        <th scope="col">Done</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, MAX_ROWS).map((row) => (
                        <Row key={row.resource} catalog={catalog} row={row} />
                    ))}
                </tbody>
            </table>
            {rows.length > MAX_ROWS && <p class="dim">and {whole(rows.length - MAX_ROWS)} more</p>}
        </div>
    );
}

/** What was planned and done of a resource; where these differ, a second row says why. */
function Row({ catalog, row }: { catalog: Catalog; row: Departure }): JSX.Element {
    const why = whyItDiffers(catalog, row);
    return (
        <>
            <tr class={why.length > 0 ? "explained" : undefined}>
                <th scope="row">
                    {row.differs && <span class={`badge tone-${row.failed ? "failed" : "change"}`}>differs</span>}{" "}
                    <ResourceLink catalog={catalog} index={row.resource} type />
                </th>
                <td>{row.planned ? <OpBadge op={row.planned} tense="plan" /> : <span class="dim">nothing</span>}</td>
                <td>
                    {row.done ? (
                        <a href={stepAddress(catalog, row.resource)}>
                            <OpBadge op={row.done} tense={row.failed ? "failed" : row.running ? "doing" : "done"} />
                        </a>
                    ) : (
                        <span class="dim">{row.differs ? "not done" : "not yet"}</span>
                    )}
                </td>
            </tr>
            {why.length > 0 && (
                <tr>
                    <td colSpan={3} class="why-cell">
                        <Sentence catalog={catalog} parts={why} />
                    </td>
                </tr>
            )}
        </>
    );
}

function stepAddress(catalog: Catalog, resource: number): string {
    const step = mainStep(catalog.data.run?.steps ?? [], catalog.fate(resource)?.steps ?? []);
    return address("changes", String(step));
}
