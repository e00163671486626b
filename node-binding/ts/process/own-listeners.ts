// Our own listeners on `process`: they outlive a `process.removeAllListeners()` of a program or provider, which means its own.
import { OwnSet } from "../originals";

type Listener = (...args: never[]) => unknown;
type Remove = (event: string | symbol, listener: Listener) => NodeJS.Process;

const own = new OwnSet<Listener>();
const { on, prependListener, off, removeListener, removeAllListeners } = process;
const remove = off as unknown as Remove;

/** Listens to an event of the process, before all others if `first`. What is returned ends that. */
export function listen(event: string, listener: Listener, first = false): () => void {
    guard();
    own.add(listener);
    const add = (first ? prependListener : on) as unknown as Remove;
    add.call(process, event, listener);
    return () => {
        own.delete(listener);
        remove.call(process, event, listener);
        if (own.size === 0 && process.removeAllListeners === removeAllInstead) {
            process.off = off;
            process.removeListener = removeListener;
            process.removeAllListeners = removeAllListeners;
        }
    };
}

function guard(): void {
    if (own.size === 0) {
        process.off = removeInstead as typeof off;
        process.removeListener = removeInstead as typeof removeListener;
        process.removeAllListeners = removeAllInstead;
    }
}

function removeInstead(event: string | symbol, listener: Listener): NodeJS.Process {
    return own.has(listener) ? process : remove.call(process, event, listener);
}

function removeAllInstead(...events: (string | symbol)[]): NodeJS.Process {
    // Node listens to `removeListener` itself, and has to hear of the others: as there, it comes last.
    const all = process.eventNames().filter((event) => event !== "removeListener");
    for (const event of events.length > 0 ? events : [...all, "removeListener"]) {
        for (const listener of process.rawListeners(event)) {
            removeInstead(event, listener as Listener);
        }
    }
    return process;
}
