import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["kit-samples/pages/pages.ts"], maxWorkers: 1, testTimeout: 30_000 } });
