// What a provider method may do wrong, and what is expected of a run with it. The twin of behaviours.py: same names.
//
// A behaviour is a function that stands in for a method. It gets what makes a good answer of the properties to return.

import { fork } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Echo, type Props, Thing } from "../support/kit";
import { Stack } from "../support/stacks";

export type Good = (outs: unknown, id?: unknown) => unknown;
export type Outcome = "error" | "given up" | "fine";

type Kind = "raises" | "returns" | "values" | "ids" | "hangs" | "fine" | "getters";

const BAD: Record<Kind, readonly string[]> = {
    raises: ["configure", "check", "diff", "create", "read", "update", "delete"],
    hangs: ["configure", "check", "diff", "create", "read", "update", "delete"],
    returns: ["check", "diff", "create", "read"],
    // What has members, so that only asking for them fails.
    getters: ["check", "diff", "create", "read", "update"],
    values: ["check", "create", "read", "update"],
    ids: ["create", "read"],
    fine: [],
};

export interface Behaviour {
    name: string;
    kind: Kind;
    play: (good: Good, method: string) => unknown;
    /** Is in the error. */
    says?: string | RegExp;
    /** Methods in which it is an error, where that is no rule of its kind. */
    bad?: readonly string[];
}

/** What a run comes to. */
export function expected(behaviour: Behaviour, method: string): Outcome {
    if (!(behaviour.bad ?? BAD[behaviour.kind]).includes(method)) {
        return "fine";
    }
    return behaviour.kind === "hangs" ? "given up" : "error";
}

/** May there be an object afterwards of which nothing but its making is known? */
export function hidesAnObject(behaviour: Behaviour, method: string): boolean {
    return (
        method === "create" &&
        expected(behaviour, method) !== "fine" &&
        behaviour.kind !== "raises" &&
        behaviour.kind !== "values"
    );
}

const raising = (make: () => unknown) => (): never => {
    throw make();
};
const values = (make: () => unknown) => (good: Good) => good(make());
const doing = (act: () => unknown) => async (good: Good) => {
    await act();
    return good({ n: 2 });
};

function hostileProxy(): object {
    const broken = (): never => {
        throw new Error("no trap");
    };
    // An object without `then` can be awaited.
    const get = (_: object, key: PropertyKey): unknown => (key === "then" ? undefined : broken());
    return new Proxy(
        {},
        { get, has: broken, ownKeys: broken, getPrototypeOf: broken, getOwnPropertyDescriptor: broken },
    );
}

function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
}

function causes(): Error {
    const [first, second] = [new Error("first"), new Error("second")];
    first.cause = second;
    second.cause = first;
    return first;
}

function recursion(): never {
    const deeper = (): unknown => [deeper()];
    deeper();
    throw new Error("not deep enough");
}

function cyclic(): object {
    const value: Props = { n: 2 };
    value.self = [value];
    return value;
}

function deep(): object {
    let value = {};
    for (let level = 0; level < 10_000; level++) {
        value = { d: value };
    }
    return { n: 2, v: value };
}

const throwingGetter = (): object => ({
    get id(): never {
        throw new Error("no getter");
    },
    get outs(): never {
        throw new Error("no getter");
    },
    get inputs(): never {
        throw new Error("no getter");
    },
    get replaces(): never {
        throw new Error("no getter");
    },
    get props(): never {
        throw new Error("no getter");
    },
});

function changing(): object {
    const value: Props = { n: 2 };
    Object.defineProperty(value, "first", {
        enumerable: true,
        get: () => {
            value[`more${Object.keys(value).length}`] = {};
            return value;
        },
    });
    return {
        n: 2,
        get v() {
            return { n: Math.max(...Object.keys(value).map((key) => key.length)) };
        },
    };
}

/** Puts back what behaviours change in the process. */
export async function undone<T>(action: () => Promise<T>): Promise<T> {
    // biome-ignore lint/suspicious/noConsole: providers replace it
    const kept = { parse: JSON.parse, stringify: JSON.stringify, log: console.log, directory: process.cwd() };
    try {
        return await action();
    } finally {
        Object.assign(JSON, { parse: kept.parse, stringify: kept.stringify });
        console.log = kept.log;
        process.chdir(kept.directory);
    }
}

const broken = (): never => {
    throw new Error("broken");
};

async function nestedRun(): Promise<void> {
    const { outcome } = await new Stack({ stack: "inner" }).up(() => void new Thing(new Echo(), "inner"));
    if (outcome !== "succeeded") {
        throw new Error(outcome);
    }
}

