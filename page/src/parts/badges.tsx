// Small signs: operations, states, outcomes, links to resources.

import type { JSX } from "preact";
import type { Resource } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import type { Part } from "../model/causes.ts";
import { stateWords } from "../model/filter.ts";
import { opWords, typeOf } from "../model/words.ts";
import { address } from "../route.ts";

/** The sign of an operation, as wide for each, so that names are in line. */
export function OpSign({ op, failed }: { op: string; failed?: boolean }): JSX.Element {
    const words = opWords(op);
    return (
        <span class={`sign ${failed ? "tone-failed" : `tone-${words.tone}`}`} aria-hidden="true">
            {failed ? "!" : words.sign.replaceAll("-", "−")}
        </span>
    );
}

/** An operation in words: `replaced`, `failed to create`, in a preview `replace`. */
export function OpBadge(props: { op: string; tense?: "plan" | "doing" | "done" | "failed" }): JSX.Element {
    const words = opWords(props.op);
    const tense = props.tense ?? "done";
    return (
        <span class={`badge ${tense === "failed" ? "tone-failed" : `tone-${words.tone}`}`}>
            <span aria-hidden="true">{tense === "failed" ? "!" : words.sign.replaceAll("-", "−")} </span>
            {words[tense]}
        </span>
    );
}

const BAD = new Set(["failed", "unhealthy", "tainted", "pendingDelete", "pendingReplacement"]);

export function StateBadge({ state }: { state: string }): JSX.Element {
    return <span class={`badge ${BAD.has(state) ? "tone-change" : "tone-same"}`}>{stateWords(state)}</span>;
}

export function Lock(): JSX.Element {
    return (
        <span class="lock">
            <svg viewBox="0 0 12 12" width="11" height="11" aria-hidden="true">
                <path d="M3.5 5V3.5a2.5 2.5 0 0 1 5 0V5" fill="none" stroke="currentColor" stroke-width="1.4" />
                <rect x="2" y="5" width="8" height="6" rx="1.2" fill="currentColor" />
            </svg>
            secret
        </span>
    );
}

export function ResourceLink(props: { catalog: Catalog; index: number; type?: boolean }): JSX.Element {
    const { catalog, index } = props;
    const resource = catalog.resource(index);
    if (!resource) return <span>?</span>;
    return (
        <>
            <a href={address("resources", catalog.keys[index])} title={resource.urn}>
                {resource.name}
            </a>
            {props.type && <span class="dim type"> {typeOf(resource)}</span>}
        </>
    );
}

/** Name and type in one line that is cut off where it is too long. */
export function NameAndType({ resource }: { resource: Resource }): JSX.Element {
    return (
        <span class="cut" title={resource.urn}>
            <span class={resource.gone ? "gone" : undefined}>{resource.name}</span>
            <span class="dim type"> {typeOf(resource)}</span>
        </span>
    );
}

/** A sentence about resources, each of which is a link: to its step, where it has one. */
export function Sentence({ catalog, parts }: { catalog: Catalog; parts: Part[] }): JSX.Element {
    return (
        <>
            {parts.map((part, place) => {
                if (typeof part === "string") return part;
                if ("code" in part) return <code key={place}>{part.code}</code>;
                const to =
                    part.step === undefined
                        ? address("resources", catalog.keys[part.resource])
                        : address("changes", String(part.step));
                return (
                    <a key={place} href={to}>
                        {catalog.nameOf(part.resource)}
                    </a>
                );
            })}
        </>
    );
}
