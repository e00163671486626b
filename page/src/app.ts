// What every view reads: the data, its catalog, and how the page stands to a run that goes on.

import { computed, signal } from "@preact/signals";
import type { More, PageData } from "./data.ts";
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
    version.value++;
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
    const stop = (how: Connection) => {
        source.close();
        clearTimeout(drawn);
        version.value++;
        connection.value = how;
    };
    source.addEventListener("page", (event) => {
        show(JSON.parse(event.data) as PageData);
        connection.value = "following";
    });
    source.addEventListener("more", (event) => {
        if (!current) return;
        try {
            merge(current, JSON.parse(event.data) as More);
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
