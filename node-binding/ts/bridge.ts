// This thread's end of the crossing to the engine: numbers requests, hands out messages, keeps the process alive.

import { MessageKind } from "../native";
import { CallFailed, type Failure } from "./calls";
import { describe, textOf, tracebackOf } from "./errors";
import { loadAddon, type NativeBridge, type NativeMessage } from "./native";
import type { ProviderReference, ProviderRegistry } from "./registry";
import { CallbackFailed, type SerializedProvider } from "./seams";

/** A request that the engine refused; `code` is a gRPC status. */
export interface RpcError extends Error {
    code: number;
    details: string;
}

/** Takes the answer to a request. */
export type RpcCallback = (error: RpcError | null, bytes: Uint8Array) => void;

/** gRPC status: the run is over. The SDK takes it as "the engine is shutting down" and goes quietly. */
export const UNAVAILABLE = 14;

/** What the engine may ask of the one who started an operation. */
export interface Operation {
    /** The providers, by number. */
    readonly registry: ProviderRegistry;
    /** Runs something as part of the program: with its configuration, its monitor and its logs. */
    within<T>(action: () => T): T;
    /** A provider object as the SDK itself would have stored it, by its number. */
    readonly serialize: (object: number) => Promise<SerializedProvider>;
    /** Runs something as a provider's call on behalf of a resource. */
    withinCall<T>(number: number, urn: string, method: string, action: (signal: AbortSignal) => Promise<T>): Promise<T>;
    /** Tells the code of calls, by their numbers, that nobody waits for them any longer. */
    cancelCalls(numbers: number[]): void;
    /** Runs the program against an engine; a program that failed throws `ProgramFailed`. */
    runProgram(engine: number, description: string): Promise<void>;
    /** Calls a function of the program by its token. */
    callBack(token: string, bytes: Uint8Array): Promise<Uint8Array>;
    /** A message on a resource; levels from 0 (debug) to 3 (error). */
    log(urn: string, level: number, message: string): void;
    /** The engine cannot go on. */
    stopped(engine: number): void;
}

/** A program that ended with an error; `text` is how the user should see it. */
export class ProgramFailed extends Error {
    constructor(
        readonly text: string,
        readonly thrown: unknown,
    ) {
        super(text);
    }
}

/** What a command line asks of its front. */
export interface Front {
    runPass(args: string[]): Promise<number>;
    reExecute(request: {
        projectRoot: string;
        runtimeOptions: unknown;
        arguments: string[];
    }): Promise<number | undefined>;
    exit(code: number): void;
}

/** One per JavaScript thread. */
export class Bridge {
    readonly native: NativeBridge;
    readonly #requests = new Map<number, RpcCallback>();
    readonly #operations = new Map<number, Operation>();
    readonly #finished = new Map<number, (report: string) => void>();
    // Error objects that the engine knows by number only, so that the same object can be thrown again.
    readonly #errors = new Map<number, unknown>();
    readonly #keepAlive: NodeJS.Timeout;
    #holds = 0;
    #lastRequest = 0;
    #lastError = 0;
    #front: Front | undefined;

    /** Has the engine begun to ask for things? From then on it is the one who deals with signals. */
    engaged = false;

    private constructor() {
        const { Bridge: Native } = loadAddon();
        this.native = new Native(() => this.#receive());
        this.#keepAlive = setInterval(() => {}, 0x7fffffff).unref();
    }

    static #only: Bridge | undefined;

    /** The bridge of this thread. */
    static get(): Bridge {
        Bridge.#only ??= new Bridge();
        return Bridge.#only;
    }

    /** Keeps the process alive until `release` was called as often. */
    hold(): void {
        if (this.#holds++ === 0) {
            this.#keepAlive.ref();
        }
    }

    release(): void {
        if (--this.#holds === 0) {
            this.#keepAlive.unref();
        }
    }

    /** How many requests to engines wait for their answers. */
    get pending(): number {
        return this.#requests.size;
    }

    /** Sends a request of the program. */
    rpc(engine: number, method: string, request: Uint8Array, callback: RpcCallback): void {
        const number = ++this.#lastRequest;
        this.#requests.set(number, callback);
        this.hold();
        this.native.rpc(engine, number, method, asBuffer(request));
    }

    /** Keeps an error object and gives its number. */
    keepError(thrown: unknown): number {
        const number = ++this.#lastError;
        this.#errors.set(number, thrown);
        return number;
    }

    /** The error object of a number; `{ thrown }` because anything can be thrown. */
    errorOf(number: number): { thrown: unknown } | undefined {
        return this.#errors.has(number) ? { thrown: this.#errors.get(number) } : undefined;
    }

    /** Serves an operation's messages under a number; 0 is the command line's. */
    serve(number: number, operation: Operation): void {
        this.#operations.set(number, operation);
    }

    stopServing(number: number): void {
        this.#operations.delete(number);
        if (this.#operations.size === 0) {
            this.#errors.clear();
        }
    }

    /** Runs the command line; `front.exit` is called with the exit code. */
    runCli(args: string[], about: { version: string; executable: string; sdk: string }, front: Front): void {
        this.#front = front;
        this.hold();
        this.native.runCli(args, about.version, about.executable, about.sdk);
    }

    /** Runs an operation of the library and gives its report (JSON). */
    runOperation(number: number, settings: string): Promise<string> {
        this.hold();
        return new Promise((resolve) => {
            this.#finished.set(number, resolve);
            this.native.runOperation(number, settings);
        });
    }

    #receive(): void {
        for (const message of this.native.take()) {
            try {
                this.#handle(message);
            } catch (error) {
                // Nothing may escape into the engine's thread; whoever waits for an answer gets the error.
                this.#fail(message.number, error);
            }
        }
    }

