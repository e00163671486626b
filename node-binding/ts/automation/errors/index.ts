// Errors of the automation API. The classes are those of the official module, so that `instanceof` holds whichever of the
// two a program imports them from; that module is small and loads nothing else.
import * as official from "@pulumi/pulumi/automation/errors";
import type { CommandResult } from "../result";
import type { Holder, Reason, Why } from "./reasons";

/** A command that ended with an exit code other than 0. */
export interface CommandError extends official.CommandError {
    /** What the program or a provider threw: the very object, where the program ran in this process. */
    cause?: unknown;
    /** The resource whose provider failed. */
    readonly urn?: string;
    /** The provider's method that failed, such as `create`. */
    readonly method?: string;
    /** What kind of failure it was; `mayPass(reason)` says whether to try again. */
    readonly reason: Reason;
    /** The first line of its message, without secrets. */
    readonly text: string;
    /** Who works on the stack, where `reason` is `locked`. */
    readonly holder?: Holder;
    /** Does the provider that failed say that it may pass: by a `TryLater` of `maloko`, or by its `retryableErrors`? */
    readonly transient: boolean;
    /** Seconds to wait before it is tried again, as a `TryLater` says them. */
    readonly retryAfter?: number;
    /** The stack that is missing, as `project/stack`, where `reason` is `needs`. */
    readonly needs?: string;
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

/** The error of a command that failed; its class depends on the exit code and on what was written. `thrown`: its cause. */
export function commandError(result: CommandResult, thrown?: { value: unknown }): CommandError {
    const error = new (classOf(result) as unknown as new (result: CommandResult) => Error)(result);
    const { code, stdout, stderr } = result;
    const { urn, method } = result.operation ?? {};
    const why: Partial<Why> = result.why ?? {};
    const { reason = "other", text = "", holder = null, transient = false, retryAfter = null, needs = null } = why;
    Object.assign(error, { code, stdout, stderr, reason, text, transient });
    Object.assign(error, retryAfter === null ? {} : { retryAfter });
    Object.assign(error, { ...(urn ? { urn } : {}), ...(method ? { method } : {}), ...(holder ? { holder } : {}) });
    Object.assign(error, needs === null ? {} : { needs });
    if (thrown !== undefined) {
        // As `new Error(..., { cause })` sets it: no part of what is enumerated.
        const cause = { value: thrown.value, configurable: true, writable: true, enumerable: false };
        Object.defineProperty(error, "cause", cause);
    }
    return error as unknown as CommandError;
}

function classOf({ operation, why }: CommandResult): ErrorClass<CommandError> {
    if (operation !== undefined) {
        // It had the stack: what it failed of is another matter.
        return CommandError;
    }
    switch (why?.reason) {
        case "no-stack":
            return StackNotFoundError;
        case "stack-exists":
            return StackAlreadyExistsError;
        case "locked":
            return ConcurrentUpdateError;
        default:
            return CommandError;
    }
}
