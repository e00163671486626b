import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["unresolved.real.ts"], maxWorkers: 1, teardownTimeout: 300 } });
