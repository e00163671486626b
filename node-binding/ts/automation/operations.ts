// Runs the operations of stacks, and knows which are at work.
import type { EngineEvent, PulumiFn } from "@pulumi/pulumi/automation";
import { onAbort } from "../process/waiting";
import { runThrough } from "./command";
import { interval, type Progress, type ProgressOptions } from "./progress";
import type { CommandRequest } from "./request";
import type { CommandResult } from "./result";
import { shortName } from "./settings";
import { variablesOf, type Workspace } from "./workspace";

/** Which stack is meant: its name, and where it is. */
export interface OnStack {
    readonly name: string;
    readonly workspace: Workspace;
}

/** What operations are told besides flags. */
export interface OperateOptions extends ProgressOptions {
    onOutput?: (text: string) => void;
    onError?: (text: string) => void;
    onEvent?: (event: EngineEvent) => void;
    signal?: AbortSignal;
}

// The operations of this thread that are at work, so that any object for the same stack can end them, and see how far they are.
const working = new Set<Entry>();

interface Entry {
    stack: OnStack;
    stop: AbortController;
    progress: () => Progress | undefined;
}

/** Runs an operation: of an inline program in this process, of a local one in a child. */
export async function operate(
    stack: OnStack,
    args: string[],
    options: OperateOptions,
    program: PulumiFn | undefined,
): Promise<CommandResult> {
    const entry: Entry = { stack, stop: new AbortController(), progress: () => undefined };
    const { signal } = options;
    const stopForwarding = onAbort(signal, () => entry.stop.abort(signal?.reason));
    working.add(entry);
    try {
        const began = (progress: Entry["progress"]): void => {
            entry.progress = progress;
        };
        const all = { ...options, progressEvery: interval(options.progressEvery), signal: entry.stop.signal };
        return await command(stack, args, all, program, true, began);
    } finally {
        stopForwarding();
        working.delete(entry);
    }
}

/** Asks the operations of this thread on a stack to end; says whether there were any. */
export async function cancel(stack: OnStack): Promise<boolean> {
    const entries = await entriesOf(stack);
    for (const entry of entries) {
        entry.stop.abort();
    }
    return entries.length > 0;
}

/** How far the operation of this thread on a stack has come; undefined when there is none. */
export async function progress(stack: OnStack): Promise<Progress | undefined> {
    for (const entry of await entriesOf(stack)) {
        const report = entry.progress();
        if (report !== undefined) {
            return report;
        }
    }
    return undefined;
}

async function entriesOf(stack: OnStack): Promise<Entry[]> {
    const own = [...working].filter((entry) => entry.stack === stack);
    const others = [...working].filter((entry) => entry.stack !== stack);
    // Where a stack is takes a look into its settings.
    const place = others.length === 0 ? undefined : await placeOf(stack);
    const found = own;
    for (const entry of others) {
        if ((await placeOf(entry.stack)) === place) {
            found.push(entry);
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
    began?: CommandRequest["began"],
): Promise<CommandResult> {
    const { onOutput, onError, onEvent, onProgress, progressEvery, signal } = options;
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
        onProgress,
        progressEvery,
        began,
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
