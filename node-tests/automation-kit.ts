// Workspaces for tests of the automation API.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type InlineProgramArgs, LocalWorkspace, type LocalWorkspaceOptions, type Stack } from "maloko/automation";
import { onTestFinished } from "vitest";

/** A directory that is removed after the test. */
export function directory(): string {
    const made = mkdtempSync(join(tmpdir(), "maloko-automation-"));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
}

/** Options of a workspace whose state and files are in a directory that is removed after the test. */
export function placed(options: LocalWorkspaceOptions = {}): LocalWorkspaceOptions {
    const state = directory();
    return {
        workDir: directory(),
        ...options,
        envVars: { PULUMI_BACKEND_URL: `file://${state}`, PULUMI_CONFIG_PASSPHRASE: "secret", ...options.envVars },
    };
}

/** A new stack `dev` of the project `project`. */
export function newStack(
    program: InlineProgramArgs["program"],
    options: LocalWorkspaceOptions = placed(),
): Promise<Stack> {
    return LocalWorkspace.createStack({ stackName: "dev", projectName: "project", program }, options);
}
