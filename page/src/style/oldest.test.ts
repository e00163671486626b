// esbuild brings syntax down to the oldest browsers that are supported. What they do not have at all, it leaves as it is.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "..");

/** What Firefox 115 or Safari 16.4 have not. */
const TOO_NEW = {
    css: /:has\(|light-dark\(|@starting-style|@scope\b|@property\b|text-wrap:\s*(balance|pretty)|anchor-name|field-sizing|\b(cos|round|mod)\(/,
    ts: /\b(Object|Map)\.groupBy\b|Promise\.(withResolvers|try)\b|\bURL\.(canParse|parse)\b|AbortSignal\.any\b|\.(checkVisibility|showPopover|isWellFormed|startViewTransition|scheduler)\b|\b(Iterator|Array)\.(from|fromAsync)\([^)]*\.(entries|values|keys)\(\)\.|\.(entries|values|keys)\(\)\.(map|filter|toArray|some|find|reduce)\b|\.(union|intersection|difference|isSubsetOf)\(|onscrollend/,
};

function files(folder: string): string[] {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
}

test("nothing is used that the oldest supported browsers have not", () => {
    const found = files(SOURCES)
        .filter((name) => /\.(css|tsx?)$/.test(name) && !name.endsWith(".test.ts"))
        .filter((name) => {
            const text = readFileSync(join(SOURCES, name), "utf8");
            return (name.endsWith(".css") ? TOO_NEW.css : TOO_NEW.ts).test(text);
        });
    expect(found).toEqual([]);
});
