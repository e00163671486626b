// A page that is open while the run goes on: what it is sent is put into its data.

import type { More, PageData } from "../data.ts";

/** Puts what has come to its place. Throws where the stream left something out. */
export function merge(data: PageData, more: More): void {
    if (more.resources) place(data.resources, more.resources);
    if (more.outputs) data.outputs = more.outputs;
    if (!data.run) return;
    if (more.steps) place(data.run.steps, more.steps);
    if (more.activities) place(data.run.activities, more.activities);
    if (more.diagnostics) place(data.run.diagnostics, more.diagnostics);
    if (more.run) Object.assign(data.run, more.run);
}

function place<T>(list: T[], items: [number, T][]): void {
    for (const [index, item] of items) {
        if (index > list.length) throw new Error(`the stream left out ${list.length} of a list and sent ${index}`);
        list[index] = item;
    }
}
