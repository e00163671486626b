// Property values. Everything of a user is text here: nothing is ever read as markup.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Properties, PropertyValue, Special } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { count, whole } from "../model/words.ts";
import { Lock, ResourceLink } from "./badges.tsx";

/** Longer texts and lists are shown whole on demand. */
const LONG_TEXT = 600;
const LONG_LIST = 100;

export function isSpecial(value: PropertyValue | undefined): value is Special {
    return typeof value === "object" && value !== null && !Array.isArray(value) && typeof value.$ === "string";
}

/** A value, over as many lines as it needs. */
export function Value({ value, catalog }: { value: PropertyValue | undefined; catalog: Catalog }): JSX.Element {
    if (value === undefined) return <span class="dim">absent</span>;
    if (isSpecial(value)) {
        if (value.$ === "object") return <Members members={value.members} catalog={catalog} />;
        return <SpecialValue value={value} catalog={catalog} />;
    }
    if (Array.isArray(value)) {
        if (value.length === 0) return <span class="v-empty">[]</span>;
        return <Entries entries={value.map((item, index) => [`[${index}]`, item])} catalog={catalog} />;
    }
    if (typeof value === "object" && value !== null) {
        return <Members members={value as Properties} catalog={catalog} />;
    }
    if (typeof value === "string") return <LongText text={value} />;
    return <span class="v-plain">{String(value)}</span>;
}

function Members({ members, catalog }: { members: Properties; catalog: Catalog }): JSX.Element {
    const entries = Object.entries(members);
    if (entries.length === 0) return <span class="v-empty">{"{}"}</span>;
    return <Entries entries={entries} catalog={catalog} />;
}

function Entries({ entries, catalog }: { entries: [string, PropertyValue][]; catalog: Catalog }): JSX.Element {
    const [all, setAll] = useState(false);
    const shown = all ? entries : entries.slice(0, LONG_LIST);
    return (
        <ul class="v-members">
            {shown.map(([name, item]) => (
                <li key={name}>
                    <span class="v-name">{name}</span> <Value value={item} catalog={catalog} />
                </li>
            ))}
            {shown.length < entries.length && (
                <li>
                    <button type="button" class="link" onClick={() => setAll(true)}>
                        Show all {whole(entries.length)}
                    </button>
                </li>
            )}
        </ul>
    );
}

function SpecialValue({ value, catalog }: { value: Special; catalog: Catalog }): ComponentChildren {
    switch (value.$) {
        case "secret":
            return <Lock />;
        case "unknown":
            return <span class="v-special">not known yet</span>;
        case "resource": {
            const index = catalog.byUrn.get(value.text);
            return index === undefined ? (
                <span class="v-text">{value.text}</span>
            ) : (
                <ResourceLink catalog={catalog} index={index} type />
            );
        }
        case "number":
            return <span class="v-plain">{value.text}</span>;
        case "asset":
        case "archive":
            return (
                <span>
                    <span class="v-special">{value.$}</span> <span class="v-text">{value.text}</span>
                </span>
            );
        case "object":
            return null;
    }
}

function LongText({ text }: { text: string }): JSX.Element {
    const [all, setAll] = useState(false);
    if (text === "") return <span class="v-empty">""</span>;
    if (all || text.length <= LONG_TEXT) return <span class="v-text">{text}</span>;
    return (
        <span>
            <span class="v-text">{text.slice(0, LONG_TEXT)}…</span>{" "}
            <button type="button" class="link" onClick={() => setAll(true)}>
                Show all {count(text.length, "character")}
            </button>
        </span>
    );
}

/** A value in one line, for lists. */
export function brief(value: PropertyValue | undefined): string {
    if (value === undefined) return "absent";
    if (value === null || typeof value === "boolean" || typeof value === "number") return String(value);
    if (typeof value === "string") return JSON.stringify(value.length > 120 ? `${value.slice(0, 120)}…` : value);
    if (isSpecial(value)) {
        if (value.$ === "secret") return "secret";
        if (value.$ === "unknown") return "not known yet";
        if (value.$ === "object") return `{ ${Object.keys(value.members).slice(0, 6).join(", ")} }`;
        return value.$ === "number" ? value.text : `${value.$} ${value.text}`;
    }
    if (Array.isArray(value)) {
        if (value.length > 6) return `[ ${whole(value.length)} items ]`;
        return `[${value.map(brief).join(", ")}]`;
    }
    const keys = Object.keys(value);
    return keys.length === 0 ? "{}" : `{ ${keys.slice(0, 6).join(", ")}${keys.length > 6 ? ", …" : ""} }`;
}

/** A table of properties. */
export function PropertyTable(props: {
    properties: Properties | undefined;
    catalog: Catalog;
    none: string;
}): JSX.Element {
    const entries = Object.entries(props.properties ?? {});
    if (entries.length === 0) return <p class="dim">{props.none}</p>;
    return (
        <dl class="properties">
            {entries.map(([name, value]) => (
                <div key={name}>
                    <dt>{name}</dt>
                    <dd>
                        <Value value={value} catalog={props.catalog} />
                    </dd>
                </div>
            ))}
        </dl>
    );
}
