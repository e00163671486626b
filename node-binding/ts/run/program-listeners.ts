// What a program listens for on `process`. Node calls such a listener from outside of everything that goes on; what it
// registers is part of the program all the same.
import { AsyncLocalStorage } from "node:async_hooks";
import { callStorage } from "../current";
import { currentStore, type Store } from "../sdk";

type Listener = (...args: unknown[]) => unknown;
type Add = (event: string | symbol, listener: Listener) => NodeJS.Process;
type Adding = "on" | "addListener" | "once" | "prependListener" | "prependOnceListener";
type Wrap = (listener: Listener, owner: Store, event: string | symbol) => Listener;

const adders = process as unknown as Record<Adding, Add>;
// Whose program has added a listener. One that was there before, or that a provider call adds, is nobody's.
const owners = new WeakMap<Listener, Store>();
let users = 0;
let restore = (): void => {};

/** From now on, what a program adds to `process` is called as part of it. What is returned ends that for what is added later. */
export function followListeners(): () => void {
    if (users++ === 0) {
        restore = replaceAll();
    }
    return () => {
        if (--users === 0) {
            restore();
        }
    };
}

function replaceAll(): () => void {
    const { on, prependListener } = adders;
    const undo = [
        replace("on", bound, on),
        replace("addListener", bound, on),
        replace("prependListener", bound, prependListener),
        replace("once", boundOnce, on),
        replace("prependOnceListener", boundOnce, prependListener),
    ];
    return () => {
        for (let index = 0; index < undo.length; index++) {
            undo[index]?.();
        }
    };
}

function replace(name: Adding, wrap: Wrap, add: Add): () => void {
    const original = adders[name];
    const instead: Add = (event, listener) => {
        const owner = currentStore();
        // Only `beforeExit` may register resources. A listener of another event, as the SDK's own, would keep the run for ever.
        const isOfProgram = event === "beforeExit" && owner !== undefined && callStorage.getStore() === undefined;
        return isOfProgram && typeof listener === "function"
            ? add.call(process, event, wrap(listener, owner, event))
            : original.call(process, event, listener);
    };
    adders[name] = instead;
    return () => {
        // Whoever has put something over it keeps that.
        if (adders[name] === instead) {
            adders[name] = original;
        }
    };
}

function bound(listener: Listener, owner: Store): Listener {
    const snapshot = AsyncLocalStorage.snapshot();
    const instead: Listener = (...args) => {
        const call = (): unknown => listener.apply(process, args);
        return currentStore() === owner ? call() : snapshot(call);
    };
    owners.set(instead, owner);
    // By this member Node knows it as the listener that it stands for: it can be taken away, and is listed.
    return Object.assign(instead, { listener });
}

function boundOnce(listener: Listener, owner: Store, event: string | symbol): Listener {
    const once: Listener = (...args) => {
        process.off(event, instead);
        return listener.apply(process, args);
    };
    const instead = Object.assign(bound(once, owner), { listener });
    return instead;
}

/** Has the program of that run added listeners for the end of the process? */
export function listensForEnd(owner: Store): boolean {
    return ofEnd(owner).length > 0;
}

/** Calls them, as Node does when the process has nothing left to do, and gives what they return. */
export function tellEnd(owner: Store): unknown[] {
    return ofEnd(owner).map((listener) => listener.call(process, process.exitCode ?? 0));
}

function ofEnd(owner: Store): Listener[] {
    const all = process.rawListeners("beforeExit") as Listener[];
    return all.filter((it) => owners.get(it) === owner);
}
