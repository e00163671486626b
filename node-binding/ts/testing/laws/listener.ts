// Listens to the calls of a stack's provider, with the very values that its methods were given and returned.
import { later, notLater } from "../../originals";
import { METHODS } from "../../sdk/methods";
import { NetworkWatch } from "./guard";
import type { Trial } from "./trial";

// Milliseconds: a create may have failed before it was called.
const MAX_WAIT = 1000;

type Method = (...args: unknown[]) => unknown;

/** A call, as the provider saw it. */
export interface ObservedCall {
    method: string;
    result?: unknown;
    failure?: { thrown: unknown };
    /** How many requests the world counted meanwhile. */
    requests: number;
}

/** What is heard of the provider of one trial. */
export class Listener {
    readonly calls: ObservedCall[] = [];
    /** Called when a method begins, with its answer. */
    entering: ((method: string, answer: Promise<unknown>) => void) | undefined;
    #network: NetworkWatch | undefined;
    // Calls of `create` that wait for others.
    #gate: { missing: number; opens: Promise<void>; open: () => void } | undefined;
    readonly #undo: () => void;

    constructor(private readonly trial: Trial) {
        const provider = trial.provider as Record<string, unknown>;
        const [prototype, own] = [Object.getPrototypeOf(provider) as object | null, { ...provider }];
        // Methods of the class stay methods of a class: the engine tells them from attributes of the object.
        const heard = Object.create(prototype) as Record<string, unknown>;
        for (const method of METHODS.filter((it) => it !== "close" && trial.has(it))) {
            const called = this.#listening(method, provider[method] as Method);
            if (Object.hasOwn(own, method)) {
                provider[method] = called;
            } else {
                Object.defineProperty(heard, method, { value: called, configurable: true, writable: true });
            }
        }
        Object.setPrototypeOf(provider, heard);
        this.#undo = () => {
            Object.setPrototypeOf(provider, prototype);
            for (const method of METHODS.filter((it) => Object.hasOwn(own, it))) {
                provider[method] = own[method];
            }
        };
    }

    /** The last call of a method. */
    last(method: string): ObservedCall | undefined {
        return this.calls.findLast((it) => it.method === method);
    }

    /** From now on, `check` and `diff` must not touch the network. */
    guard(): void {
        this.#network ??= new NetworkWatch();
    }

    /** From now on, each `create` waits until so many have come (0: for none), or for a second. */
    gather(count: number): void {
        let open = (): void => {};
        const opens = new Promise<void>((resolve) => {
            open = resolve;
        });
        this.#gate = count === 0 ? undefined : { missing: count, opens, open };
    }

    /** What they touched of it. */
    get touched(): NetworkWatch["seen"] {
        return this.#network?.seen ?? [];
    }

    end(): void {
        this.#network?.end();
        this.#undo();
    }

    #listening(method: string, original: Method): Method {
        const listener = this;
        return function (this: unknown, ...args: unknown[]): Promise<unknown> {
            return listener.#heard(method, () => original.apply(this, args));
        };
    }

    #gather(): Promise<void> | undefined {
        const gate = this.#gate;
        if (gate === undefined) {
            return undefined;
        }
        gate.missing--;
        if (gate.missing <= 0) {
            gate.open();
        }
        const timer = later(gate.open, MAX_WAIT);
        return gate.opens.finally(() => notLater(timer));
    }

    async #heard(method: string, call: () => unknown): Promise<unknown> {
        const heard: ObservedCall = { method, requests: 0 };
        this.calls.push(heard);
        const before = this.trial.world?.calls ?? 0;
        const network = plans(method) ? this.#network : undefined;
        const gathered = method === "create" ? this.#gather() : undefined;
        const answer = (async () => {
            await gathered;
            return network === undefined ? call() : network.within(method, call);
        })();
        this.entering?.(method, answer);
        try {
            heard.result = await answer;
            return heard.result;
        } catch (thrown) {
            heard.failure = { thrown };
            throw thrown;
        } finally {
            heard.requests = (this.trial.world?.calls ?? 0) - before;
        }
    }
}

/** Does a method run in previews, too? */
export function plans(method: string): boolean {
    return method === "check" || method === "diff";
}
