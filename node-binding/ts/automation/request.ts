// A command as it is asked for, and what the engine tells when it is over.
import type { EngineEvent, PulumiFn } from "@pulumi/pulumi/automation";

import type { PrintingRun } from "../run/printed-lines";
import type { Why } from "./errors/reasons";
import type { Progress, ProgressOptions } from "./progress";

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
    /** Is told how far an operation has come, after so many seconds each time. */
    onProgress?: ProgressOptions["onProgress"] | undefined;
    progressEvery?: number | undefined;
    /** Is given what says how far the operation has come; undefined when it is over. */
    began?: ((progress: () => Progress | undefined) => void) | undefined;
    /**
     * Is told what programs print, what else the run tells that is no warning and no error, and errors with a traceback, each once;
     * without secrets.
     */
    onPrinted?: ((message: string) => void) | undefined;
    /** Is given the run in this process, and undefined when it is over. */
    onRun?: ((run: PrintingRun | undefined) => void) | undefined;
    /** Cancels the command gracefully. */
    signal?: AbortSignal | undefined;
    /** Where the SDK is looked for and by what files are named, when not by the directory of this process. */
    root?: string;
    /** A command that fails gives its result, too, and throws nothing. */
    returnsFailures?: boolean;
}

/** How a command ended. */
export interface Outcome {
    /** The exit code that a process would have had. */
    code: number;
    /** Why it failed, where that was not written already; else empty. */
    message: string;
    /** The outcome of an operation, if the command was one and it began. */
    operation: OperationEnd | null;
    /** Why it failed; `null` where it did not. */
    why?: Why | null;
    /** The command could not even be tried. */
    fault?: string;
}

/** An error object in words, for a process that does not have it. */
export interface ThrownText {
    /** Its class. */
    name: string;
    message: string;
    /** Where it was thrown; empty where that is not known. */
    traceback: string;
}

/** The outcome of an operation. */
export interface OperationEnd {
    outcome: "succeeded" | "failed" | "cancelled";
    /** Counts by kind of step, such as `{ create: 2 }`. */
    changes: Record<string, number>;
    /** The first error in words. */
    error: string | null;
    /** Number of the error object. */
    source: number;
    /** The same in words, without secrets; `null` without one. */
    exception: ThrownText | null;
    /** The resource that the first error is about. */
    urn: string | null;
    /** The provider's method that it came from. */
    method: string | null;
    /** The other stacks that the program has read, each `PROJECT/STACK`. */
    read: string[];
    /** The first warnings, in a line each, without secrets. */
    warnings: string[];
    /** Where it changes nothing, the first differences that it has found, in a line each, without secrets. */
    differences: string[];
    /** What was kept of the run for its page; `null` where it was too much. */
    page?: string | null;
}

/** Which events of an operation somebody wants; `messages`: those that have one. */
export type WantedEvents = "all" | "messages" | "none";

/** Which of them its own functions take. */
export function wantedEvents({ onEvent, onPrinted }: CommandRequest): WantedEvents {
    return onEvent !== undefined ? "all" : onPrinted !== undefined ? "messages" : "none";
}
