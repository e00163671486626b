// The native module is loaded and used again and again, and nothing of it is left behind.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { atNight, NIGHT } from "../support/night";

const nightly = atNight(test);

const SUPPORT = join(dirname(fileURLToPath(import.meta.url)), "..", "support");
const WORKER = join(SUPPORT, "sample-package", "worker.cjs");
const HELD = join(SUPPORT, "held.cjs");
const CYCLES = Number(process.env.MALOKO_CYCLES ?? (NIGHT ? 4 : 2));

type Held = { threads: number; files: number };

// In a process of its own, whose threads and descriptors are counted.
const SCRIPT = `
const { Worker } = require("node:worker_threads");
const { held, settled } = require(${JSON.stringify(HELD)});
let answers = 0;
const cycle = () =>
    new Promise((resolve, reject) => {
        const worker = new Worker(${JSON.stringify(WORKER)});
        worker.on("message", () => answers++).on("error", reject).on("exit", resolve);
    });
(async () => {
    for (let round = 0; round < 3; round++) await cycle();
    const before = held();
    for (let round = 0; round < ${CYCLES}; round++) await cycle();
    console.log(JSON.stringify({ answers, before, after: await settled(before) }));
})();
`;

nightly(
    "threads that come and go leave no threads and no descriptors",
    () => {
        const said = execFileSync(process.execPath, ["-e", SCRIPT], { encoding: "utf8", cwd: dirname(WORKER) });
        const { answers, before, after } = JSON.parse(said) as { answers: number; before: Held; after: Held };
        expect(answers).toBe(CYCLES + 3);
        expect(after.threads, "threads").toBeLessThanOrEqual(before.threads);
        expect(after.files, "files").toBeLessThanOrEqual(before.files);
    },
    600_000,
);
