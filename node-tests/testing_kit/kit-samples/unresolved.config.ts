import { defineConfig } from "vitest/config";

// A test that vitest gives up cleans up, and is not killed where it says: on a busy machine too it has time.
const testTimeout = 120_000;

export default defineConfig({
    test: { include: ["unresolved.real.ts"], maxWorkers: 1, teardownTimeout: 300, testTimeout },
});
