// The automation API: stacks driven from a program, with the names, arguments and results of `@pulumi/pulumi/automation`.
// Its plain types are the official ones, of whichever SDK is installed; what runs is in this package.
import { Sdk } from "../sdk";

export type * from "@pulumi/pulumi/automation";
export { DiffKind } from "@pulumi/pulumi/automation/events";
export { CommandResult, type CommandRunner, PulumiCommand, type PulumiCommandOptions } from "./command";
export {
    CommandError,
    ConcurrentUpdateError,
    StackAlreadyExistsError,
    StackNotFoundError,
    UnsupportedError,
} from "./errors";
export { type Holder, mayPass, type Reason } from "./errors/reasons";
export type { ImportDifferencesOptions, IsolationOptions, LockOptions, TelemetryOptions } from "./flags";
export {
    type InstallOptions,
    LocalWorkspace,
    type LocalWorkspaceOptions,
    type NewOptions,
} from "./local-workspace";
export type { Progress, ProgressOptions, SlowCall } from "./progress";
export { type RemoteStack, RemoteWorkspace } from "./remote";
export type { OutputsOptions, PageOptions, SummaryOptions, WithPage } from "./result";
export { fullyQualifiedStackName, Stack } from "./stack";
export type { Workspace } from "./workspace";

// A program imports this module and the SDK: the earlier one wins.
Sdk.prepare(process.cwd());
