// Deployments in Pulumi Cloud, which only Pulumi Cloud has.
import type { RemoteGitProgramArgs, RemoteWorkspaceOptions } from "@pulumi/pulumi/automation";
import { UnsupportedError } from "./errors";
import type { Stack } from "./stack";

/** A stack that Pulumi Cloud deploys: there is none here. */
export type RemoteStack = Pick<
    Stack,
    "name" | "up" | "preview" | "refresh" | "destroy" | "outputs" | "history" | "cancel" | "exportStack" | "importStack"
>;

/** Every method throws `UnsupportedError`: deployments in Pulumi Cloud are a service of it. */
export class RemoteWorkspace {
    static async createStack(_args: RemoteGitProgramArgs, _options?: RemoteWorkspaceOptions): Promise<RemoteStack> {
        throw unsupported();
    }

    static async selectStack(_args: RemoteGitProgramArgs, _options?: RemoteWorkspaceOptions): Promise<RemoteStack> {
        throw unsupported();
    }

    static async createOrSelectStack(
        _args: RemoteGitProgramArgs,
        _options?: RemoteWorkspaceOptions,
    ): Promise<RemoteStack> {
        throw unsupported();
    }

    private constructor() {}
}

function unsupported(): UnsupportedError {
    return new UnsupportedError(
        "a remote workspace",
        "deployments in Pulumi Cloud are a service of it. Clone the repository and use a local program",
    );
}
