// Keeps some of the tests' screenshots as the pictures of the documents: with few colours, so that they are small.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { palettePng } from "./palette.mjs";

const KEPT = [
    "overview",
    "resources-detail",
    "resources-graph",
    "run-timeline",
    "run-call",
    "run-table",
    "changes-why",
    "changes-plan",
    "log",
    "history",
];
const SINGLE = [
    "unfinished-light",
    "large-graph-unfolded-light",
    "large-timeline-light",
    "changes-failed-light",
    "history-detail-light",
    "narrow-overview",
    "narrow-run",
    "narrow-changes",
];
/** What stands by itself beside the folder. */
const BESIDE = { "fleet-overview-light": "../fleet-run" };
const MAX_BYTES = 150_000;

const from = join(import.meta.dirname, "..", "test-results", "pictures");
const to = join(import.meta.dirname, "..", "..", "docs", "pictures", "page");
mkdirSync(to, { recursive: true });
for (const name of [...KEPT.flatMap((view) => [`${view}-light`, `${view}-dark`]), ...SINGLE, ...Object.keys(BESIDE)]) {
    const image = PNG.sync.read(readFileSync(join(from, `${name}.png`)));
    const best = palettePng(image);
    if (best.length > MAX_BYTES) throw new Error(`${name}.png has ${best.length} bytes, more than ${MAX_BYTES}`);
    writeFileSync(join(to, `${BESIDE[name] ?? name}.png`), best);
}
