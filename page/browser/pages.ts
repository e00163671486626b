// Writes the pages that the tests open, as the engine writes them: the form, with data in it.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fleetRun, hostileFleet } from "../fixtures/fleet.ts";
import { filled, hostile, many, service, stackAlone, unfinished } from "../fixtures/make.ts";

const MADE = join(import.meta.dirname, "..", "dist", "tests");
export const FORM = join(import.meta.dirname, "..", "dist", "page.html");

export const PAGES = {
    service,
    large: () => many(10_000),
    hostile,
    unfinished,
    stack: stackAlone,
    fleet: () => fleetRun(1000),
    "fleet-large": () => fleetRun(10_000),
    "fleet-hostile": hostileFleet,
};

export type Name = keyof typeof PAGES;

export function pathOf(name: Name): string {
    return join(MADE, `${name}.html`);
}

export default function write(): void {
    mkdirSync(MADE, { recursive: true });
    const form = readFileSync(FORM, "utf8");
    for (const [name, make] of Object.entries(PAGES)) writeFileSync(pathOf(name as Name), filled(form, make()));
}
