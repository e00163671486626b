import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["kit-samples/forbidden.ts"], maxWorkers: 1, testTimeout: 30_000 } });
