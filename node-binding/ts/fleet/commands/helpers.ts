// Processes that a command starts beside itself: workers, and a server for tries.
import { type ChildProcess, spawn } from "node:child_process";
import * as path from "node:path";
import { OWN_DIRECTORY } from "../../process/own-files";
import { endsWithin } from "../../process/waiting";
import type { Plan } from "../wire";
import { say } from "./texts";

const COMMAND = path.join(OWN_DIRECTORY, "..", "bin", "maloko.js");
/** The descriptor of it. */
export const STDERR = 2;
/** How many seconds workers have to end what they are at in order. */
const END_SECONDS = 60;
const OPENS_STACKS = ["PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE", "PULUMI_CLOUD_SECRET_OVERRIDE"];
/** Is set for processes whose parent has warned in their place. */
const WARNED = "MALOKO_FLEET_WARNED";

/**
 * Warns once of what workers at these queues begin without: a passphrase, and variables that have secrets of stacks. Stacks under a key
 * service need no passphrase, nor do those without a backend: their key is in a file.
 */
export function warnOfEnvironment({ backend, stacks }: Plan, queues: readonly string[]): void {
    const { env } = process;
    if (env[WARNED] !== undefined) {
        return;
    }
    env[WARNED] = "1";
    const hasBackend = backend !== null || env.PULUMI_BACKEND_URL !== undefined;
    const opens = OPENS_STACKS.some((name) => env[name] !== undefined);
    const opensSome = Object.keys(env).some((name) => name.startsWith("MALOKO_PASSPHRASE_"));
    if (hasBackend && !opens && !opensSome) {
        say("warning: PULUMI_CONFIG_PASSPHRASE is not set here: stacks under a passphrase fail at this worker");
    }
    const here = stacks.filter(({ queue }) => queues.includes(queue));
    const secrets = here.flatMap(({ config }) => Object.values(config)).filter((value) => typeof value !== "string");
    const names = secrets.flatMap(({ secretFrom }) => ("env" in secretFrom ? [secretFrom.env] : []));
    const missing = [...new Set(names)].filter((name) => env[name] === undefined).sort();
    if (missing.length > 0) {
        const left = "Stacks whose secrets come from there fail at this worker";
        say(`warning: not set here: ${missing.join(", ")}. ${left}`);
    }
}

/** Warns where no stack of the fleet is at a queue that workers are told to serve. */
export function warnOfQueues(plan: Plan, queues: readonly string[]): void {
    const known = queuesOf(plan);
    const unknown = queues.filter((queue) => !known.includes(queue));
    if (unknown.length > 0 && process.env[WARNED] === undefined) {
        say(
            `warning: no stack of the fleet is at the queue ${unknown.join(", ")}: a worker gets nothing there; ` +
                `the fleet's stacks are at ${known.join(", ")}`,
        );
    }
}

/** Starts a worker in a process of its own. `stdout`: where it goes. */
export function startWorker(
    file: string,
    queues: readonly string[],
    slots?: number,
    stdout: "inherit" | typeof STDERR = "inherit",
): ChildProcess {
    const asked = queues.flatMap((queue) => ["--queue", queue]);
    const many = slots === undefined ? [] : ["--slots", String(slots)];
    return started(process.execPath, [COMMAND, "fleet", "worker", "--file", file, ...asked, ...many], stdout);
}

/** Starts a process that the terminal's Ctrl-C does not reach: the command tells it when it is its turn. */
export function started(
    program: string,
    words: string[],
    stdout: "inherit" | "ignore" | number,
    stderr: "inherit" | number = "inherit",
): ChildProcess {
    const child = spawn(program, words, { stdio: ["ignore", stdout, stderr], detached: true });
    child.on("error", (error) => say(`${program} cannot be started: ${error.message}`));
    return child;
}

/** Has the process not ended yet? */
export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
    return exitCode === null && signalCode === null;
}

/** The queues of a plan's stacks. */
export function queuesOf({ stacks }: Plan): string[] {
    return [...new Set(stacks.map(({ queue }) => queue))].sort();
}

/** Ends processes in order, and waits for them. */
export async function end(processes: readonly ChildProcess[]): Promise<void> {
    const left = processes.filter(isRunning);
    const ends = left.map((child) => new Promise((resolve) => child.once("exit", resolve)));
    for (const child of left) {
        child.kill("SIGTERM");
    }
    for (const [place, child] of left.entries()) {
        if (!(await endsWithin(END_SECONDS * 1000, ends[place] as Promise<unknown>))) {
            say(`process ${child.pid} did not end within ${END_SECONDS} s and is killed`);
            child.kill("SIGKILL");
            await ends[place];
        }
    }
}
