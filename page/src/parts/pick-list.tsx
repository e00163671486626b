// A list or tree of which one row is chosen: by mouse, by arrow keys, by its first letters. Only what is on the screen is drawn.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { printing } from "../app.ts";
import { MOST_PRINTED, useWindow } from "./virtual.ts";

interface Props {
    role: "tree" | "listbox";
    label: string;
    count: number;
    /** Pixels of a row. */
    size: (index: number) => number;
    selected: number | undefined;
    /** `move`: the keyboard is on it; `open`: it is chosen. */
    onPick: (index: number, how: "move" | "open") => void;
    row: (index: number) => ComponentChildren;
    /** What a screen reader is told besides. */
    aria?: (index: number) => { [name: `aria-${string}`]: string | number | boolean };
    /** Other keys; returns the row to go to, or `true` where the key was its own. */
    onKey?: (key: string, index: number) => number | boolean | undefined;
    empty: string;
}

export function PickList(props: Props): JSX.Element {
    const { role, label, count, size, selected, onPick, row, aria, onKey, empty } = props;
    const id = useId();
    const { scroller, rows, height, scrollTo } = useWindow(count, size);
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
            tabIndex={0}
            aria-activedescendant={rows.some((item) => item.index === at) ? `${id}-${at}` : undefined}
            onKeyDown={onKeyDown}
        >
            <div class="all" role="presentation" style={printed ? undefined : `height: ${height}px`}>
                {rows.map((item) => (
                    <div
                        key={item.key}
                        id={`${id}-${item.index}`}
                        role={role === "tree" ? "treeitem" : "option"}
                        class={item.index === at ? "row active" : "row"}
                        style={printed ? undefined : `transform: translateY(${item.start}px); height: ${item.size}px`}
                        aria-selected={item.index === selected}
                        aria-setsize={role === "tree" ? undefined : count}
                        aria-posinset={role === "tree" ? undefined : item.index + 1}
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
            {printed && count > MOST_PRINTED && (
                <p>
                    The first {MOST_PRINTED} of {count} are printed.
                </p>
            )}
        </div>
    );
}
