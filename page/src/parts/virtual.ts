// A list of which only the rows on the screen are in the document.

import {
    elementScroll,
    measureElement,
    observeElementOffset,
    observeElementRect,
    type VirtualItem,
    Virtualizer,
} from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { printing } from "../app.ts";

/** More rows than this are not printed. */
export const MAX_PRINTED = 2000;

export interface Window {
    /** The element that scrolls. */
    scroller: { current: HTMLDivElement | null };
    rows: VirtualItem[];
    /** Pixels of all rows together. */
    height: number;
    measure: (element: HTMLElement | null) => void;
    scrollTo: (index: number) => void;
}

/**
 * `size`: pixels of a row, exactly, or a guess where rows are measured. `head`: pixels of what stands above the rows and stays there
 * when they move.
 */
export function useWindow(count: number, size: (index: number) => number, measured = false, head = 0): Window {
    const scroller = useRef<HTMLDivElement | null>(null);
    const [, redraw] = useReducer((n: number) => n + 1, 0);
    const made = useRef<Virtualizer<HTMLDivElement, HTMLElement> | null>(null);
    const options = {
        count,
        getScrollElement: () => scroller.current,
        estimateSize: size,
        scrollToFn: elementScroll,
        observeElementRect,
        observeElementOffset,
        overscan: 12,
        // The rows begin below the head: the last one on the screen ends that much further down.
        scrollPaddingEnd: head,
        onChange: () => redraw(0),
        ...(measured ? { measureElement } : {}),
    };
    made.current ??= new Virtualizer<HTMLDivElement, HTMLElement>(options);
    const virtual = made.current;
    virtual.setOptions(options);
    const sizes = useRef(size);
    if (sizes.current !== size) {
        sizes.current = size;
        if (!measured) virtual.measure();
    }
    useLayoutEffect(() => virtual._didMount(), [virtual]);
    useLayoutEffect(() => virtual._willUpdate());
    const all = printing.value;
    return {
        scroller,
        rows: all ? everything(count, size) : virtual.getVirtualItems(),
        height: virtual.getTotalSize(),
        measure: measured ? (element) => virtual.measureElement(element) : () => {},
        scrollTo: (index) => virtual.scrollToIndex(index, { align: "auto" }),
    };
}

function everything(count: number, size: (index: number) => number): VirtualItem[] {
    return Array.from({ length: Math.min(count, MAX_PRINTED) }, (_, index) => ({
        key: index,
        index,
        start: 0,
        end: 0,
        size: size(index),
        lane: 0,
    }));
}
