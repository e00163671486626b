// Small signs of a fleet's run: where a stack stands, links to stacks, bars.

import type { JSX } from "preact";
import { byWeight, opWords, whole } from "../model/words.ts";
import { address } from "../route.ts";
import type { FleetCatalog } from "./catalog.ts";
import type { FleetData, Standing } from "./data.ts";
import { BAR, signOf, toneOf } from "./words.ts";

export function StandingBadge(props: {
    standing: Standing;
    /** How many stand there. */
    many?: number;
    word?: string;
}): JSX.Element {
    const { standing, many, word = standing } = props;
    return (
        <span class={`badge tone-${toneOf(standing)}`}>
            <span aria-hidden="true">{signOf(standing)} </span>
            {many !== undefined && `${whole(many)} `}
            {word}
        </span>
    );
}

/** Where one stack stands. */
export function StackBadge({ catalog, index }: { catalog: FleetCatalog; index: number }): JSX.Element {
    const { standing } = catalog.member(index);
    return <StandingBadge standing={standing} word={catalog.wordOf(standing)} />;
}

export function StandingSign({ standing }: { standing: Standing }): JSX.Element {
    return (
        <span class={`sign tone-${toneOf(standing)}`} aria-hidden="true">
            {signOf(standing)}
        </span>
    );
}

export function StackLink({ catalog, index }: { catalog: FleetCatalog; index: number }): JSX.Element {
    const { id } = catalog.member(index);
    return <a href={address("stacks", id)}>{id}</a>;
}

/** Counts as a bar; the words beside it say the same. */
export function Bar({ counts, label }: { counts: Partial<FleetData["counts"]>; label: string }): JSX.Element {
    const parts = BAR.flatMap((name): [Standing, number][] => (counts[name] ? [[name, counts[name]]] : []));
    const all = parts.reduce((sum, [, many]) => sum + many, 0);
    const told = parts.map(([name, many]) => `${whole(many)} ${name}`).join(", ");
    return (
        <div class="standing-bar" role="img" aria-label={`${label}: ${told || "no stacks"}`}>
            {parts.map(([name, many]) => (
                <span key={name} class={`stands-${name}`} style={`width: ${(many / all) * 100}%`} />
            ))}
        </div>
    );
}

/** Resources by operation in signs: `+3 ~1`; in words for whoever does not see them. */
export function ChangeSigns({ changes }: { changes: { [op: string]: number } }): JSX.Element {
    return (
        <>
            {changedOps(changes).map((op) => (
                <span key={op} class={`change-sign tone-${opWords(op).tone}`} title={changeWords(op, changes)}>
                    <span aria-hidden="true">
                        {opWords(op).sign.replaceAll("-", "−")}
                        {whole(changes[op] ?? 0)}
                    </span>
                    <span class="hidden">{changeWords(op, changes)} </span>
                </span>
            ))}
        </>
    );
}

export function changeWords(op: string, changes: { [op: string]: number }): string {
    return `${whole(changes[op] ?? 0)} ${opWords(op).done}`;
}

/** The operations that changed something, those that destroy first. */
export function changedOps(changes: { [op: string]: number }): string[] {
    return Object.keys(changes)
        .filter((op) => op !== "same" && (changes[op] ?? 0) > 0)
        .sort(byWeight);
}
