// The program's transforms and hooks: the SDK's server for them without its server. The engine calls the functions by
// their tokens.
import { AsyncLocalStorage } from "node:async_hooks";

import { describe } from "../process/errors";

type Transform = (args: unknown) => unknown;
type TokenFunctions = Map<string, (bytes: Uint8Array) => Promise<{ serializeBinary(): Uint8Array }>>;

interface Server {
    registerTransform?(this: object, transform: Transform): Promise<unknown>;
    registerStackInvokeTransformAsync?(this: object, transform: Transform): Promise<unknown>;
}

/** A call of a transform: what it threw, with the transform's name. The SDK keeps the text of it only. */
interface TransformCall {
    error?: { thrown: unknown; name: string };
}

const inCall = new AsyncLocalStorage<TransformCall>();

/** An object that the SDK takes for its callback server; undefined for an SDK that has none. */
export function callbackServer(CallbackServer: { prototype: object } | undefined, monitor: object): object | undefined {
    if (CallbackServer === undefined) {
        return undefined;
    }
    const stock = CallbackServer.prototype as Server;
    const server = Object.create(stock) as object;
    const noting = (name: "registerTransform" | "registerStackInvokeTransformAsync"): object => {
        const register = stock[name];
        return register === undefined
            ? {}
            : { [name]: (transform: Transform) => register.call(server, notingErrors(transform)) };
    };
    return Object.assign(server, {
        _callbacks: new Map(),
        _pendingRegistrations: 0,
        _awaitQueue: [],
        _monitor: monitor,
        _target: Promise.resolve("inproc"),
        shutdown: () => {},
        ...noting("registerTransform"),
        ...noting("registerStackInvokeTransformAsync"),
    });
}

function notingErrors(transform: Transform): Transform {
    return async (args) => {
        try {
            return await transform(args);
        } catch (thrown) {
            const call = inCall.getStore();
            if (call !== undefined) {
                call.error = { thrown, name: transform.name };
            }
            throw thrown;
        }
    };
}

/** A function of the program that failed, with what it threw. */
export class CallbackFailed extends Error {
    constructor(
        message: string,
        readonly thrown: unknown,
    ) {
        super(message);
    }
}

/** Calls a transform or hook of a run by its token. */
export async function callByToken(callbacks: unknown, token: string, bytes: Uint8Array): Promise<Uint8Array> {
    const functions = (callbacks as { _callbacks?: TokenFunctions } | undefined)?._callbacks;
    const callback = functions?.get(token);
    if (callback === undefined) {
        throw new Error(`the program has no function with the token ${token}`);
    }
    const call: TransformCall = {};
    try {
        return (await inCall.run(call, () => callback(bytes))).serializeBinary();
    } catch (error) {
        if (call.error === undefined) {
            throw error;
        }
        const { thrown, name } = call.error;
        throw new CallbackFailed(name === "" ? describe(thrown) : `${name}: ${describe(thrown)}`, thrown);
    }
}
