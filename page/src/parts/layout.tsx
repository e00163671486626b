// The frame of the views: a list beside its details, sections, tabs.

import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

/** A list with the details of what is chosen: beside it, or, where that does not fit, in its place. */
export function Split(props: {
    list: ComponentChildren;
    detail: ComponentChildren;
    /** The address of the list alone; present while something is chosen. */
    back?: string | undefined;
    label: string;
    /** Has the list all the room while nothing is chosen? */
    full?: boolean;
}): JSX.Element {
    return (
        <div class={props.back ? "split chosen" : props.full ? "split full" : "split"}>
            <div class="split-list">{props.list}</div>
            <section class="split-detail" aria-label={props.label} tabIndex={props.back ? 0 : undefined}>
                {props.back && (
                    <a class="back" href={props.back}>
                        ← Back to the list
                    </a>
                )}
                {props.detail}
            </section>
        </div>
    );
}

export function Section(props: {
    title: ComponentChildren;
    children: ComponentChildren;
    /** Of what is inside, when it is folded. */
    note?: ComponentChildren;
    folded?: boolean;
}): JSX.Element {
    return (
        <details class="section" open={!props.folded}>
            <summary>
                <h3>{props.title}</h3>
                {props.note !== undefined && <span class="dim note">{props.note}</span>}
            </summary>
            <div class="section-body">{props.children}</div>
        </details>
    );
}

/** Tabs: arrow keys go from one to the other. */
export function Tabs<T extends string>(props: {
    label: string;
    tabs: [name: T, label: string][];
    chosen: T;
    onChoose: (name: T) => void;
    /** Beside the tabs. */
    beside?: ComponentChildren;
    children: ComponentChildren;
}): JSX.Element {
    const id = useId();
    const names = props.tabs.map(([name]) => name);
    const onKeyDown = (event: KeyboardEvent) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (by === undefined) return;
        const next = names[(names.indexOf(props.chosen) + by + names.length) % names.length] as T;
        props.onChoose(next);
        document.getElementById(`${id}-${next}`)?.focus();
        event.preventDefault();
    };
    return (
        <div class="tabs">
            <div class="bar">
                <div role="tablist" aria-label={props.label} class="tablist" onKeyDown={onKeyDown}>
                    {props.tabs.map(([name, label]) => (
                        <button
                            key={name}
                            id={`${id}-${name}`}
                            type="button"
                            role="tab"
                            aria-selected={name === props.chosen}
                            aria-controls={`${id}-panel`}
                            tabIndex={name === props.chosen ? 0 : -1}
                            onClick={() => props.onChoose(name)}
                        >
                            {label}
                        </button>
                    ))}
                </div>
                {props.beside}
            </div>
            <div class="tabpanel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${props.chosen}`}>
                {props.children}
            </div>
        </div>
    );
}

/** Buttons that let something through or not, with how many there are. */
export function Toggles(props: {
    label: string;
    items: [name: string, label: string, count: number | undefined][];
    on: ReadonlySet<string>;
    onChange: (on: Set<string>) => void;
}): JSX.Element | null {
    if (props.items.length === 0) return null;
    const toggle = (name: string) => {
        const on = new Set(props.on);
        if (!on.delete(name)) on.add(name);
        props.onChange(on);
    };
    return (
        <fieldset class="toggles">
            <legend class="hidden">{props.label}</legend>
            {props.items.map(([name, label, count]) => (
                <button key={name} type="button" aria-pressed={props.on.has(name)} onClick={() => toggle(name)}>
                    {label}
                    {count !== undefined && <span class="dim"> {count}</span>}
                </button>
            ))}
        </fieldset>
    );
}
