// Ctrl-C, for what waits: what is waited for last fails with an `Interrupt`, and the work itself is left alone.
import { isatty } from "node:tty";
import { listen } from "../../process/own-listeners";

/** Ctrl-C, SIGTERM or the end of the terminal. */
export class Interrupt extends Error {}

/** Signals within so many milliseconds count as one: `timeout` sends two. */
const APART = 1000;

const waiting: ((error: Interrupt) => void)[] = [];

/** From now on they end waiting, and no longer the process. What is returned takes that back. */
export function listenForInterrupts(): () => void {
    let last = Number.NEGATIVE_INFINITY;
    const hear = (): void => {
        const now = performance.now();
        if (now - last >= APART) {
            last = now;
            waiting.at(-1)?.(new Interrupt("interrupted"));
        }
    };
    const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
    let isClosed = false;
    const hearOfClosedTerminal = (): void => {
        isClosed = hasTerminal;
        hear();
    };
    const ends = [listen("SIGINT", hear), listen("SIGTERM", hear), listen("SIGHUP", hearOfClosedTerminal)];
    return () => {
        for (const end of ends) {
            end();
        }
        if (isClosed) {
            // Everything has ended. Node would abort now, for it cannot put back how the terminal was.
            process.kill(process.pid, "SIGKILL");
        }
    };
}

/** Waits for something; Ctrl-C ends the waiting with an `Interrupt`. */
export async function waitedFor<T>(work: Promise<T>): Promise<T> {
    let end = (_: Interrupt): void => {};
    const interrupted = new Promise<never>((_, reject) => {
        end = (error) => {
            leave();
            reject(error);
        };
    });
    const leave = (): void => {
        const place = waiting.indexOf(end);
        if (place >= 0) {
            waiting.splice(place, 1);
        }
    };
    waiting.push(end);
    try {
        return await Promise.race([work, interrupted]);
    } finally {
        leave();
    }
}

/** Waits for something although somebody interrupts: what a command has started is ended, however often that is asked for. */
export async function uninterrupted<T>(work: () => Promise<T>): Promise<T> {
    const ignore = (): void => {};
    waiting.push(ignore);
    try {
        return await work();
    } finally {
        waiting.splice(waiting.indexOf(ignore), 1);
    }
}
