import { defineConfig } from "vitest/config";

const reports = process.env.REPORTS;

export default defineConfig({
    test: {
        include: ["*.test.ts", "hostile/*.test.ts"],
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
