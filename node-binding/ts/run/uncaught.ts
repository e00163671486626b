// Errors that nobody catches, in a process that belongs to the caller: those of a run's program fail that run, all others
// go the way that they would go without us.
import { callStorage } from "../current";
import { textOf } from "../process/errors";
import { listen } from "../process/own-listeners";
import type { Run } from "./run";

interface LabelledRun {
    run: Run;
    label: string;
}

const runs = new Set<LabelledRun>();
// The SDK lets several promises fail with one error.
const seen = new WeakSet<object>();

/** From now on, an error that nobody catches in the program of this run fails it. What is returned ends that. */
export function attributeUncaught(run: Run, label: string): () => void {
    const own = { run, label };
    if (runs.size === 0) {
        listening.push(listen("uncaughtException", onError), listen("unhandledRejection", onError));
    }
    runs.add(own);
    return () => {
        runs.delete(own);
        if (runs.size === 0) {
            stop();
        }
    };
}

// Not made within `attributeUncaught`: what outlives a run there would keep it.
const listening: (() => void)[] = [];

function stop(): void {
    for (const stopListening of listening.splice(0)) {
        stopListening();
    }
}

function onError(thrown: unknown): void {
    const isObject = typeof thrown === "object" && thrown !== null;
    if (isObject && seen.has(thrown)) {
        return;
    }
    const owner = [...runs].find(({ run }) => run.isCurrent());
    if (owner === undefined) {
        leaveToOthers(thrown);
        return;
    }
    if (isObject) {
        seen.add(thrown);
    }
    const call = callStorage.getStore();
    if (call === undefined) {
        owner.run.failUncaught(thrown, owner.label);
    } else {
        owner.run.log(
            call.urn,
            2,
            `an error was raised in \`${call.method}\` that nobody waits for:\n${textOf(thrown)}`,
        );
    }
}

// Where others listen, they have heard of it already. Else it ends the process, as it does without us.
function leaveToOthers(thrown: unknown): void {
    const listeners = [...process.listeners("uncaughtException"), ...process.listeners("unhandledRejection")];
    if (listeners.every((listener) => listener === onError)) {
        stop();
        setImmediate(() => {
            throw thrown;
        });
    }
}
