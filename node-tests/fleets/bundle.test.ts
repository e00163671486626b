// The code of workflows, which workers of Node bundle. Python's run it as it is.
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const require = createRequire(import.meta.url);
// What is no part of the package's interface is reached by its file.
const inside = join(dirname(require.resolve("maloko/fleet")), "bundle.js");
const { workflowBundle } = require(inside) as { workflowBundle(): Promise<{ code: string }> };
const CACHE = join(dirname(require.resolve("@temporalio/worker/package.json")), "../../.cache/maloko");

// In Node alone: Python's workers have nothing to bundle
test("the code of workflows is bundled once for all workers", { timeout: 60_000 }, async () => {
    const made = await workflowBundle();
    expect(made.code).toContain("maloko.FleetRun");
    const kept = readdirSync(CACHE).filter((name) => name.endsWith(".js"));
    const files = kept.filter((name) => statSync(join(CACHE, name)).size === Buffer.byteLength(made.code));
    expect(files).toHaveLength(1);
    const file = join(CACHE, String(files[0]));
    const marked = `${made.code}\n// kept\n`;
    writeFileSync(file, marked);
    expect((await workflowBundle()).code, "what is kept is taken").toBe(marked);
    writeFileSync(file, made.code);
});
