// Before and after a run of vitest: a directory with what its test files make once for all of them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
    interface ProvidedContext {
        /** Stacks to copy: `project.ts` makes each when it is first needed. */
        templates: string;
    }
}

export default function setUp(project: TestProject): () => void {
    const directory = mkdtempSync(join(tmpdir(), "maloko-templates-"));
    project.provide("templates", directory);
    return () => rmSync(directory, { recursive: true, force: true });
}
