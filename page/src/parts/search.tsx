// The search of a list: what is typed counts at once, and is in the address a little later.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { adjust, route, withParams } from "../route.ts";

/** What is being typed: the address follows when it rests. */
const typed = signal<string | undefined>(undefined);

/** What is searched for. */
export function searchText(): string {
    return typed.value ?? route.value.params.q ?? "";
}

/** How long typing rests before the address is changed: browsers allow few changes in a row. */
const REST_MS = 400;

export function Search(props: {
    label: string;
    placeholder: string;
    /** How much was found. */
    found: string;
}): JSX.Element {
    const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
    useEffect(
        () => () => {
            clearTimeout(timer.current);
            typed.value = undefined;
        },
        [],
    );
    const type = (value: string) => {
        typed.value = value;
        clearTimeout(timer.current);
        timer.current = setTimeout(() => {
            adjust(withParams({ q: value }));
            typed.value = undefined;
        }, REST_MS);
    };
    return (
        <div class="search">
            <input
                type="search"
                data-search
                aria-label={props.label}
                placeholder={props.placeholder}
                value={searchText()}
                onInput={(event) => type(event.currentTarget.value)}
            />
            <span class="dim" role="status">
                {props.found}
            </span>
        </div>
    );
}
