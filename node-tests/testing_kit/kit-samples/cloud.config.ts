import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["kit-samples/cloud.real.ts"], maxWorkers: 1, teardownTimeout: 300 } });
