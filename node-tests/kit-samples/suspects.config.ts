import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["suspects.real.ts"], maxWorkers: 1, teardownTimeout: 300 } });