    #handle(message: NativeMessage): void {
        switch (message.kind) {
            case MessageKind.Answered:
            case MessageKind.Refused:
                this.#settle(message);
                break;
            case MessageKind.CallProvider:
                this.engaged = true;
                this.#callProvider(message);
                break;
            case MessageKind.CancelCalls:
                this.#operations.get(message.target ?? 0)?.cancelCalls(JSON.parse(message.text ?? "[]") as number[]);
                break;
            case MessageKind.Rebuild:
                this.engaged = true;
                void this.#answer(message.number, async () => {
                    const { registry, within, serialize } = this.#operation(message.target);
                    if (message.method === "serialize") {
                        return JSON.stringify(await serialize(Number(message.text)));
                    }
                    const reference = JSON.parse(message.text ?? "{}") as ProviderReference;
                    switch (message.method) {
                        case "find":
                            return JSON.stringify(registry.find(reference) ?? null);
                        case "isByHand":
                            return JSON.stringify(registry.isByHand(reference));
                        case "named":
                            return JSON.stringify((await within(() => registry.named(reference))) ?? null);
                        default:
                            return JSON.stringify((await within(() => registry.rebuild(reference))) ?? null);
                    }
                });
                break;
            case MessageKind.CallBack:
                this.#callBack(message);
                break;
            case MessageKind.RunProgram:
                this.engaged = true;
                this.#runProgram(message);
                break;
            case MessageKind.RunPass:
                void this.#answer(message.number, async () => {
                    return JSON.stringify((await this.#front?.runPass(JSON.parse(message.text ?? "[]"))) ?? 255);
                });
                break;
            case MessageKind.ReExecute:
                void this.#answer(message.number, async () => {
                    return JSON.stringify((await this.#front?.reExecute(JSON.parse(message.text ?? "{}"))) ?? null);
                });
                break;
            case MessageKind.Stopped:
                for (const operation of this.#operations.values()) {
                    operation.stopped(message.target ?? 0);
                }
                break;
            case MessageKind.Exit:
                this.release();
                this.#front?.exit(message.code ?? 255);
                break;
            case MessageKind.Finished:
                this.release();
                this.#finished.get(message.number)?.(message.text ?? "{}");
                this.#finished.delete(message.number);
                break;
        }
    }

    #settle(message: NativeMessage): void {
        const callback = this.#requests.get(message.number);
        this.#requests.delete(message.number);
        this.release();
        if (message.kind === MessageKind.Answered) {
            callback?.(null, message.bytes ?? new Uint8Array());
            return;
        }
        callback?.(rpcError(message.code ?? UNAVAILABLE, message.text ?? ""), new Uint8Array());
    }

    #operation(number: number | undefined): Operation {
        const operation = this.#operations.get(number ?? 0);
        if (operation === undefined) {
            throw new Error("the operation that this call belongs to is over");
        }
        return operation;
    }

    #callProvider(message: NativeMessage): void {
        const { number, target = 0, ofCall = 0, method = "", urn = "", text = "{}" } = message;
        let owner: Operation | undefined;
        for (const operation of this.#operations.values()) {
            if (operation.registry.has(target)) {
                owner = operation;
                break;
            }
        }
        if (owner === undefined) {
            throw new Error(`provider object ${target} belongs to no run that goes on`);
        }
        const { registry } = owner;
        const warn = (warning: string): void => owner.log(urn, 2, warning);
        void this.#answer(number, () => {
            return owner.withinCall(ofCall, urn, method, (signal) => registry.call(target, method, text, warn, signal));
        });
    }

    #callBack(message: NativeMessage): void {
        this.hold();
        Promise.resolve()
            .then(() => this.#operation(message.target).callBack(message.text ?? "", message.bytes ?? new Uint8Array()))
            .then((bytes) => this.native.answerBytes(message.number, asBuffer(bytes)))
            .catch((error: unknown) => this.#fail(message.number, error))
            .finally(() => this.release());
    }

    // The program decides itself how long the process lives: there is no hold here.
    #runProgram(message: NativeMessage): void {
        const engine = message.target ?? 0;
        const description = message.text ?? "{}";
        const { registry = 0 } = JSON.parse(description) as { registry?: number };
        this.#operation(registry)
            .runProgram(engine, description)
            .then(() => this.native.answer(message.number, ""))
            .catch((error: unknown) => {
                const failed = error instanceof ProgramFailed ? error : new ProgramFailed(textOf(error), error);
                this.native.fail(message.number, failed.text, this.keepError(failed.thrown));
            });
    }

    async #answer(call: number, action: () => Promise<string>): Promise<void> {
        this.hold();
        try {
            this.native.answer(call, await action());
        } catch (error) {
            this.#fail(call, error);
        } finally {
            this.release();
        }
    }

    #fail(call: number, error: unknown): void {
        if (error instanceof CallFailed) {
            this.native.fail(call, JSON.stringify(error.failure), this.keepError(error.thrown));
            return;
        }
        const ofCallback = error instanceof CallbackFailed;
        const thrown = ofCallback ? error.thrown : error;
        const message = ofCallback ? error.message : describe(error);
        const failure: Failure = { kind: "raised", message, traceback: tracebackOf(thrown) };
        this.native.fail(call, JSON.stringify(failure), this.keepError(thrown));
    }
}

// The same memory, as the addon takes it.
function asBuffer(bytes: Uint8Array): Buffer {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** An error as gRPC clients report it. */
export function rpcError(code: number, details: string): RpcError {
    return Object.assign(new Error(`${code}: ${details}`), { code, details, message: details });
}
