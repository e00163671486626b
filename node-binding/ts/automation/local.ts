// Runs an operation of a local program in a process of its own: the program needs its own working directory, arguments and
// modules. It is this package that runs there, and nothing else.
import { type ChildProcess, spawn } from "node:child_process";
import * as path from "node:path";
import type { EngineEvent, ProjectSettings } from "@pulumi/pulumi/automation";
import { nodeFlags } from "../command-line/node-flags";
import { onAbort } from "../process/waiting";
import { Listeners } from "./listeners";
import { interval, NOTHING_YET, type Progress } from "./progress";
import { type CommandRequest, type Outcome, type WantedEvents, wantedEvents } from "./request";
import type { CommandResult } from "./result";
import { hasProject, loadProject } from "./settings";

/** What the child is to do. */
export interface ChildRequest {
    arguments: string[];
    directory: string;
    events: WantedEvents;
    /** Are the lines that the program prints part of the events? */
    tellsPrinted: boolean;
    progressEvery: number;
}

/** What the child tells, one member at a time. */
export interface ChildMessage {
    written?: { stream: "out" | "err"; base64: string };
    event?: EngineEvent;
    progress?: Progress;
    finished?: { outcome: Outcome; error: ChildError | undefined };
}

/** An error object of the child, as far as it can be told. */
export interface ChildError {
    name: string;
    message: string;
    stack: string;
}

/** Runs a command; one that fails throws a `CommandError`. */
export async function runInChild(request: CommandRequest): Promise<CommandResult> {
    const { variables, signal } = request;
    const directory = path.resolve(request.directory);
    const child = spawn(process.execPath, [...nodeFlagsOf(directory), path.join(__dirname, "child.js")], {
        cwd: directory,
        env: { ...process.env, ...variables },
        stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const listeners = new Listeners(request);
    const cancel = (): void => {
        if (child.connected) {
            child.send({ cancel: true }, () => {});
        }
    };
    let last: Progress | undefined = NOTHING_YET;
    const ended = endOf(child, listeners, (report) => {
        last = report;
    });
    request.began?.(() => last);
    const asked: ChildRequest = {
        arguments: request.arguments,
        directory,
        events: wantedEvents(request),
        tellsPrinted: request.onPrinted !== undefined,
        // Whoever asks for progress may come later.
        progressEvery: interval(request.progressEvery),
    };
    child.send(asked, () => {});
    const stopListening = onAbort(signal, cancel);
    const { outcome, error } = await ended;
    stopListening();
    last = undefined;
    return listeners.finish(outcome, error && { value: revived(error) });
}

type End = NonNullable<ChildMessage["finished"]>;

// Over when the process is gone and all that it has written has been read.
function endOf(child: ChildProcess, listeners: Listeners, reported: (report: Progress) => void): Promise<End> {
    return new Promise((resolve) => {
        let end: End | undefined;
        let fault: string | undefined;
        child.stdout?.on("data", (bytes: Buffer) => listeners.written("out", bytes));
        child.stderr?.on("data", (bytes: Buffer) => listeners.written("err", bytes));
        child.on("message", (message: ChildMessage) => {
            if (message.written !== undefined) {
                listeners.written(message.written.stream, Buffer.from(message.written.base64, "base64"));
            } else if (message.event !== undefined) {
                listeners.event(message.event);
            } else if (message.progress !== undefined) {
                reported(message.progress);
                listeners.progress(message.progress);
            } else {
                end = message.finished ?? end;
            }
        });
        child.on("error", (error) => {
            fault = `the process of the program could not be started: ${error.message}`;
            if (child.pid === undefined) {
                resolve(faulty(fault));
            }
        });
        child.on("close", (code, signal) => {
            const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
            resolve(
                end ?? faulty(fault ?? `the process of the program was ended ${how} before the operation was over`),
            );
        });
    });
}

function faulty(fault: string): End {
    return { outcome: { code: 255, message: "", operation: null, fault }, error: undefined };
}

// The object itself is gone with its process; its class is told by its name.
function revived({ name, message, stack }: ChildError): Error {
    const error = new Error(message);
    error.name = name;
    error.stack = stack;
    return error;
}

// Node takes flags only at its start. A project that cannot be read is reported by the command itself.
function nodeFlagsOf(directory: string): string[] {
    try {
        const { runtime } = hasProject(directory) ? loadProject(directory) : ({} as Partial<ProjectSettings>);
        return typeof runtime === "object" ? nodeFlags(runtime.options) : [];
    } catch {
        return [];
    }
}
