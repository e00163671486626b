// This thread's end of the crossing to the engine: numbers requests, hands out messages, keeps the process alive.

import { Buffer } from "node:buffer";
import type { CallFailure, SerializedObject } from "../../native";
import type { ProviderCall } from "../current";
import { loadAddon, type NativeBridge, type NativeMessage, type NativeStack } from "../native";
import { every, OwnMap, OwnPromise, parseJson, toJsonText } from "../originals";
import { everythingIsAwaited } from "../process/damage";
import { describe, textOf, tracebackOf } from "../process/errors";
import { CallFailed } from "../providers/calls";
import type { ProviderReference, ProviderRegistry } from "../providers/registry";
import { belowCall } from "../providers/tracing";
import { CallbackFailed } from "../sdk";
import { endless, failureText, unspeakable } from "./failures";
import type { ResourceClass } from "./resource-classes";

/** A request that the engine refused; `code` is a gRPC status. */
export interface RpcError extends Error {
    code: number;
    details: string;
}

type MessageOf<Kind extends NativeMessage["kind"]> = Extract<NativeMessage, { kind: Kind }>;

/** How often the calls that go on are looked at. */
const LOOK = 1000;

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
    readonly serialize: (object: number) => Promise<SerializedObject>;
    /** Runs something as a provider's call on behalf of a resource. */
    withinCall<T>(
        number: number,
        call: Omit<ProviderCall, "signal">,
        action: (signal: AbortSignal) => Promise<T>,
    ): Promise<T>;
    /** Tells the code of calls, by their numbers, that nobody waits for them any longer. */
    cancelCalls(numbers: number[]): void;
    /** Runs the program against an engine; a program that failed throws `ProgramFailed`. */
    runProgram(engine: number, description: string): Promise<void>;
    /** Calls a function of the program by its token. */
    callBack(token: string, bytes: Uint8Array): Promise<Uint8Array>;
    /** A message on a resource; levels from 0 (debug) to 3 (error). */
    log(urn: string, level: number, message: string): void;
    /** Ends the program with an error that was not raised in it. */
    fail(error: unknown): void;
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

/** What a command line asks of the language that it runs in. */
export interface LanguageHost {
    runPass(args: string[]): Promise<number>;
    reExecute(request: { runtimeOptions: unknown; arguments: string[] }): Promise<number | undefined>;
    /** Does what a command of `fleet` asks for (JSON), and gives its exit code. */
    fleet(request: string): Promise<number>;
    /** The classes of dynamic resources that the program made. */
    resourceClasses(): Promise<ResourceClass[]>;
    exit(code: number): void;
}

/** What `maloko about` and `maloko new` tell of the installation. */
export interface About {
    version: string;
    /** The version of the SDK. */
    sdk: string;
    /** The file that this package was installed from. */
    from: string;
    /** What starts a command line: the executable, and what comes before the arguments. */
    command: string[];
}

/** Takes what an invocation of the command line tells while it goes on. */
export interface InvocationListener {
    written(stream: "out" | "err", bytes: Uint8Array): void;
    event(event: unknown): void;
    progress(report: unknown): void;
}

/** One per JavaScript thread. */
export class Bridge {
    readonly native: NativeBridge;
    readonly #requests = new OwnMap<number, RpcCallback>();
    readonly #operations = new OwnMap<number, Operation>();
    readonly #finished = new OwnMap<number, (report: string) => void>();
    readonly #listeners = new OwnMap<number, InvocationListener>();
    // Error objects that the engine knows by number only, so that the same object can be thrown again.
    readonly #errors = new OwnMap<number, { thrown: unknown; operation: number }>();
    // The calls that are not answered yet, with their operations.
    readonly #calls = new OwnMap<number, number>();
    readonly #keepAlive: NodeJS.Timeout;
    #holds = 0;
    #left = false;
    #lastRequest = 0;
    #lastError = 0;
    // 0 is the command line's.
    #lastOperation = 0;
    #languageHost: LanguageHost | undefined;

    /** Has the engine begun to ask for things? From then on it is the one who deals with signals. */
    engaged = false;

