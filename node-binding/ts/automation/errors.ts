// Errors of the automation API. The classes are those of the official module, so that `instanceof` holds whichever of the
// two a program imports them from; that module is small and loads nothing else.
import * as official from "@pulumi/pulumi/automation/errors";
import type { CommandResult } from "./result";

/** A command that ended with an exit code other than 0. */
export interface CommandError extends official.CommandError {
    /** What the program or a provider threw: the very object, where the program ran in this process. */
    cause?: unknown;
    /** The resource whose provider failed. */
    readonly urn?: string;
    /** The provider's method that failed, such as `create`. */
    readonly method?: string;
    /** The exit code; `maloko help command-line` has their meanings. */
    readonly code: number;
    /** What the command wrote on stdout. */
    readonly stdout: string;
    /** What the command wrote on stderr. */
    readonly stderr: string;
}

/** Another operation is at work on the stack. */
export interface ConcurrentUpdateError extends CommandError {}

/** There is no such stack. */
export interface StackNotFoundError extends CommandError {}

/** There is a stack of that name already. */
export interface StackAlreadyExistsError extends CommandError {}

interface ErrorClass<T> {
    new (message?: string): T;
    readonly prototype: T;
}

export const CommandError = official.CommandError as unknown as ErrorClass<CommandError>;
export const ConcurrentUpdateError = official.ConcurrentUpdateError as unknown as ErrorClass<ConcurrentUpdateError>;
export const StackNotFoundError = official.StackNotFoundError as unknown as ErrorClass<StackNotFoundError>;
export const StackAlreadyExistsError =
    official.StackAlreadyExistsError as unknown as ErrorClass<StackAlreadyExistsError>;

/** Something that only Pulumi Cloud or Pulumi's own command line can do. */
export class UnsupportedError extends Error {
    override readonly name = "UnsupportedError";

    constructor(
        /** What was asked for, such as `Stack.addEnvironments`. */
        readonly feature: string,
        /** Why it is not there, and what to do. */
        reason: string,
    ) {
        super(`${feature} is not supported by maloko: ${reason}`);
    }
}

const NO_STACK = 6;

/** The error of a command that failed; its class depends on the exit code and on what was written. `thrown`: its cause. */
export function commandError(result: CommandResult, thrown?: { value: unknown }): CommandError {
    const error = new (classOf(result) as unknown as new (result: CommandResult) => Error)(result);
    const { code, stdout, stderr } = result;
    const { urn, method } = result.operation ?? {};
    Object.assign(error, { code, stdout, stderr, ...(urn ? { urn } : {}), ...(method ? { method } : {}) });
    if (thrown !== undefined) {
        // As `new Error(..., { cause })` sets it: no part of what is enumerated.
        const cause = { value: thrown.value, configurable: true, writable: true, enumerable: false };
        Object.defineProperty(error, "cause", cause);
    }
    return error as unknown as CommandError;
}

function classOf({ code, stderr, operation }: CommandResult): ErrorClass<CommandError> {
    if (operation !== undefined) {
        // It had the stack: what is written is the program's matter.
        return CommandError;
    }
    if (code === NO_STACK) {
        return StackNotFoundError;
    }
    if (/\bthere is another stack\b.*\balready\b|\bstack\b.*\balready exists\b/.test(stderr)) {
        return StackAlreadyExistsError;
    }
    return /\bstack\b.*\bis (currently )?locked by\b/.test(stderr) ? ConcurrentUpdateError : CommandError;
}
