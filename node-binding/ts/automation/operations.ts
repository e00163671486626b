// Runs the operations of stacks, and knows which are at work.
import type { EngineEvent, PulumiFn } from "@pulumi/pulumi/automation";
import { onAbort } from "../process/waiting";
import { runThrough } from "./command";
import type { CommandResult } from "./result";
import { shortName } from "./settings";
import { variablesOf, type Workspace } from "./workspace";

/** Which stack is meant: its name, and where it is. */
export interface OnStack {
    readonly name: string;
    readonly workspace: Workspace;
}

/** What operations are told besides flags. */
export interface OperateOptions {
    onOutput?: (text: string) => void;
    onError?: (text: string) => void;
    onEvent?: (event: EngineEvent) => void;
    signal?: AbortSignal;
}

// The operations of this thread that are at work, so that any object for the same stack can end them.
const working = new Set<{ stack: OnStack; stop: AbortController }>();

/** Runs an operation: of an inline program in this process, of a local one in a child. */
export async function operate(
    stack: OnStack,
    args: string[],
    options: OperateOptions,
    program: PulumiFn | undefined,
): Promise<CommandResult> {
    const entry = { stack, stop: new AbortController() };
    const { signal } = options;
    const stopForwarding = onAbort(signal, () => entry.stop.abort(signal?.reason));
    working.add(entry);
    try {
        return await command(stack, args, { ...options, signal: entry.stop.signal }, program, true);
    } finally {
        stopForwarding();
        working.delete(entry);
    }
}

/** Asks the operations of this thread on a stack to end; says whether there were any. */
export async function cancel(stack: OnStack): Promise<boolean> {
    const entries = [...working];
    const place = entries.length === 0 ? undefined : await placeOf(stack);
    let found = false;
    for (const entry of entries) {
        if (entry.stack === stack || (await placeOf(entry.stack)) === place) {
            entry.stop.abort();
            found = true;
        }
    }
    return found;
}

/** Runs a command on a stack. */
export async function command(
    { name, workspace }: OnStack,
    args: string[],
    options: OperateOptions = {},
    program?: PulumiFn,
    runsDirectory = false,
): Promise<CommandResult> {
    const { onOutput, onError, onEvent, signal } = options;
    const kind = runsDirectory ? ["--exec-kind", program === undefined ? "auto.local" : "auto.inline"] : [];
    const result = await runThrough(workspace.pulumiCommand, {
        arguments: [...args, ...kind, "--stack", name, ...(await workspace.serializeArgsForOp(name))],
        directory: workspace.workDir,
        variables: variablesOf(workspace),
        program,
        runsDirectory,
        onOutput,
        onError,
        onEvent,
        signal,
    });
    await workspace.postCommandCallback(name);
    return result;
}

// Two stacks of one name are one stack where their state is in one place.
async function placeOf({ name, workspace }: OnStack): Promise<string> {
    const [{ url }, project] = [await workspace.whoAmI(), await workspace.projectSettings()];
    return JSON.stringify([url, project.name, shortName(name)]);
}