    private constructor() {
        const { Bridge: Native } = loadAddon();
        this.native = new Native(() => this.#receive());
        this.#keepAlive = every(() => this.#giveUpEndless(), LOOK).unref();
    }

    static #only: Bridge | undefined;

    /** The bridge of this thread. */
    static get(): Bridge {
        Bridge.#only ??= new Bridge();
        return Bridge.#only;
    }

    /**
     * From now on somebody else keeps the process alive as long as it is needed: a test runner, which must be able to end
     * although a call of a test hangs.
     */
    leaveProcess(): void {
        this.#keepAlive.unref();
        this.#left = true;
    }

    /** Keeps the process alive until `release` was called as often. */
    hold(): void {
        if (this.#holds++ === 0 && !this.#left) {
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

    /** How many requests there were until now. */
    get asked(): number {
        return this.#lastRequest;
    }

    /** Sends a request of the program. */
    rpc(engine: number, method: string, request: Uint8Array, callback: RpcCallback): void {
        const number = ++this.#lastRequest;
        this.#requests.set(number, callback);
        this.hold();
        this.native.rpc(engine, number, method, asBuffer(request));
    }

    /** Keeps an error object until its operation is over, and gives its number. */
    keepError(thrown: unknown, operation: number): number {
        const number = ++this.#lastError;
        this.#errors.set(number, { thrown, operation });
        return number;
    }

    /** The error object of a number; `{ thrown }` because anything can be thrown. */
    errorOf(number: number): { thrown: unknown } | undefined {
        return this.#errors.get(number);
    }

    /** A number that no operation of this thread has had. */
    newOperation(): number {
        return ++this.#lastOperation;
    }

    /** Serves an operation's messages under a number; 0 is the command line's. */
    serve(number: number, operation: Operation): void {
        this.#operations.set(number, operation);
    }

    stopServing(number: number): void {
        this.#operations.delete(number);
        for (const [error, { operation }] of this.#errors) {
            if (operation === number) {
                this.#errors.delete(error);
            }
        }
    }

    /** Runs the command line; `languageHost.exit` is called with the exit code. */
    runCli(args: string[], about: About, languageHost: LanguageHost): void {
        this.#languageHost = languageHost;
        this.hold();
        this.native.cliMain(args, about.version, about.sdk, about.from, about.command);
    }

    /** Runs an operation on a stack of the kit and gives its report (JSON). */
    runTest(number: number, stack: NativeStack, order: string, program: string): Promise<string> {
        return this.#finish(number, () => this.native.runTest(number, stack, order, program));
    }

    #finish(number: number, begin: () => void): Promise<string> {
        this.hold();
        return new OwnPromise((resolve) => {
            this.#finished.set(number, resolve);
            begin();
        });
    }

    /** Runs the command line in this process and gives its report (JSON). */
    invoke(number: number, request: string, listener: InvocationListener): Promise<string> {
        this.#listeners.set(number, listener);
        return this.#finish(number, () => this.native.invoke(number, request));
    }

    #receive(): void {
        const messages = this.native.take();
        // Here and where else calls are answered, without the iterators of lists: they may have been taken away.
        for (let index = 0; index < messages.length; index++) {
            const message = messages[index] as NativeMessage;
            try {
                this.#handle(message);
            } catch (error) {
                // Nothing may escape into the engine's thread; whoever waits for an answer gets the error.
                if ("call" in message) {
                    this.#fail(message.call, error, 0);
                } else {
                    this.#giveUp(error);
                }
            }
        }
    }

    #giveUpEndless(): void {
        if (this.#calls.size === 0 || !everythingIsAwaited()) {
            return;
        }
        this.#calls.forEach((_operation, call) => {
            this.native.fail(call, endless(), 0);
            this.#answered(call);
        });
    }

    // A call was answered, or given up: an answer that comes later is no answer.
    #answered(call: number): void {
        if (this.#calls.delete(call)) {
            this.release();
        }
    }

    // What was told is lost, and somebody waits for it: no run of this thread can come to its end.
    #giveUp(error: unknown): void {
        try {
            this.#operations.forEach((operation) => {
                operation.fail(error);
            });
        } catch {
            this.native.close();
        }
    }

    #handle(message: NativeMessage): void {
        switch (message.kind) {
            case "callProvider":
                this.engaged = true;
                this.#callProvider(message);
                break;
            case "answered":
                this.#settle(message.request, null, message.bytes);
                break;
            case "refused":
                this.#settle(message.request, rpcError(message.code, message.reason), new Uint8Array());
                break;
            case "cancelCalls":
                this.#operations.get(message.operation)?.cancelCalls(message.calls);
                break;
            case "lookUp":
                this.engaged = true;
                this.#answerJson(message.call, message.operation, () => this.#lookUp(message));
                break;
            case "serialize":
                this.engaged = true;
                this.#answerJson(message.call, message.operation, async () =>
                    this.#operation(message.operation).serialize(message.object),
                );
                break;
            case "callBack":
                this.#callBack(message);
                break;
            case "runProgram":
                this.engaged = true;
                this.#runProgram(message);
                break;
            case "runPass":
                this.#answerJson(
                    message.call,
                    0,
                    async () => (await this.#languageHost?.runPass(message.arguments)) ?? 255,
                );
                break;
            case "reExecute":
                this.#answerJson(message.call, 0, async () =>
                    this.#languageHost?.reExecute(parseJson(message.request)),
                );
                break;
            case "fleet":
                // Signals are the command's own.
                this.engaged = true;
                this.#answerJson(
                    message.call,
                    0,
                    async () => (await this.#languageHost?.fleet(message.request)) ?? 255,
                );
                break;
            case "resourceClasses":
                this.#answerJson(message.call, 0, async () => (await this.#languageHost?.resourceClasses()) ?? []);
                break;
            case "stopped":
                this.#operations.forEach((operation) => {
                    operation.stopped(message.engine);
                });
                break;
            case "leaveSignals":
                this.engaged = true;
                break;
            case "exit":
                this.release();
                this.#languageHost?.exit(message.code);
                break;
            case "finished":
                this.release();
                this.#finished.get(message.operation)?.(message.report);
                this.#finished.delete(message.operation);
                this.#listeners.delete(message.operation);
                break;
            case "written":
                this.#listeners.get(message.operation)?.written(message.stream, message.bytes);
                break;
            case "engineEvent":
                this.#listeners.get(message.operation)?.event(parseJson(message.event));
                break;
            case "progress":
                this.#listeners.get(message.operation)?.progress(parseJson(message.report));
                break;
        }
    }

    #settle(request: number, error: RpcError | null, bytes: Uint8Array): void {
        const callback = this.#requests.get(request);
        this.#requests.delete(request);
        this.release();
        callback?.(error, bytes);
    }

    async #lookUp({ operation, method, reference: text }: MessageOf<"lookUp">): Promise<unknown> {
        const { registry, within } = this.#operation(operation);
        const reference = parseJson(text) as ProviderReference;
        switch (method) {
            case "find":
                return registry.find(reference);
            case "isByHand":
                return within(() => registry.isByHand(reference));
            case "named":
                return within(() => registry.named(reference));
            case "rebuild":
                return within(() => registry.rebuild(reference));
        }
    }

    #operation(number: number): Operation {
        const operation = this.#operations.get(number);
        if (operation === undefined) {
            throw new Error("the operation that this call belongs to is over");
        }
        return operation;
    }

    #callProvider({
        call,
        object,
        configuration,
        ofCall,
        method,
        urn,
        operationKey,
        traceParent,
        traceState,
        arguments: text,
    }: MessageOf<"callProvider">): void {
        const found = this.#ownerOf(object);
        if (found === undefined) {
            throw new Error(`provider object ${object} belongs to no run that goes on`);
        }
        const { operation, owner } = found;
        const warn = (warning: string): void => owner.log(urn, 2, warning);
        void this.#answer(call, operation, () => {
            const described = { urn, method, operationKey };
            return owner.withinCall(ofCall, described, (signal) =>
                belowCall({ traceparent: traceParent, tracestate: traceState }, () =>
                    owner.registry.call(object, configuration, method, text, warn, signal),
                ),
            );
        });
    }

    #ownerOf(object: number): { operation: number; owner: Operation } | undefined {
        let found: { operation: number; owner: Operation } | undefined;
        this.#operations.forEach((owner, operation) => {
            if (found === undefined && owner.registry.has(object)) {
                found = { operation, owner };
            }
        });
        return found;
    }

    #callBack({ call, operation, token, request }: MessageOf<"callBack">): void {
        void this.#answering(call, operation, async () => {
            const bytes = await this.#operation(operation).callBack(token, request);
            this.native.answerBytes(call, asBuffer(bytes));
        });
    }

    // The program decides itself how long the process lives: there is no hold here.
    #runProgram({ call, engine, description }: MessageOf<"runProgram">): void {
        const { registry = 0 } = parseJson(description) as { registry?: number };
        void this.#untilItsEnd(call, registry, () => this.#operation(registry).runProgram(engine, description));
    }

    async #untilItsEnd(call: number, registry: number, program: () => Promise<void>): Promise<void> {
        try {
            await program();
            this.native.answer(call, "");
        } catch (error) {
            const failed = error instanceof ProgramFailed ? error : new ProgramFailed(textOf(error), error);
            this.native.fail(call, failed.text, this.keepError(failed.thrown, registry));
        }
    }

    #answerJson(call: number, operation: number, action: () => Promise<unknown>): void {
        void this.#answer(call, operation, async () => toJsonText((await action()) ?? null));
    }

    #answer(call: number, operation: number, action: () => Promise<string>): Promise<void> {
        return this.#answering(call, operation, async () => {
            this.native.answer(call, await action());
        });
    }

    async #answering(call: number, operation: number, action: () => Promise<void>): Promise<void> {
        this.#calls.set(call, operation);
        this.hold();
        try {
            await action();
        } catch (error) {
            this.#fail(call, error, operation);
        } finally {
            this.#answered(call);
        }
    }

    // Whatever the error is like, the call is answered: what nobody answers, the run waits for.
    #fail(call: number, error: unknown, operation: number): void {
        try {
            this.#describeFailure(call, error, operation);
        } catch {
            this.native.fail(call, unspeakable(), 0);
        }
    }

    #describeFailure(call: number, error: unknown, operation: number): void {
        if (error instanceof CallFailed) {
            this.native.fail(call, failureText(error.failure), this.keepError(error.thrown, operation));
            return;
        }
        const ofCallback = error instanceof CallbackFailed;
        const thrown = ofCallback ? error.thrown : error;
        const message = ofCallback ? error.message : describe(error);
        const failure: CallFailure = { kind: "raised", message, traceback: tracebackOf(thrown) };
        this.native.fail(call, failureText(failure), this.keepError(thrown, operation));
    }
}

// The same memory, as the addon takes it.
function asBuffer(bytes: Uint8Array): Buffer {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** An error as gRPC clients report it. */
export function rpcError(code: number, details: string): RpcError {
    const error = new Error(details) as RpcError;
    error.code = code;
    error.details = details;
    return error;
}
