import { defineConfig } from "vitest/config";

const reports = process.env.REPORTS;

// Files that only call the engine in their own process and leave nothing behind in it: they share one, in any order.
const together = [
    "autonaming",
    "bad-input-provider",
    "errors",
    "hooks",
    "kit_faults",
    "kit_files",
    "kit_stack",
    "lazy_clients",
    "options",
    "provider_calls",
    "state_migrations",
    "transforms",
    "typed",
    "values",
].map((name) => `${name}.test.ts`);

export default defineConfig({
    test: {
        projects: [
            { extends: true, test: { name: "together", include: together, isolate: false } },
            { extends: true, test: { name: "apart", include: ["*.test.ts", "hostile/*.test.ts"], exclude: together } },
        ],
        globalSetup: ["./templates.ts"],
        // Our package first: then the SDK loads without its serialiser, and quickly.
        setupFiles: ["./setup.ts"],
        pool: "forks",
        // Each file has a process of its own; two at a time are what a small machine bears.
        maxWorkers: 2,
        // `make test` reads from there what each test took.
        reporters: reports
            ? ["default", ["junit", { outputFile: `${reports}/vitest-${process.pid}.xml` }]]
            : ["default"],
        testTimeout: 60_000,
        hookTimeout: 60_000,
    },
});
