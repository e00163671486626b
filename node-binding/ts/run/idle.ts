// When is a program over? As with the stock runtime: when the process has nothing left to do. Resources that are made in
// timers and callbacks are registered too. What provider calls leave behind (pools, timers) must not hold the end up.
import * as channels from "node:diagnostics_channel";
import * as net from "node:net";
import { callStorage } from "../current";
import { notSoon, OwnPromise, soon } from "../originals";
import { listen } from "../process/own-listeners";
import type { Bridge } from "./bridge";

const { getActiveResourcesInfo, nextTick } = process;

/**
 * Resolves when nothing keeps the process alive but us: no timer, no open handle, no request under way. The caller must
 * not hold the bridge meanwhile. As Node does, it asks the listeners of `beforeExit` again after each round in which one of them
 * began something.
 */
export function processIdle(bridge: Bridge): Promise<void> {
    return new OwnPromise((resolve) => {
        let begun = true;
        let asked = 0;
        let forgetRound = (): void => {};
        const onIdle = (): void => {
            forgetRound();
            if (bridge.pending > 0) {
                return;
            }
            if (!begun && asked === bridge.asked) {
                // First of all: what ends the listening may have been taken away.
                resolve();
                stopListening();
                return;
            }
            begun = false;
            asked = bridge.asked;
            forgetRound = whenBegun(() => {
                begun = true;
            });
        };
        // Before those of the program: what they begin is seen from here.
        const stopListening = listen("beforeExit", onIdle, true);
        // Asked for in a listener of the same event, it is to hear of the next one.
        soon(() => {});
    });
}

/**
 * Calls back when the listeners that are called after this one begin something that takes longer than themselves. What is returned
 * ends that: what still waits when the process is idle again would take the next round for what was begun, and so on for ever.
 */
function whenBegun(found: () => void): () => void {
    let second: NodeJS.Immediate | undefined;
    const before = getActiveResourcesInfo().length;
    nextTick(() => {
        if (getActiveResourcesInfo().length > before) {
            found();
        }
        // Not all that keeps a process alive is listed. This goes through the loop once, and a second time only with others.
        soon(() => {
            second = soon(found).unref();
        });
    });
    return () => notSoon(second);
}

/** Keeps sockets, servers and timers that provider calls open from holding up the end of the program. */
export function releaseProviderHandles(): void {
    const listen = net.Server.prototype.listen as (this: net.Server, ...args: unknown[]) => net.Server;
    net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]): net.Server {
        const server = listen.apply(this, args);
        return callStorage.getStore() === undefined ? server : server.unref();
    } as typeof net.Server.prototype.listen;
    channels.subscribe("net.client.socket", (message) => {
        if (callStorage.getStore() !== undefined) {
            (message as { socket: { unref(): void } }).socket.unref();
        }
    });
    for (const name of ["setTimeout", "setInterval"] as const) {
        const original = globalThis[name] as (...args: unknown[]) => NodeJS.Timeout;
        const replacement = (...args: unknown[]): NodeJS.Timeout => {
            const timer = original(...args);
            // While a provider call is under way, it is the call that keeps the process alive.
            return callStorage.getStore() === undefined ? timer : timer.unref();
        };
        Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original));
        Object.defineProperty(globalThis, name, {
            value: replacement,
            configurable: true,
            writable: true,
            enumerable: true,
        });
    }
}
