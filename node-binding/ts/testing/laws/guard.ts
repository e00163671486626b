// What a provider does besides answering: connections that it opens, and what it writes for people to see.
import { AsyncLocalStorage } from "node:async_hooks";
import * as channels from "node:diagnostics_channel";
import { Socket } from "node:net";
import { inspect } from "node:util";

// Node tells of these itself, also for clients that keep a connection open from an earlier call.
const CHANNELS: Record<string, string> = {
    "http.client.request.created": "an HTTP request",
    "http.client.request.start": "an HTTP request",
    "undici:request:create": "an HTTP request (fetch)",
    "net.client.socket": "a connection",
    "udp.socket": "a UDP socket",
};

// Set in what is watched: others of the process may use the network as they like.
const watched = new AsyncLocalStorage<true>();

/** Notes each use of the network that `action` makes, and refuses new connections to it. */
export async function watchNetwork(action: () => Promise<void>): Promise<string[]> {
    const seen: string[] = [];
    const own = Socket.prototype.connect;
    Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
        if (watched.getStore() === undefined) {
            return (own as (...args: unknown[]) => Socket).apply(this, args);
        }
        seen.push("a connection");
        return this.destroy(new Error("planning is not to touch the network (law L10)"));
    };
    const listeners = Object.entries(CHANNELS).map(([channel, what]) => {
        const listener = (message: unknown): void => {
            if (watched.getStore() !== undefined) {
                seen.push(`${what}${targetOf(message)}`);
            }
        };
        channels.subscribe(channel, listener);
        return () => channels.unsubscribe(channel, listener);
    });
    try {
        await watched.run(true, action);
    } finally {
        Socket.prototype.connect = own;
        for (const stop of listeners) {
            stop();
        }
    }
    return seen;
}

function targetOf(message: unknown): string {
    const { request } = (message ?? {}) as { request?: Record<string, unknown> };
    const origin = request?.origin ?? request?.host;
    const path = request?.path;
    return typeof path === "string" ? ` to ${origin === undefined ? "" : String(origin)}${path}` : "";
}

const METHODS = ["debug", "error", "info", "log", "trace", "warn"] as const;

/** Notes all that is written to the console and the standard streams while `action` goes on; it is written all the same. */
export async function watchOutput(action: () => Promise<void>): Promise<string> {
    const seen: string[] = [];
    const restore: (() => void)[] = [];
    const watch = <T extends object>(object: T, name: keyof T & string): void => {
        const original = object[name];
        if (typeof original !== "function") {
            return;
        }
        const noting = function (this: unknown, ...args: unknown[]): unknown {
            seen.push(args.map((it) => (typeof it === "string" ? it : inspect(it, { depth: 8 }))).join(" "));
            return original.apply(this, args);
        };
        object[name] = noting as T[keyof T & string];
        restore.push(() => {
            object[name] = original;
        });
    };
    for (const method of METHODS) {
        watch(console, method);
    }
    watch(process.stdout, "write");
    watch(process.stderr, "write");
    try {
        await action();
    } finally {
        for (const undo of restore) {
            undo();
        }
    }
    return seen.join("\n");
}
