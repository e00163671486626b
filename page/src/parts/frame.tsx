// The frame of a page: its title, its views, what is said above them, and the keys that work everywhere.

import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { address, type View } from "../route.ts";

/** The title of the browser's tab, and `/`, which leads to the search of the view. */
export function useFrame(title: string): void {
    useEffect(() => {
        document.title = title;
    });
    useEffect(() => {
        const onKeyDown = (event: KeyboardEvent) => {
            const target = event.target as Element;
            if (event.key !== "/" || event.ctrlKey || event.metaKey || target.matches("input, textarea, select"))
                return;
            const search = document.querySelector<HTMLInputElement>("[data-search]");
            if (!search) return;
            event.preventDefault();
            search.focus();
            search.select();
        };
        addEventListener("keydown", onKeyDown);
        return () => removeEventListener("keydown", onKeyDown);
    }, []);
}

export function Frame<T extends View>(props: {
    title: ComponentChildren;
    views: readonly T[];
    view: T;
    names: { [view in T]: string };
    /** What stands beside the name of a view. */
    beside?: (view: T) => ComponentChildren;
    /** Above the view. */
    above: ComponentChildren;
    children: ComponentChildren;
}): JSX.Element {
    const { views, view, names } = props;
    return (
        <>
            {/* biome-ignore lint/a11y/useValidAnchor: it goes to a place of the page, which the address can not name */}
            <a
                class="skip"
                href="#main"
                onClick={(event) => {
                    // The address behind # is that of the view.
                    event.preventDefault();
                    document.getElementById("main")?.focus();
                }}
            >
                Skip to the content
            </a>
            <header class="top">
                {props.title}
                <nav aria-label="Views">
                    {views.map((name) => (
                        <a key={name} href={address(name)} aria-current={name === view ? "page" : undefined}>
                            {names[name]}
                            {props.beside?.(name)}
                        </a>
                    ))}
                </nav>
            </header>
            {props.above}
            <main id="main" tabIndex={-1} class={`view-${view}`}>
                {props.children}
            </main>
        </>
    );
}

/** A number beside the name of a view, such as that of its errors. */
export function Many({ number, one, several }: { number: number; one: string; several: string }): JSX.Element | null {
    if (number === 0) return null;
    return (
        <span class="many">
            {number}
            <span class="hidden"> {number === 1 ? one : several}</span>
        </span>
    );
}
