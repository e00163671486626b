import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["kit-samples/*.sample.ts"], maxWorkers: 1, testTimeout: 10_000 } });
