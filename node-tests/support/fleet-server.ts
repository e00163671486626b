// A Temporal server of a test's own, and the ways to it: ports, waiting, and a wire that can be cut.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { inflateSync } from "node:zlib";
import { afterAll, beforeAll, onTestFinished } from "vitest";

/** What Python's packages have as commands: the server, and the other `maloko`. */
export const VENV = join(dirname(fileURLToPath(import.meta.url)), "..", "..", ".venv", "bin");
const SECONDS = 60;

/** Waits for something that other processes do; fails when it does not come. */
export async function until<T>(
    holds: () => T | Promise<T>,
    what: string,
    seconds = SECONDS,
    pause = 50,
): Promise<NonNullable<T>> {
    const end = performance.now() + seconds * 1000;
    while (true) {
        const found = await holds();
        if (found) {
            return found;
        }
        if (performance.now() > end) {
            throw new Error(`waited ${seconds} s for ${what}`);
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
    }
}

/**
 * A port that nobody has. None of those that the kernel gives to connections: one that waits for a server there may be given
 * the server's own port, reach itself, and keep the server from it.
 */
export function freePort(): Promise<number> {
    const port = randomInt(20_000, 32_768);
    return new Promise((resolve) => {
        const found = createServer()
            .once("error", () => resolve(freePort()))
            .listen(port, "127.0.0.1", () => found.close(() => resolve(port)));
    });
}

/** Does somebody listen there? */
export function isServed(port: number): Promise<boolean> {
    return new Promise((resolve) => {
        const found = connect(port, "127.0.0.1");
        found.once("connect", () => {
            found.destroy();
            resolve(true);
        });
        found.once("error", () => resolve(false));
    });
}

/** A way to a server on this machine that can be cut: connections stay, and nothing comes through. */
export class Wire {
    private constructor(
        readonly port: number,
        private readonly thread: Worker,
    ) {}

    /** One that is closed when the test is over. */
    static async to({ port: target }: FleetServer): Promise<Wire> {
        const port = await freePort();
        const thread = new Worker(new URL("./wire.cjs", import.meta.url), { workerData: { port, target } });
        onTestFinished(async () => void (await thread.terminate()));
        await once(thread, "message");
        return new Wire(port, thread);
    }

    /** From now on nothing comes through. */
    cut(): Promise<void> {
        return this.#told("cut");
    }

    /** What was sent in the meantime comes, and all that follows. */
    mend(): Promise<void> {
        return this.#told("mend");
    }

    async #told(word: string): Promise<void> {
        const done = once(this.thread, "message");
        this.thread.postMessage(word);
        await done;
    }
}

interface Payload {
    wasCompressed: boolean;
    content: Buffer;
}

/** A development server of Temporal, with its database in a file. */
export class FleetServer {
    readonly folder = mkdtempSync(join(tmpdir(), "maloko-temporal-"));
    readonly database = join(this.folder, "temporal.db");
    #process: ChildProcess | undefined;

    private constructor(readonly port: number) {}

    /** One that is ready. `cleanUp` is told what removes it. */
    static async started(cleanUp: (remove: () => Promise<void>) => void = onTestFinished): Promise<FleetServer> {
        const server = new FleetServer(await freePort());
        cleanUp(async () => {
            await server.stop();
            rmSync(server.folder, { recursive: true, force: true });
        });
        await server.start();
        return server;
    }

    get address(): string {
        return `127.0.0.1:${this.port}`;
    }

    /** Starts it, and waits until it answers. */
    async start(): Promise<void> {
        const words = ["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", String(this.port)];
        // A run is many small writes; nobody needs them after a power failure.
        words.push("--db-filename", this.database, "--log-level", "never", "--sqlite-pragma", "synchronous=0");
        const server = spawn(join(VENV, "temporal"), words, { stdio: "ignore" });
        this.#process = server;
        await until(() => {
            if (!isRunning(server)) {
                throw new Error("the server ended");
            }
            return isServed(this.port);
        }, `the server at ${this.address}`);
    }

    /** What is in the payloads of all histories of runs that it keeps, each with whether it was compressed. */
    payloads(): Payload[] {
        const listed = this.#told("workflow", "list") as { execution: { workflowId: string; runId: string } }[];
        return listed.flatMap(({ execution: { workflowId, runId } }) =>
            opened(this.#told("workflow", "show", "--workflow-id", workflowId, "--run-id", runId)),
        );
    }

    #told(...words: string[]): unknown {
        words.push("--address", this.address, "--output", "json", "--no-json-shorthand-payloads");
        return JSON.parse(spawnSync(join(VENV, "temporal"), words, { encoding: "utf8" }).stdout);
    }

    /** Stops it; its database stays. */
    async stop(): Promise<void> {
        if (this.#process !== undefined) {
            await ended(this.#process, "SIGTERM");
            this.#process = undefined;
        }
    }
}

/** The server that the tests of a file share. */
export function sharedServer(): () => FleetServer {
    let server: FleetServer;
    let remove: () => Promise<void>;
    beforeAll(async () => {
        server = await FleetServer.started((found) => {
            remove = found;
        });
    });
    afterAll(() => remove());
    return () => server;
}

// What is in the payloads of a document that the server's command has printed.
function opened(document: unknown): Payload[] {
    if (typeof document !== "object" || document === null) {
        return [];
    }
    const { metadata, data } = document as { metadata?: { encoding?: string }; data?: string };
    if (metadata === undefined || data === undefined) {
        return Object.values(document).flatMap(opened);
    }
    const bytes = Buffer.from(data, "base64");
    const encoding = Buffer.from(metadata.encoding ?? "", "base64").toString();
    const wasCompressed = encoding === "binary/maloko-zlib";
    return [{ wasCompressed, content: wasCompressed ? inflateSync(bytes) : bytes }];
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
    return exitCode === null && signalCode === null;
}

/** Sends a process a signal and waits for its end; gives its exit code. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
    if (isRunning(child)) {
        const over = new Promise((resolve) => child.once("exit", resolve));
        child.kill(signal);
        await over;
    }
    return child.exitCode;
}
