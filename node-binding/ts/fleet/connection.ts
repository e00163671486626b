// The way to the server.
import type { Client, ConnectionLike } from "@temporalio/client";
import type { NativeConnection } from "@temporalio/worker";
import { elapsed } from "../process/waiting";
import { dataConverter, lenientConverter } from "./codec";
import { FleetError } from "./ends";
import { temporal } from "./packages";
import type { Engine } from "./wire";

const DEFAULT = "127.0.0.1:7233";
const HERE = ["127.0.0.1", "localhost"];
/** A server that nobody reaches by then is away. */
const CONNECTED_WITHIN = "5s";
/** The same for each look at one that may be about to begin. */
const CONNECTED_SOON = "1s";
/** Milliseconds. */
const LOOK = 200;

let waits: { say: (line: string) => void; seconds: number } | undefined;

/**
 * From now on a server at this machine that refuses connections has so many seconds to begin. `say`: is told once that it is waited
 * for.
 */
export function waitForServersHere(say: (line: string) => void, seconds: number): void {
    waits = { say, seconds };
}

/** Where the server is, and how one comes to it. */
function place(engine: Engine | null) {
    const { connectionOptions, namespace } = temporal("envconfig").loadClientConnectConfig();
    return {
        options: { ...connectionOptions, address: engine?.address ?? connectionOptions.address ?? DEFAULT },
        namespace: engine?.namespace ?? namespace ?? "default",
    };
}

/**
 * A client of the server that the fleet names; what it does not say is in Temporal's own variables and profiles. Throws a
 * `FleetError` when the server cannot be reached.
 */
export async function connect(engine: Engine | null): Promise<Client> {
    const { Client, Connection } = temporal("client");
    const { options, namespace } = place(engine);
    const { address } = options;
    const connectTimeout = mayBegin(address) ? CONNECTED_SOON : CONNECTED_WITHIN;
    const connection = await reached(address, () => Connection.connect({ ...options, connectTimeout }));
    return new Client({ connection, namespace, dataConverter: dataConverter() });
}

/** The client of the same connection for what the server has on record: what is encrypted in it with another key is `null`. */
export function ofRecords(client: { connection: ConnectionLike; options: { namespace: string } }): Client {
    const { connection, options } = client;
    const { Client } = temporal("client");
    return new Client({ connection, namespace: options.namespace, dataConverter: lenientConverter() });
}

/** The same for workers, which have a kind of their own. */
export async function connectWorker(
    engine: Engine | null,
): Promise<{ connection: NativeConnection; namespace: string }> {
    const { options, namespace } = place(engine);
    const connection = await reached(options.address, () => temporal("worker").NativeConnection.connect(options));
    return { connection, namespace };
}

async function reached<T>(address: string, connecting: () => Promise<T>): Promise<T> {
    const { say, seconds = 0 } = mayBegin(address) ? (waits ?? {}) : {};
    const until = performance.now() + seconds * 1000;
    let isAwaited = false;
    while (true) {
        try {
            return await connecting();
        } catch (error) {
            // One that begins refuses at first, and then answers late.
            if (say === undefined || performance.now() > until) {
                throw away(address, inWords(error), error);
            }
        }
        if (!isAwaited) {
            say(`waiting ${seconds} s for the server at ${address}`);
            isAwaited = true;
        }
        await elapsed(LOOK);
    }
}

// Does a command wait for a server that begins?
function mayBegin(address: string): boolean {
    return waits !== undefined && isHere(address);
}

function isHere(address: string): boolean {
    return HERE.includes(address.slice(0, Math.max(address.lastIndexOf(":"), 0)));
}

function away(address: string, why: string, cause: unknown): FleetError {
    return new FleetError(
        `the Temporal server at ${address} cannot be reached: ${why}. \`maloko fleet dev\` starts one on this ` +
            "machine; `engine` in the fleet's file names another",
        { cause },
    );
}

// What the server's packages say, without the names of their own types.
function inWords(error: unknown): string {
    const [line = ""] = (error instanceof Error ? error.message : String(error)).trim().split("\n", 1);
    if (line.includes("ConnectionRefused")) {
        return "connection refused";
    }
    if (line.includes("before the deadline")) {
        return "nobody answers there";
    }
    if (line.includes("dns error")) {
        return "there is no machine of that name";
    }
    const [, found] = /(?:message|error): "([^"]+)"/.exec(line) ?? [];
    return found === undefined ? line : found.slice(0, 1).toLowerCase() + found.slice(1);
}
