// The provider call that code belongs to, and how it learns that nobody waits for it any longer.
import { AsyncLocalStorage } from "node:async_hooks";
import { OwnAbortController, OwnMap, OwnSet } from "./originals";

/** One call of a provider method. */
export interface ProviderCall {
    /** The resource on whose behalf the call is made; empty outside of calls. */
    readonly urn: string;
    /** The method's name; empty outside of calls. */
    readonly method: string;
    /**
     * In `create`: a key that stays the same for every attempt to make this object, on whatever machine, until one is known
     * to have succeeded. Pass it on as an idempotency key. Empty in all other methods.
     */
    readonly operationKey: string;
    /** Aborted when the run is cancelled or the call has taken too long: pass it to `fetch` and the like. */
    readonly signal: AbortSignal;
}

/** A call as this package keeps it. */
export interface OwnCall extends ProviderCall {
    engine: number;
}

/** Which provider call the running code belongs to. */
export const callStorage = new AsyncLocalStorage<OwnCall>();

/**
 * The provider call that the running code belongs to. Outside of calls (in a test that calls a method itself) it is a
 * call without a resource that is never cancelled.
 */
export function currentCall(): ProviderCall {
    return callStorage.getStore() ?? { urn: "", method: "", operationKey: "", signal: new AbortController().signal };
}

/** The calls of one run that can still be told to end. */
export class OpenCalls {
    readonly #open = new OwnMap<number, AbortController>();
    readonly #cancelled = new OwnSet<number>();

    /** Begins a call under its number, and gives its signal. */
    begin(number: number): AbortSignal {
        const controller = new OwnAbortController();
        this.#open.set(number, controller);
        if (this.#cancelled.has(number)) {
            controller.abort(new CancelledError());
        }
        return controller.signal;
    }

    /** Ends a call. */
    end(number: number): void {
        this.#open.delete(number);
    }

    /** Tells the code of calls that nobody waits for them. A number may come before its call. */
    cancel(numbers: number[]): void {
        for (const number of numbers) {
            this.#cancelled.add(number);
            this.#open.get(number)?.abort(new CancelledError());
        }
    }
}

/** The reason of an aborted signal. */
export class CancelledError extends Error {
    override readonly name = "AbortError";

    constructor() {
        super("the call was cancelled: the run is to end, or the call has taken longer than its limit");
    }
}

/** Did a method end because its signal was aborted? What it has done is not known then. */
export function isInterruption(thrown: unknown, signal: AbortSignal | undefined): boolean {
    if (signal?.aborted !== true) {
        return false;
    }
    for (let error = thrown, depth = 0; error instanceof Object && depth < 10; depth++) {
        if (error === signal.reason || (error as { name?: unknown }).name === "AbortError") {
            return true;
        }
        error = (error as { cause?: unknown }).cause;
    }
    return false;
}
