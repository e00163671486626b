// What differs of a resource, property by property; and why it is replaced.

import type { JSX } from "preact";
import type { Change, Step } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { chain, sentence } from "../model/causes.ts";
import { family, opWords } from "../model/words.ts";
import { Sentence } from "./badges.tsx";
import { Value } from "./value.tsx";

const KINDS = { add: "added", delete: "removed", update: "changed" };

export function ChangeTable({ changes, catalog }: { changes: Change[]; catalog: Catalog }): JSX.Element {
    return (
        <table class="changes">
            <thead>
                <tr>
                    <th scope="col">Property</th>
                    <th scope="col">Old</th>
                    <th scope="col">New</th>
                </tr>
            </thead>
            <tbody>
                {changes.map((change) => (
                    <tr key={change.path} class={`kind-${change.kind}`}>
                        <th scope="row">
                            <span class="path">{change.path}</span>
                            <span class="dim kind">
                                {KINDS[change.kind]}
                                {change.replace && <span class="badge tone-replace">replaces</span>}
                            </span>
                        </th>
                        <td class="old">
                            {change.kind === "add" ? <None /> : <Value value={change.old} catalog={catalog} />}
                        </td>
                        <td class="new">
                            {change.kind === "delete" ? <None /> : <Value value={change.new} catalog={catalog} />}
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function None(): JSX.Element {
    return (
        <span class="dim">
            <span aria-hidden="true">–</span>
            <span class="hidden">none</span>
        </span>
    );
}

/** Why a step is taken: the chain of replacements that led to it, root first; and what follows from it. */
export function Why({ catalog, step, index }: { catalog: Catalog; step: Step; index: number }): JSX.Element | null {
    const links = chain(catalog, step, index);
    const follows = family(step.op) === "replace" ? consequences(catalog, step.resource) : [];
    const root = links[0];
    const nothing = links.length === 1 && root && root.keys.length === 0 && !root.note && family(step.op) !== "replace";
    if (nothing && follows.length === 0) return null;
    const verb = catalog.data.run?.dryRun ? "would be replaced" : "is replaced";
    return (
        <div class="why">
            <h3>Why</h3>
            <ol class="chain">
                {links.map((link, place) => (
                    <li key={link.resource} aria-current={place === links.length - 1 ? "true" : undefined}>
                        <Sentence
                            catalog={catalog}
                            parts={sentence(
                                link,
                                family(opOf(catalog, link.step) ?? step.op) === "replace"
                                    ? verb
                                    : `is ${opWords(opOf(catalog, link.step) ?? step.op).done}`,
                            )}
                        />
                    </li>
                ))}
            </ol>
            {follows.length > 0 && (
                <p>
                    Because of this:{" "}
                    {follows.map((at, place) => (
                        <span key={at}>
                            {place > 0 && ", "}
                            <Sentence catalog={catalog} parts={[{ resource: stepResource(catalog, at), step: at }]} />
                        </span>
                    ))}
                    .
                </p>
            )}
        </div>
    );
}

function opOf(catalog: Catalog, step: number | undefined): string | undefined {
    return step === undefined ? undefined : catalog.data.run?.steps[step]?.op;
}

function stepResource(catalog: Catalog, step: number): number {
    return catalog.data.run?.steps[step]?.resource ?? -1;
}

/** One step for each resource that is replaced because of this one. */
function consequences(catalog: Catalog, resource: number): number[] {
    const by = new Map<number, number>();
    for (const at of catalog.consequencesOf(resource)) {
        const other = stepResource(catalog, at);
        if (!by.has(other)) by.set(other, at);
    }
    return [...by.values()].slice(0, 50);
}
