import { defineConfig } from "vitest/config";

const reports = process.env.REPORTS;

// The keys of new stacks take no time, in every process that is forked off. A release does not know of it.
process.env.MALOKO_CHEAP_KEYS ??= "1";

// Files that only call the engine in their own process and leave nothing behind in it: they share one, in any order.
const together = [
    "autonaming",
    "bad_input_provider",
    "errors",
    "fleet_page",
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
];

// Files that only start commands, and never load the engine: they share a process, too.
const commands = [
    "automation_types",
    "bench",
    "cli",
    "closed_streams",
    "component_code",
    "components",
    "damage",
    "end_of_process",
    "for_pulumi",
    "for_pulumi_modules",
    "fleet_backends",
    "fleet_commands",
    "fleet_faults",
    "fleet_run",
    "fleet_secrets",
    "fleet_soak",
    "fleet_workers",
    "forks",
    "healthy_run",
    "hidden_secrets",
    "installation",
    "interrupts",
    "kit_cloud",
    "kit_misuse",
    "kit_page",
    "kit_unresolved_creates",
    "load",
    "output",
    "plugins",
    "program",
    "round_trip",
    "seams",
    "shapes",
    "stacks",
    "terminal",
    "tutorial",
    "watch_outside",
    "workspaces",
    "yarn",
];

// Those that have tests for the night alone.
const nightly = process.env.MALOKO_LONG
    ? []
    : [
          "automation_types",
          "component_code",
          "fleet_backends",
          "fleet_faults",
          "fleet_soak",
          "kit_cloud",
          "kit_unresolved_creates",
          "laws_real",
          "load",
          "stacks",
          "yarn",
      ];

/** Files by their names: each is in a folder of its topic. */
const files = (names: string[]): string[] => names.map((name) => `*/${name}.test.ts`);

// Our package first: then the SDK loads without its serialiser, and quickly.
const setupFiles = ["./support/setup.ts"];

export default defineConfig({
    test: {
        projects: [
            {
                extends: true,
                test: { name: "commands", include: files(commands), exclude: files(nightly), isolate: false },
            },
            { extends: true, test: { name: "together", include: files(together), isolate: false, setupFiles } },
            {
                extends: true,
                test: {
                    name: "apart",
                    include: files(["*"]),
                    exclude: files([...together, ...commands, ...nightly]),
                    setupFiles,
                },
            },
        ],
        globalSetup: ["./support/templates.ts"],
        pool: "forks",
        // A worker more than the two cores that are counted on: many tests wait.
        maxWorkers: 3,
        // `make test` reads from there which tests failed.
        reporters: reports
            ? ["default", ["junit", { outputFile: `${reports}/vitest-${process.pid}.xml` }]]
            : ["default"],
        // Longer than any test takes on a busy machine: it is there for those that hang.
        testTimeout: 300_000,
        hookTimeout: 300_000,
    },
});
