// What a stack asks of the workspace that it is in, whichever kind that is.
import type { Workspace as OfficialWorkspace } from "@pulumi/pulumi/automation";
import type { CommandRunner } from "./command";

/** What a `Stack` works in. */
export interface Workspace extends Omit<OfficialWorkspace, "pulumiCommand" | "cliApi" | "pulumiVersion"> {
    readonly pulumiVersion: string;
    readonly pulumiCommand: CommandRunner;
}

/** What a workspace adds to the environment. */
export function variablesOf(workspace: Workspace): Record<string, string> {
    return { ...(workspace.pulumiHome ? { PULUMI_HOME: workspace.pulumiHome } : {}), ...workspace.envVars };
}
