// Provider methods that a test answers itself, or has fail.
import { METHODS } from "../../sdk/methods";
import { show } from "../values";

/** Which calls are meant: those for which everything that is given holds. */
export interface CallPattern {
    /** The resource's name; `*` stands for anything. */
    resource?: string;
    /** The resource's type token, or the class's name in it; `*` stands for anything. */
    type?: string;
    /** The provider's class, or its name. */
    provider?: string | (abstract new (...args: never[]) => object);
    /** The method. */
    method?: string;
    /** Only this one of the calls, from 1. */
    nth?: number;
}

/** What happens to them: exactly one of the first five. */
export interface Behaviour {
    /** The very object that the call throws. */
    throws?: unknown;
    /** What the method returns. */
    returns?: unknown;
    /** Called in the method's place with its arguments; may be asynchronous. */
    calls?: (...args: never[]) => unknown;
    /** There is no answer: until a time limit of the engine, or until the run is given up. */
    hangs?: true;
    /** The method is called, but only after so many seconds of the stack's clock. */
    delay?: number;
    /** With `throws`, `returns` or `calls`: after the method itself, whose answer does not count. */
    after?: boolean;
}

/** A stub in force. */
export interface Stub {
    /** How often the test's own answer was given. */
    readonly count: number;
    /** The methods are themselves again. */
    restore(): void;
    [Symbol.dispose](): void;
}

/** As the engine's side takes it; `object` is filled in for each run. */
export interface Fault {
    id: number;
    resource?: string;
    type?: string;
    provider?: string;
    method?: string;
    nth?: number;
    deed: { do: "call" | "callAfter"; object: object } | { do: "delay"; seconds: number } | { do: "hang" };
}

/** The stubs of one stack. */
export class Stubs {
    readonly #faults = new Map<number, Fault>();
    #last = 0;

    add(pattern: string | CallPattern, behaviour: Behaviour): Stub {
        const { provider, ...rest }: CallPattern = typeof pattern === "string" ? { method: pattern } : pattern;
        const given = (["throws", "returns", "calls", "hangs", "delay"] as const).filter((key) => key in behaviour);
        if (given.length !== 1) {
            throw new TypeError(
                "a stub does exactly one thing (throws, returns, calls, hangs or delay), " +
                    `but was given ${given.length === 0 ? show(behaviour) : given.join(" and ")}`,
            );
        }
        if (rest.method !== undefined && !METHODS.includes(rest.method)) {
            throw new TypeError(`'${rest.method}' is no method of a provider: there are ${METHODS.join(", ")}`);
        }
        if (rest.nth !== undefined && !(Number.isInteger(rest.nth) && rest.nth > 0)) {
            throw new TypeError(`nth is ${show(rest.nth)}; the first call is \`nth: 1\``);
        }
        const id = ++this.#last;
        const counter = { count: 0 };
        this.#faults.set(id, {
            id,
            ...rest,
            ...(provider === undefined ? {} : { provider: typeof provider === "string" ? provider : provider.name }),
            deed: deedOf(behaviour, counter),
        });
        const restore = (): void => void this.#faults.delete(id);
        return {
            get count() {
                return counter.count;
            },
            restore,
            [Symbol.dispose]: restore,
        };
    }

    /** No method is stubbed any longer. */
    clear(): void {
        this.#faults.clear();
    }

    /** The faults in force, the newest first: it is the one that counts. */
    get all(): Fault[] {
        return [...this.#faults.values()].reverse();
    }
}

function deedOf(behaviour: Behaviour, counter: { count: number }): Fault["deed"] {
    if (behaviour.hangs) {
        return { do: "hang" };
    }
    if (behaviour.delay !== undefined) {
        return { do: "delay", seconds: behaviour.delay };
    }
    const answer = (...args: unknown[]): unknown => {
        counter.count++;
        if ("throws" in behaviour) {
            throw behaviour.throws;
        }
        return behaviour.calls === undefined ? behaviour.returns : behaviour.calls(...(args as never[]));
    };
    return { do: behaviour.after === true ? "callAfter" : "call", object: new StubProvider(answer) };
}

/** The provider object that is called in the place of another one: whatever its method is called, it does the same. */
class StubProvider {
    readonly #answer: (...args: unknown[]) => unknown;

    constructor(answer: (...args: unknown[]) => unknown) {
        this.#answer = answer;
    }

    static {
        for (const method of METHODS) {
            const value = function (this: StubProvider, ...args: unknown[]): unknown {
                return this.#answer(...args);
            };
            Object.defineProperty(StubProvider.prototype, method, { value });
        }
    }
}
