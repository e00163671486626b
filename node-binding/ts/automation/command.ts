// The place of Pulumi's command line in the automation API: maloko's own, which is a part of this package.
import { AsyncLocalStorage } from "node:async_hooks";
import { runInside } from "./inside";
import { runInChild } from "./local";
import type { CommandRequest } from "./request";
import { CommandResult } from "./result";

/** Options of `PulumiCommand.get` and `PulumiCommand.install`: accepted, and without effect. */
export interface PulumiCommandOptions {
    version?: unknown;
    root?: string;
    skipVersionCheck?: boolean;
}

/** What runs commands: a `PulumiCommand`, or an object of the caller's own, which may hand them on to one. */
export interface CommandRunner {
    readonly command: string;
    readonly version: unknown;
    run(
        args: string[],
        cwd: string,
        additionalEnv: Record<string, string>,
        onOutput?: (text: string) => void,
        onError?: (text: string) => void,
        signal?: AbortSignal,
    ): Promise<{ stdout: string; stderr: string; code: number }>;
}

type RunArguments = Parameters<CommandRunner["run"]>;

// What a workspace asks of a caller's own command beyond the official signature. The first command that is run through
// this package in there is it.
const asking = new AsyncLocalStorage<{ request: CommandRequest | undefined }>();

/**
 * Stands for the command line. Nothing is looked for and nothing is installed: it is here already, and runs inside this
 * process.
 */
export class PulumiCommand implements CommandRunner {
    /** The name of the command line. */
    readonly command = "maloko";
    /** No version of Pulumi's own command line. */
    readonly version = null;

    private constructor() {}

    /** The command line of this package. */
    static async get(_options?: PulumiCommandOptions): Promise<PulumiCommand> {
        return new PulumiCommand();
    }

    /** The command line of this package: nothing is installed. */
    static async install(_options?: PulumiCommandOptions): Promise<PulumiCommand> {
        return new PulumiCommand();
    }

    /**
     * Runs a command; one that fails throws a `CommandError`. `args` are without the program's name; `additionalEnv` is added
     * to the environment of this process. An operation runs the program of the directory `cwd`.
     */
    run(...[args, cwd, additionalEnv, onOutput, onError, signal]: RunArguments): Promise<CommandResult> {
        const asked = asking.getStore();
        const own = asked?.request ?? ({ runsDirectory: true } as Partial<CommandRequest>);
        const { program, runsDirectory, onEvent, onProgress, progressEvery, began } = own;
        if (asked !== undefined) {
            asked.request = undefined;
        }
        const given = { arguments: args, directory: cwd, variables: additionalEnv, onOutput, onError, signal };
        const ours = { program, onEvent, onProgress, progressEvery, began };
        return runRequest({ ...given, ...ours, runsDirectory: runsDirectory === true });
    }
}

/** Has a workspace's command run something. */
export async function runThrough(command: CommandRunner, request: CommandRequest): Promise<CommandResult> {
    if (command.run === PulumiCommand.prototype.run) {
        return runRequest(request);
    }
    const { arguments: args, directory, variables, onOutput, onError, signal } = request;
    const asked: { request: CommandRequest | undefined } = { request };
    const result = await asking.run(asked, () =>
        command.run([...args], directory, { ...variables }, onOutput, onError, signal),
    );
    if (request.program !== undefined && asked.request !== undefined) {
        throw new Error(
            `the command that the workspace was given ('${command.command}') cannot run an inline program: it has to hand ` +
                "its arguments on to `run` of a PulumiCommand of maloko/automation",
        );
    }
    return result instanceof CommandResult ? result : new CommandResult(result.stdout, result.stderr, result.code);
}

function runRequest(request: CommandRequest): Promise<CommandResult> {
    const asked = request.arguments;
    // After `--` there are only values.
    const end = asked.indexOf("--");
    const at = end < 0 ? asked.length : end;
    const isSaid = asked.slice(0, at).includes("--non-interactive");
    const args = isSaid ? asked : [...asked.slice(0, at), "--non-interactive", ...asked.slice(at)];
    const whole = { ...request, arguments: args };
    return request.runsDirectory === true && request.program === undefined ? runInChild(whole) : runInside(whole);
}

export { CommandResult };
