// Signals by which a caller ends an operation.

/** Does something when a signal is aborted, at once where it is already. What is returned takes that back. */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
    if (signal?.aborted) {
        action();
    }
    signal?.addEventListener("abort", action, { once: true });
    return () => signal?.removeEventListener("abort", action);
}
