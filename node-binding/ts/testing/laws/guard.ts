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

// The method that is watched: others of the process may use the network as they like.
const watched = new AsyncLocalStorage<string>();

/** Notes each use of the network in calls that are watched, and refuses new connections to them. */
export class NetworkWatch {
    /** The method, and what it used. */
    readonly seen: { method: string; used: string }[] = [];
    readonly #undo: (() => void)[];

    constructor() {
        const note = (used: string): boolean => {
            const method = watched.getStore();
            if (method !== undefined) {
                this.seen.push({ method, used });
            }
            return method !== undefined;
        };
        const own = Socket.prototype.connect;
        Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
            return note("a connection")
                ? this.destroy(new Error("planning is not to touch the network (law L10)"))
                : (own as (...args: unknown[]) => Socket).apply(this, args);
        };
        const listeners = Object.entries(CHANNELS).map(([channel, what]) => {
            const listener = (message: unknown): void => void note(`${what}${targetOf(message)}`);
            channels.subscribe(channel, listener);
            return () => void channels.unsubscribe(channel, listener);
        });
        const reconnect = (): void => {
            Socket.prototype.connect = own;
        };
        this.#undo = [reconnect, ...listeners];
    }

    /** Watches a call of a method. */
    within<T>(method: string, call: () => T): T {
        return watched.run(method, call);
    }

    end(): void {
        for (const undo of this.#undo.splice(0)) {
            undo();
        }
    }
}

function targetOf(message: unknown): string {
    const { request } = (message ?? {}) as { request?: Record<string, unknown> };
    const origin = request?.origin ?? request?.host;
    const path = request?.path;
    return typeof path === "string" ? ` to ${origin === undefined ? "" : String(origin)}${path}` : "";
}

const METHODS = ["debug", "error", "info", "log", "trace", "warn"] as const;

/** Notes all that is written to the console and the standard streams; it is written all the same. */
export class OutputWatch {
    readonly #seen: string[] = [];
    readonly #undo: (() => void)[] = [];

    constructor() {
        for (const method of METHODS) {
            this.#watch(console, method);
        }
        this.#watch(process.stdout, "write");
        this.#watch(process.stderr, "write");
    }

    get text(): string {
        return this.#seen.join("\n");
    }

    end(): void {
        for (const undo of this.#undo.splice(0)) {
            undo();
        }
    }

    #watch<T extends object>(object: T, name: keyof T & string): void {
        const original = object[name];
        if (typeof original !== "function") {
            return;
        }
        const seen = this.#seen;
        const noting = function (this: unknown, ...args: unknown[]): unknown {
            seen.push(args.map((it) => (typeof it === "string" ? it : inspect(it, { depth: 8 }))).join(" "));
            return original.apply(this, args);
        };
        object[name] = noting as T[keyof T & string];
        this.#undo.push(() => {
            object[name] = original;
        });
    }
}
