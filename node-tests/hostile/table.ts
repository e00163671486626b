// The table of docs/internals/hostile-providers.md, of what was seen in this process.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

const DOCUMENT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "docs", "internals", "hostile-providers.md");
const STALE = "docs/internals/hostile-providers.md is stale: run make hostile-table";

/** The methods, as the document's columns have them. */
export const METHODS = ["configure", "check", "diff", "create", "read", "update", "delete"];

const all: Record<string, Record<string, string>> = {};

/** Takes note of a cell; with MALOKO_HOSTILE_SEEN=FILE all are written there. */
export function note(_language: string, name: string, method: string, outcome: string): void {
    all[name] = { ...all[name], [method]: outcome };
    const file = process.env.MALOKO_HOSTILE_SEEN;
    if (file !== undefined) {
        writeFileSync(file, JSON.stringify(all, null, 1));
    }
}

/** Compares what was seen with the document; `cells` is how many there are when all tests have run. */
export function checkDocument(language: string, cells: number): void {
    const written = new Map<string, string[]>();
    for (const line of readFileSync(DOCUMENT, "utf8").split("\n")) {
        const [, name = "", its, rest = ""] = /^\| ([^|]+) \| (python|nodejs) \| (.+) \|$/.exec(line) ?? [];
        if (its === language) {
            written.set(name, rest.split(" | "));
        }
    }
    for (const [name, outcomes] of Object.entries(all)) {
        const cells = Object.keys(outcomes).map((method) => written.get(name)?.[METHODS.indexOf(method)]);
        expect(cells, `${STALE} (${name})`).toEqual(Object.values(outcomes));
    }
    if (Object.values(all).flatMap(Object.values).length === cells) {
        expect([...written.keys()].sort(), STALE).toEqual(Object.keys(all).sort());
    }
}
