// The way to the server.
import * as net from "node:net";
import type { Client } from "@temporalio/client";
import type { NativeConnection } from "@temporalio/worker";
import { later } from "../originals";
import { dataConverter } from "./codec";
import { FleetError } from "./ends";
import { temporal } from "./packages";
import type { Engine } from "./wire";

const DEFAULT = "127.0.0.1:7233";
const HERE = ["127.0.0.1", "localhost"];
/** A server that nobody reaches by then is away. */
const CONNECTED_WITHIN = "5s";
/** The same for the question whether somebody is there, in milliseconds. */
const ANSWERS_WITHIN = 5000;
/** Milliseconds that a server at this machine has to begin. */
const BEGINS_WITHIN = 20_000;
const LOOK = 200;
/** Variables that name a proxy: through it, the machine's own way says nothing. */
const PROXIES = ["grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY"];
const REFUSED = "connection refused";
const UNKNOWN = "there is no machine of that name";
/** What is known of a server before the packages of Temporal connect, by the error's code. */
const IN_WORDS: Record<string, string> = { ECONNREFUSED: REFUSED, ENOTFOUND: UNKNOWN };

let waits: ((line: string) => void) | undefined;

/**
 * From now on a server at this machine that refuses connections has some seconds to begin. `say`: is told once that it is waited
 * for.
 */
export function waitForServersHere(say: (line: string) => void): void {
    waits = say;
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
    const connection = await reached(options.address, () =>
        Connection.connect({ ...options, connectTimeout: CONNECTED_WITHIN }),
    );
    return new Client({ connection, namespace, dataConverter: dataConverter() });
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
    await begun(address);
    try {
        return await connecting();
    } catch (error) {
        throw away(address, inWords(error), error);
    }
}

// Throws where nobody is at the address: the packages of Temporal would ask for seconds, and not say why.
async function begun(address: string): Promise<void> {
    const until = performance.now() + BEGINS_WITHIN;
    let isAwaited = false;
    while (true) {
        const error = await refusal(address);
        const why = IN_WORDS[error?.code ?? ""];
        if (why === undefined) {
            return;
        }
        if (why !== REFUSED || waits === undefined || !isHere(address) || performance.now() > until) {
            throw away(address, why, error);
        }
        if (!isAwaited) {
            waits(`waiting for the server at ${address}`);
            isAwaited = true;
        }
        await new Promise<void>((resolve) => later(resolve, LOOK));
    }
}

// Why nobody answers at an address; undefined where somebody does, or where only Temporal's packages can tell.
function refusal(address: string): Promise<NodeJS.ErrnoException | undefined> {
    const [, host, port] = /^\[?([^\]]+)\]?:(\d+)$/.exec(address) ?? [];
    if (host === undefined || (!isHere(address) && PROXIES.some((name) => process.env[name]))) {
        return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
        const socket = net.connect({ host, port: Number(port), timeout: ANSWERS_WITHIN });
        const end = (error?: NodeJS.ErrnoException): void => {
            socket.destroy();
            resolve(error);
        };
        socket.once("connect", () => end());
        socket.once("timeout", () => end());
        socket.once("error", end);
    });
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
        return REFUSED;
    }
    if (line.includes("dns error")) {
        return UNKNOWN;
    }
    const [, found] = /(?:message|error): "([^"]+)"/.exec(line) ?? [];
    return found === undefined ? line : found.slice(0, 1).toLowerCase() + found.slice(1);
}
