// What every view reads: the data, its catalog, and how the page stands to a run that goes on.

import { computed, signal } from "@preact/signals";
import type { More, PageData, Run } from "./data.ts";
import { Catalog } from "./model/catalog.ts";
import { merge } from "./model/live.ts";

/** `file`: a page from the disk. The others: a page that is served while the run goes on. */
export type Connection = "file" | "connecting" | "following" | "ended" | "lost";

export const connection = signal<Connection>("file");

/** Grows when the data have changed: they are changed in place. */
const version = signal(0);
let current: PageData | undefined;

export const catalog = computed<Catalog | undefined>(() => {
    version.value;
    return current && new Catalog(current);
});

export function show(data: PageData): void {
    current = data;
    received = performance.now();
    version.value++;
}

/** When the duration in the data was true. */
let received = 0;
/** The time while a run is followed; it stands still otherwise. */
const clock = signal(0);
const TICK_MS = 500;

/** Is this the page of a run that goes on now? */
export function goesOn(run: Run): boolean {
    return connection.value === "following" && run.outcome === "unfinished";
}

/** How long a run has taken, in milliseconds: between what comes of one that goes on, too. */
export function elapsed(run: Run): number {
    return goesOn(run) ? run.duration + Math.max(0, clock.value - received) : run.duration;
}

/** Is the page being printed? Then lists show everything, not only what is on the screen. */
export const printing = signal(false);

export function followPrinting(): void {
    const print = matchMedia("print");
    const set = (is: boolean) => {
        printing.value = is;
    };
    print.addEventListener("change", () => set(print.matches));
    addEventListener("beforeprint", () => set(true));
    addEventListener("afterprint", () => set(false));
}

/** How often a page that follows a run is drawn anew, at most. */
const REDRAW_MS = 200;

/** Follows the run: `page` brings the whole document, `more` what has come since. The stream ends with the run. */
export function follow(): void {
    connection.value = "connecting";
    const source = new EventSource(`events${location.search}`);
    let drawn: ReturnType<typeof setTimeout> | undefined;
    const ticking = setInterval(() => {
        clock.value = performance.now();
    }, TICK_MS);
    const stop = (how: Connection) => {
        source.close();
        clearTimeout(drawn);
        clearInterval(ticking);
        version.value++;
        connection.value = how;
    };
    source.addEventListener("page", (event) => {
        const data = JSON.parse(event.data) as PageData;
        // It is that of what had been done then, and comes anew at the end.
        if (data.run?.outcome === "unfinished") data.run.criticalPath = [];
        show(data);
        connection.value = "following";
    });
    source.addEventListener("more", (event) => {
        if (!current) return;
        try {
            merge(current, JSON.parse(event.data) as More);
            received = performance.now();
        } catch {
            // Something was left out: what is shown would be wrong from here on.
            return stop("lost");
        }
        drawn ??= setTimeout(() => {
            drawn = undefined;
            version.value++;
        }, REDRAW_MS);
    });
    // The browser would connect again, for ever: the stream ends once.
    source.addEventListener("error", () => {
        const outcome = current?.run?.outcome;
        stop(outcome !== undefined && outcome !== "unfinished" ? "ended" : "lost");
    });
}