async function workerLeftBehind(): Promise<void> {
    const worker = new Worker("setTimeout(() => {}, 500)", { eval: true });
    worker.unref();
    await once(worker, "online");
}

async function forked(): Promise<void> {
    const child = fork("-e", [], { execArgv: ["-e", ""], silent: true });
    await once(child, "exit");
}

function resultChangedLater(good: Good): unknown {
    const outs: Props = { n: 2, list: [1] };
    setTimeout(() => {
        outs.list.push(outs);
        outs.late = () => 1;
    }, 1);
    return good(outs);
}

const named = (Kind: new (...args: never[]) => Error, name: unknown): Error => {
    const error = new (Kind as ErrorConstructor)("odd");
    Object.defineProperty(error, "name", {
        get: () => {
            throw name;
        },
    });
    return error;
};

export const TABLE: Behaviour[] = [
    {
        name: "raises an error",
        kind: "raises",
        play: raising(() => new TypeError("no route")),
        says: "TypeError: no route",
    },
    { name: "raises what is no ordinary error", kind: "raises", play: raising(() => "blunt"), says: "blunt" },
    { name: "raises nothing", kind: "raises", play: raising(() => undefined), says: "undefined was thrown" },
    { name: "raises null", kind: "raises", play: raising(() => null), says: "null was thrown" },
    { name: "rejects with nothing", kind: "raises", play: () => Promise.reject(), says: "undefined was thrown" },
    {
        name: "raises what cannot be shown",
        kind: "raises",
        play: raising(() => ({ toJSON: broken, toString: broken })),
        says: "something that cannot be shown was thrown",
    },
    {
        name: "raises what cannot be changed",
        kind: "raises",
        play: raising(() => Object.freeze(new Error("ice"))),
        says: "ice",
    },
    {
        name: "raises what lies about its class",
        kind: "raises",
        play: raising(() => named(Error, new Error("no name"))),
    },
    { name: "raises what raises at every look", kind: "raises", play: raising(hostileProxy) },
    { name: "raises a revoked proxy", kind: "raises", play: raising(revoked) },
    { name: "raises a cycle of causes", kind: "raises", play: raising(causes), says: "Error: first" },
    {
        name: "raises many errors at once",
        kind: "raises",
        play: raising(
            () =>
                new AggregateError(
                    Array.from({ length: 1000 }, (_, n) => new Error(`${n}`)),
                    "many",
                ),
        ),
        says: "many",
    },
    {
        name: "raises a message of 10 MB",
        kind: "raises",
        play: raising(() => new Error("x".repeat(10_000_000))),
        says: "Error: xxx",
    },
    {
        name: "raises control characters",
        kind: "raises",
        play: raising(() => new Error("\x1b[2J\x07\0")),
        says: "Error",
    },
    {
        name: "raises half a surrogate pair",
        kind: "raises",
        play: raising(() => new Error("a\ud800b")),
        says: "Error: a",
    },
    {
        name: "raises a cancellation nobody asked for",
        kind: "raises",
        play: raising(() => new DOMException("not asked", "AbortError")),
        says: "not asked",
    },
    { name: "recurses without end", kind: "raises", play: recursion, says: "RangeError" },
    { name: "runs out of memory", kind: "raises", play: () => "x".repeat(2 ** 30), says: "RangeError" },
    { name: "ends the process", kind: "raises", play: () => process.exit(0), says: "called process.exit(0)" },
    { name: "interrupts the process", kind: "raises", play: () => process.abort(), says: "called process.abort()" },
    {
        name: "raises a partial failure that cannot be read",
        kind: "raises",
        bad: ["configure", "check", "diff", "create", "read", "update", "delete"],
        play: raising(() => ({
            message: "partly",
            get id(): never {
                throw new Error("no id");
            },
        })),
    },
    { name: "returns nothing", kind: "returns", play: () => undefined, says: "is undefined" },
    { name: "returns null", kind: "returns", play: () => null, says: "is null" },
    { name: "returns a text", kind: "getters", play: () => "made", says: "is a string" },
    { name: "returns a number", kind: "getters", play: () => 3, says: "is a number" },
    { name: "returns a list", kind: "getters", play: () => [1], says: "is a list" },
    { name: "returns a function", kind: "getters", play: () => broken, says: "is a function" },
    { name: "returns a class", kind: "getters", play: () => Error, says: "is a function" },
    { name: "returns what raises at every look", kind: "getters", play: hostileProxy, says: "no trap" },
    {
        name: "returns getters that raise",
        kind: "getters",
        play: throwingGetter,
        says: "no getter",
    },
    {
        name: "returns an awaitable that raises",
        kind: "raises",
        play: () => ({
            // biome-ignore lint/suspicious/noThenProperty: that is what it is about
            get then(): never {
                throw new Error("not to be awaited");
            },
        }),
        says: "not to be awaited",
    },
    {
        name: "settles twice",
        kind: "fine",
        play: (good) => ({
            // biome-ignore lint/suspicious/noThenProperty: that is what it is about
            then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
                resolve(good({ n: 2 }));
                reject(new Error("too late"));
                resolve(3);
            },
        }),
    },
    { name: "returns an id that is no text", kind: "ids", play: (good) => good({ n: 2 }, {}), says: "as id" },
    { name: "returns a cycle", kind: "values", play: values(cyclic), says: "cycles" },
    { name: "returns 10,000 levels", kind: "values", play: values(deep), says: "levels deep" },
    {
        name: "returns bytes",
        kind: "values",
        play: values(() => ({ n: 2, v: Buffer.from("raw") })),
        says: /\.v holds bytes/,
    },
    { name: "returns a set", kind: "values", play: values(() => ({ n: 2, v: new Set([1]) })), says: "is a Set" },
    { name: "returns a map", kind: "values", play: values(() => ({ n: 2, v: new Map() })), says: "is a Map" },
    { name: "returns an object", kind: "values", play: values(() => ({ n: 2, v: () => 1 })), says: "is a function" },
    {
        name: "returns a promise among its values",
        kind: "values",
        play: values(() => ({ n: 2, v: Promise.resolve(1) })),
        says: "is a Promise",
    },
    {
        name: "returns members that raise at every look",
        kind: "values",
        play: values(() => ({ n: 2, v: hostileProxy() })),
        says: "no trap",
    },
    {
        name: "returns a text with half a surrogate pair",
        kind: "values",
        play: values(() => ({ n: 2, v: "\ud800" })),
        says: "half of a surrogate pair",
    },
    {
        name: "returns a number beyond all doubles",
        kind: "values",
        play: values(() => ({ n: 2, v: 10n ** 400n })),
        says: "bigint",
    },
    {
        name: "returns keys that are no texts",
        kind: "values",
        play: values(() => ({ n: 2, v: { [Symbol("odd")]: 1 } })),
        says: "keys must be texts",
    },
    {
        name: "returns what cannot be iterated",
        kind: "values",
        play: values(() => ({
            n: 2,
            v: new Proxy([1], { get: (list, key) => (key === "map" ? broken() : Reflect.get(list, key)) }),
        })),
        says: "broken",
    },
    {
        name: "returns an object that pretends to be the engine's",
        kind: "values",
        play: values(() => ({ n: 2, v: { "4dabf18193072939515e22adb298388d": "something", value: 1 } })),
        says: "signature",
    },
    { name: "returns what changes while it is read", kind: "fine", play: values(changing) },
    {
        name: "returns NaN and infinity",
        kind: "fine",
        play: values(() => ({ n: 2, v: [Number.NaN, Number.POSITIVE_INFINITY, -0] })),
    },
    { name: "returns numbers beyond 2^53", kind: "fine", play: values(() => ({ n: 2, v: 2 ** 60 })) },
    {
        name: "returns the keys of prototypes",
        kind: "fine",
        play: values(() => JSON.parse('{"n":2,"__proto__":{"x":1},"constructor":2}')),
    },
    { name: "returns 5 MB", kind: "fine", play: values(() => ({ n: 2, v: "x".repeat(5_000_000) })) },
    { name: "changes its result after returning it", kind: "fine", play: resultChangedLater },
    { name: "leaves a thread behind", kind: "fine", play: doing(workerLeftBehind) },
    { name: "changes the directory", kind: "fine", play: doing(() => process.chdir("/")) },
    {
        name: "replaces JSON",
        kind: "fine",
        play: doing(() => Object.assign(JSON, { parse: broken, stringify: broken })),
    },
    {
        name: "replaces the output streams",
        kind: "fine",
        play: doing(() => {
            console.log = broken;
        }),
    },
    { name: "runs a stack of its own", kind: "fine", play: doing(nestedRun) },
    { name: "forks a process that ends", kind: "fine", play: doing(forked) },
    { name: "never ends", kind: "hangs", play: () => new Promise((resolve) => setTimeout(resolve, 30_000).unref()) },
    { name: "never settles", kind: "hangs", play: () => new Promise(() => {}) },
    {
        name: "ignores that it is cancelled",
        kind: "hangs",
        // biome-ignore lint/suspicious/noThenProperty: that is what it is about
        play: () => ({ then: () => undefined }),
    },
];
