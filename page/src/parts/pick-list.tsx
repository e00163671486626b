// A list, tree or table of which one row is chosen: by mouse, by arrow keys, by its first letters. Only what is on the screen is drawn.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { printing } from "../app.ts";
import { MAX_PRINTED, useWindow } from "./virtual.ts";

interface Props {
    role: "tree" | "listbox" | "grid";
    label: string;
    count: number;
    /** Pixels of a row. */
    size: (index: number) => number;
    selected: number | undefined;
    /** `move`: the keyboard is on it; `open`: it is chosen. */
    onPick: (index: number, how: "move" | "open") => void;
    row: (index: number) => ComponentChildren;
    /** The row of the columns' names, of a table; it stays where it is when the others move. */
    head?: ComponentChildren;
    /** Pixels of that row. */
    headSize?: number;
    /** A class of every row. */
    rowClass?: string;
    /** How the rows are ordered: in another order the list begins at its first row, unless one is chosen. */
    order?: unknown;
    /** What a screen reader is told besides. */
    aria?: (index: number) => { [name: `aria-${string}`]: string | number | boolean };
    /** Other keys; returns the row to go to, or `true` where the key was its own. */
    onKey?: (key: string, index: number) => number | boolean | undefined;
    empty: string;
}

const ITEMS = { tree: "treeitem", listbox: "option", grid: "row" } as const;

export function PickList(props: Props): JSX.Element {
    const { role, label, count, size, selected, onPick, row, aria, onKey, empty, head, headSize = 0 } = props;
    const id = useId();
    const { scroller, rows, height, scrollTo } = useWindow(count, size, false, headSize);
    const [active, setActive] = useState(selected ?? 0);
    const asked = useRef(selected);
    const seen = useRef(selected);
    const at = Math.min(active, Math.max(count - 1, 0));

    // What was chosen elsewhere is brought onto the screen, before the next key: what a key chose comes back later than its row is drawn.
    useLayoutEffect(() => {
        if (selected === seen.current) return;
        seen.current = selected;
        const isOwn = selected === asked.current;
        asked.current = selected;
        if (isOwn || selected === undefined) return;
        setActive(selected);
        scrollTo(selected);
    });
    useEffect(() => {
        if (selected !== undefined) scrollTo(selected);
    }, []);
    useEffect(() => {
        if (selected !== undefined) return;
        setActive(0);
        scrollTo(0);
    }, [props.order]);

    const move = (to: number) => {
        const next = Math.max(0, Math.min(count - 1, to));
        asked.current = next;
        setActive(next);
        scrollTo(next);
        onPick(next, "move");
    };
    const page = () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / Math.max(size(at), 1)) - 1);
    const keys: { [key: string]: () => void } = {
        ArrowDown: () => move(at + 1),
        ArrowUp: () => move(at - 1),
        PageDown: () => move(at + page()),
        PageUp: () => move(at - page()),
        Home: () => move(0),
        End: () => move(count - 1),
        Enter: () => onPick(at, "open"),
        " ": () => onPick(at, "open"),
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return;
        // The buttons of a table's head have keys of their own.
        if ((event.target as Element).closest("button")) return;
        const own = onKey?.(event.key, at);
        if (typeof own === "number") move(own);
        else if (!own) {
            const known = keys[event.key];
            if (!known) return;
            known();
        }
        event.preventDefault();
    };
    if (count === 0) return <p class="empty">{empty}</p>;
    const printed = printing.value;
    return (
        <div
            ref={scroller}
            class="scroll pick"
            role={role}
            aria-label={label}
            aria-rowcount={role === "grid" ? count + 1 : undefined}
            tabIndex={0}
            aria-activedescendant={rows.some((item) => item.index === at) ? `${id}-${at}` : undefined}
            onKeyDown={onKeyDown}
        >
            {head}
            <div
                class="all"
                role={role === "grid" ? "rowgroup" : "presentation"}
                style={printed ? undefined : `height: ${height}px`}
            >
                {rows.map((item) => (
                    <div
                        key={item.key}
                        id={`${id}-${item.index}`}
                        role={ITEMS[role]}
                        class={`row${item.index === at ? " active" : ""}${props.rowClass ? ` ${props.rowClass}` : ""}`}
                        style={printed ? undefined : `transform: translateY(${item.start}px); height: ${item.size}px`}
                        aria-selected={item.index === selected}
                        aria-setsize={role === "listbox" ? count : undefined}
                        aria-posinset={role === "listbox" ? item.index + 1 : undefined}
                        aria-rowindex={role === "grid" ? item.index + 2 : undefined}
                        {...aria?.(item.index)}
                        onClick={() => {
                            asked.current = item.index;
                            setActive(item.index);
                            onPick(item.index, "open");
                        }}
                    >
                        {row(item.index)}
                    </div>
                ))}
            </div>
            {printed && count > MAX_PRINTED && (
                <p>
                    The first {MAX_PRINTED} of {count} are printed.
                </p>
            )}
        </div>
    );
}
