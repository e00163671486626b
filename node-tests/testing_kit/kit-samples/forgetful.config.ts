import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["kit-samples/forgetful.ts"], maxWorkers: 1 } });
