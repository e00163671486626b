// Waiting for no longer than so long, or than a caller wants.
import { later, notLater } from "../originals";

/** Resolves when so many milliseconds have gone by. */
export function elapsed(milliseconds: number): Promise<void> {
    return new Promise((resolve) => later(resolve, milliseconds));
}

/** Does something end within so many milliseconds, well or not? */
export async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
        timer = later(() => resolve(false), milliseconds);
    });
    const ended = work.then(
        () => true,
        () => true,
    );
    try {
        return await Promise.race([ended, late]);
    } finally {
        notLater(timer);
    }
}

/** Does something when a signal is aborted, at once where it is already. What is returned takes that back. */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
    if (signal?.aborted) {
        action();
    }
    signal?.addEventListener("abort", action, { once: true });
    return () => signal?.removeEventListener("abort", action);
}
