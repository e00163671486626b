// The place of Pulumi's command line in the automation API: maloko's own, which is a part of this package.
import type { EngineEvent, PulumiFn } from "@pulumi/pulumi/automation";
import { runInside } from "./inside";
import { runInChild } from "./local";
import { CommandResult } from "./result";

/** A command and its surroundings. */
export interface CommandRequest {
    /** Without the program's name. */
    arguments: string[];
    /** The directory that it works in. */
    directory: string;
    /** What is added to the environment of this process. */
    variables: Record<string, string>;
    /** The program that it runs, in this process. */
    program?: PulumiFn | undefined;
    /** Does it run the program of the directory? Then it needs a process of its own. */
    runsDirectory?: boolean;
    onOutput?: ((text: string) => void) | undefined;
    onError?: ((text: string) => void) | undefined;
    onEvent?: ((event: EngineEvent) => void) | undefined;
    /** Cancels the command gracefully. */
    signal?: AbortSignal | undefined;
}

/** Options of `PulumiCommand.get` and `PulumiCommand.install`: accepted, and without effect. */
export interface PulumiCommandOptions {
    version?: unknown;
    root?: string;
    skipVersionCheck?: boolean;
}

/**
 * Stands for the command line. Nothing is looked for and nothing is installed: it is here already, and runs inside this
 * process.
 */
export class PulumiCommand {
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

    /** @internal Runs a command; one that fails throws a `CommandError`. */
    run(request: CommandRequest): Promise<CommandResult> {
        const asked = request.arguments;
        // After `--` there are only values.
        const end = asked.indexOf("--");
        const at = end < 0 ? asked.length : end;
        const whole = { ...request, arguments: [...asked.slice(0, at), "--non-interactive", ...asked.slice(at)] };
        return request.runsDirectory === true && request.program === undefined ? runInChild(whole) : runInside(whole);
    }
}

export { CommandResult };
