// One program on its way through the SDK: its store, its clients, its end.

import type { SerializedObject } from "../../native";
import { callStorage, OpenCalls, type ProviderCall } from "../current";
import { allOf, OwnMap, OwnPromise, OwnSet, soon } from "../originals";
import { noteOfDamage } from "../process/damage";
import { textOf } from "../process/errors";
import { inRunOf } from "../providers/registered";
import type { ProviderRegistry } from "../providers/registry";
import {
    callByToken,
    currentStore,
    giveHandles,
    makersOf,
    pendingRegistrations,
    quietFailures,
    type RunSettings,
    type Sdk,
    type Store,
    serializeProvider,
    setInsideCall,
    takeDeclaredOutputs,
    waitingFor,
    whenCircular,
    whenMade,
    withConfigVariable,
} from "../sdk";
import { capturedOutputs, isOutput } from "../sdk/captured-outputs";
import { type Bridge, type Operation, ProgramFailed, type RpcCallback, type RpcError } from "./bridge";
import { ModuleBodies } from "./module-bodies";
import { engineClient, monitorClient, type Requests } from "./monitor";
import type { PrintedLines, PrintingRun } from "./printed-lines";
import { endOutput, PRINTED } from "./printed-output";
import { followListeners, listensForEnd, tellEnd } from "./program-listeners";
import { whenQuiet } from "./quiet";
import { described, type ResourceClass } from "./resource-classes";

setInsideCall(() => callStorage.getStore() !== undefined);

/** How many milliseconds a program that has failed may take while it waits for nothing that the engine does. */
const QUIET = 1000;

/** How a program ended. */
type End = ProgramFailed | "stopped" | "done";

/** A program in the course of one operation. */
export class Run implements Operation, PrintingRun {
    /** Who cuts into lines what is printed, and is told when a call or the program ends. */
    lines: PrintedLines | undefined;
    #engine = 0;
    #store: Store | undefined;
    #enter: <T>(action: () => T) => T = (action) => action();
    #callbacks: unknown;
    readonly #answers = new Map<string, (bytes: Uint8Array) => Promise<Uint8Array>>();
    #abort: (how: End) => void = () => {};
    #drain: () => Promise<void> = async () => {};
    #bodies: ModuleBodies | undefined;
    #root: string | undefined;
    #sdk: Sdk | undefined;
    readonly #calls = new OpenCalls();
    readonly #making = new OwnMap<number, Omit<ProviderCall, "signal">>();
    #requests = 0;
    #sent = 0;
    #quiet = false;
    // The resources whose provider has made or changed them.
    readonly #changed = new OwnSet<string>();
    #failure: ProgramFailed | "stopped" | undefined;
    #end: End | undefined;
    #processGoesOn = false;

    constructor(
        private readonly bridge: Bridge,
        readonly registry: ProviderRegistry,
        private readonly launch: (engine: number, description: string, run: Run) => Promise<void>,
        /** Enters the async context of whoever started the operation. */
        private readonly context: <T>(action: () => T) => T = (action) => action(),
    ) {}

    get #hasEnded(): boolean {
        return this.#end !== undefined;
    }

    /** Is code of this run's program calling? */
    isCurrent(): boolean {
        return this.#store !== undefined && currentStore() === this.#store;
    }

    readonly within = <T>(action: () => T): T => this.#enter(action);

    readonly serialize = (object: number): Promise<SerializedObject> => {
        const provider = this.registry.objectOf(object);
        if (provider === undefined || this.#root === undefined) {
            return Promise.reject(new Error(`no provider object ${object} in this run`));
        }
        const root = this.#root;
        return this.#enter(() => serializeProvider(root, provider));
    };

    // One function and no chain: each promise costs, for the async contexts of the SDK and of the call follow it.
    async withinCall<T>(
        number: number,
        call: Omit<ProviderCall, "signal">,
        action: (signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
        this.#making.set(number, call);
        if (call.method === "create" || call.method === "update") {
            this.#changed.add(call.urn);
        }
        const signal = this.#calls.begin(number);
        const { native } = this.bridge;
        const engine = this.#engine;
        const current = {
            ...call,
            signal,
            engine,
            get operationKey(): string {
                if (call.operationKey !== "") {
                    native.noteUsedKey(engine, call.urn);
                }
                return call.operationKey;
            },
        };
        try {
            return await this.#enter(() => callStorage.run(current, () => withConfigVariable(() => action(signal))));
        } finally {
            this.#calls.end(number);
            endOutput(current);
            this.lines?.endOf(current);
            this.#making.delete(number);
        }
    }

    cancelCalls(numbers: number[]): void {
        this.#calls.cancel(numbers);
    }

    runProgram(engine: number, description: string): Promise<void> {
        this.#engine = engine;
        return this.launch(engine, description, this);
    }

    callBack(token: string, bytes: Uint8Array): Promise<Uint8Array> {
        const own = this.#answers.get(token);
        return this.#enter(() => own?.(bytes) ?? callByToken(this.#callbacks, token, bytes));
    }

    /** Has a function of ours answer to a token, in the place of one of the program's. */
    answer(token: string, answer: (bytes: Uint8Array) => Promise<Uint8Array>): void {
        this.#answers.set(token, answer);
    }

    stopped(engine: number): void {
        if (engine === this.#engine) {
            this.#abort("stopped");
        }
    }

    /**
     * Ends the program with an error that was raised in it, unless it has ended already. What it began to register
     * before is registered all the same.
     */
    fail(thrown: unknown, text = this.#withDamage(textOf(thrown), thrown)): void {
        this.#endWith(new ProgramFailed(text, thrown));
    }

    #endWith(failure: ProgramFailed | "stopped"): void {
        if (this.#failure === undefined) {
            this.#failure = failure;
            void this.#drainAndEnd(failure);
        }
    }

    async #drainAndEnd(failure: ProgramFailed | "stopped"): Promise<void> {
        const end = (): void => this.#abort(failure);
        // A promise that nothing resolves, or a resource that could not be registered, would be waited for without end.
        const isQuiet = (): boolean => this.#hasEnded || this.waitsForItself;
        const stopLooking = this.#processGoesOn ? whenQuiet(isQuiet, QUIET, end) : undefined;
        try {
            await this.within(this.#drain);
        } catch {
            // The failure is the first one.
        }
        stopLooking?.();
        end();
    }

    /** Ends the program with an error that nobody has caught. */
    failUncaught(thrown: unknown, label: string): void {
        this.fail(thrown, this.#sdk === undefined ? textOf(thrown) : this.errorText(this.#sdk, label, thrown));
    }

    /** The program wants to end the process with that code. Is it this run's to deal with? */
    exited(code: number): boolean {
        if (this.#store === undefined || this.#hasEnded) {
            return false;
        }
        if (code !== 0) {
            const text = `the program ended with process.exit(${code})`;
            this.fail(new Error(text), text);
        } else {
            // As with `sys.exit(0)` in Python: what it has registered is what it has.
            this.#endWith("stopped");
        }
        return true;
    }

    log(urn: string, level: number, message: string): void {
        const call = callStorage.getStore();
        this.bridge.native.log(this.#engine, urn || (call?.urn ?? ""), level, message);
    }

    /** Tells a line that was printed as an event, without secrets; answers whether there is an engine for it. */
    print(line: string): boolean {
        if (this.#engine === 0) {
            return false;
        }
        this.log("", PRINTED, line);
        return true;
    }

    /**
     * Runs a program in the SDK. `program` gives the stack's outputs; `label` is how errors name it. Returns when all
     * that it began is done, or when the engine has stopped; throws `ProgramFailed`.
     */
    async execute(sdk: Sdk, settings: RunSettings, label: string, program: (run: Run) => unknown): Promise<void> {
        this.#root = sdk.root;
        this.#sdk = sdk;
        // With nothing as its value: where `Object.prototype` has a `then`, no promise comes to an object.
        const over = new OwnPromise<void>((resolve) => {
            this.#abort = (how) => {
                this.#end ??= how;
                resolve();
            };
        });
        const requests: Requests = {
            send: (method, request, callback) => this.#send(method, request, callback),
            log: (urn, level, message) => this.log(urn, level, message),
            registered: (type, name, urn, outputs) => this.#registered(type, name, urn, outputs),
            refused: (error) => this.#refused(error),
        };
        const stopFollowing = followListeners();
        const clients = { monitor: monitorClient(sdk, requests), engine: engineClient(sdk, requests) };
        const done = sdk.inStore(settings, clients, async (store, enter) => {
            this.#store = store;
            const inRun = inRunOf();
            this.#enter = (action) => this.context(() => enter(() => inRun(action)));
            this.#callbacks = store.callbacks;
            this.#drain = () => sdk.drain();
            giveHandles(store, (provider) => {
                const handle = this.registry.handleOf(provider);
                const outputs = capturedOutputs(provider);
                return outputs.length === 0 ? handle : waitingFor(sdk.root, handle, outputs);
            });
            if (this.#quiet) {
                quietFailures(store);
            }
            const bodies = this.#bodies;
            if (bodies !== undefined) {
                whenMade(store, (type, name) => bodies.note(type, name));
            }
            whenCircular(store, (text) => this.#abort(new ProgramFailed(text, new Error(text))));
            if (sdk.warning !== undefined) {
                this.log("", 2, sdk.warning);
            }
            await sdk.runInStack(async () => {
                try {
                    const exported = await inRun(() => program(this));
                    return await (typeof exported === "function" ? exported() : exported);
                } catch (thrown) {
                    this.fail(thrown, this.errorText(sdk, label, thrown));
                    // The SDK must not see the failure: it would reject every output of the stack.
                    return new OwnPromise<never>(() => {});
                }
            });
            // An error that nobody catches is told when the promises that are at hand have had their turn.
            await new OwnPromise<void>((resolve) => soon(() => resolve()));
            if (this.#failure !== undefined) {
                // The program has failed, and what it had begun before is still being registered.
                await over;
            }
        });
        const follow = async (): Promise<void> => {
            try {
                await done;
                this.#abort("done");
            } catch (thrown) {
                this.#abort(new ProgramFailed(this.errorText(sdk, label, thrown), thrown));
            }
        };
        void follow();
        await over;
        this.lines?.endOf(undefined);
        try {
            stopFollowing();
        } catch {
            // Frozen by the program, or robbed of what it needs: the end is what counts.
        }
        if (this.#store !== undefined) {
            // Leftovers of an ended program are no leaks.
            this.#store.terminated = true;
        }
        if (this.#end instanceof ProgramFailed) {
            throw this.#end;
        }
        for (const { urn, file } of this.#bodies?.notExecutedAgain() ?? []) {
            this.bridge.native.refuseDeletion(
                this.#engine,
                urn,
                "it is not registered in this run, but that does not mean that the program no longer has it: the body of " +
                    `${file} registers it, which ran when the file was loaded in an earlier run of this process, and does ` +
                    "not run again. Nothing is deleted. Register resources in functions, or use a process for each run",
            );
        }
    }

    /**
     * Runs a program in a process that goes on after it. What it listens for at the end of the process is told at its own end,
     * again after each time that it has asked the engine for something, as Node does with one that has nothing left to do.
     */
    async toItsEnd(program: () => unknown): Promise<unknown> {
        this.#processGoesOn = true;
        const exported = await program();
        const outputs: unknown = await (typeof exported === "function" ? exported() : exported);
        const store = this.#store;
        if (store === undefined || !listensForEnd(store)) {
            return outputs;
        }
        let sent: number;
        do {
            await this.#drain();
            sent = this.#sent;
            await allOf(tellEnd(store));
            await this.#drain();
        } while (sent !== this.#sent);
        return outputs;
    }

    /** Guards what an earlier run of this process registered from the bodies of modules that stay loaded. */
    guardModuleBodies(project: string, stack: string): void {
        this.#bodies = new ModuleBodies(project, stack);
    }

    /** The provider calls that go on just now. */
    get making(): Omit<ProviderCall, "signal">[] {
        return [...this.#making.values()];
    }

    /** Others watch this process for rejections that nobody handles: a test runner. */
    keepQuiet(): void {
        this.#quiet = true;
    }

    /** Does the program wait for nothing that the engine does, without having ended? */
    get waitsForItself(): boolean {
        return this.#store !== undefined && !this.#hasEnded && this.#requests === 0;
    }

    /** The resources that the program has made, and whose registration still waits for an input, dependency or parent. */
    get unregistered(): string[] {
        return this.#store === undefined ? [] : pendingRegistrations(this.#store);
    }

    /** Does the registration of a resource wait for what nothing is left to bring? */
    get isWaitedFor(): boolean {
        return (this.#store?.pendingResourceRegistrations?.size ?? 0) > 0;
    }

    /** The classes of the dynamic resources that the program has made, with those of their providers. */
    async resourceClasses(): Promise<ResourceClass[]> {
        const makers = this.#store === undefined ? [] : [...makersOf(this.#store)];
        const found = await allOf(
            makers.map(async ({ make, type, provider }) => {
                const handle: unknown = isOutput(provider) ? await provider.promise(true) : provider;
                const object = typeof handle === "string" ? this.registry.objectOfHandle(handle) : undefined;
                const place = this.registry.placeOf(make);
                return object && place && described(make, place, type, this.registry.referenceOf(object));
            }),
        );
        return found.filter((it) => it !== undefined);
    }

    /** Ends what has not ended when the process has nothing left to do: it never will. */
    endIdle(label: string): void {
        let failure = this.#failure;
        try {
            failure ??= this.stuck(label);
        } catch (thrown) {
            failure = new ProgramFailed(`Running program '${label}' came to no end${noteOfDamage()}`, thrown);
        }
        this.#abort(failure);
    }

    /** What to say when the process has nothing left to do, but the program waits for something. */
    stuck(label: string): ProgramFailed {
        const pending = this.unregistered;
        const text =
            pending.length === 0
                ? `Running program '${label}' ended while it still waited for a promise that nothing will ever resolve`
                : `Running program '${label}' ended before these resources could be registered; an input, dependency or parent ` +
                  `of each is a promise or output that nothing will ever resolve${list(":", pending)}`;
        const all = text + noteOfDamage();
        return new ProgramFailed(all, new Error(all));
    }

    abortWith(failure: ProgramFailed): void {
        this.#abort(failure);
    }

    /** An error of the program as the user should see it. */
    errorText(sdk: Sdk, label: string, thrown: unknown): string {
        return this.#withDamage(this.#textOf(sdk, label, thrown), thrown);
    }

    // An error in code of others, with what was changed that all code needs, and with what could not be registered.
    #withDamage(text: string, thrown: unknown): string {
        const note = isOfPackages(thrown) ? noteOfDamage() : "";
        try {
            return note === "" ? text : `${text}${note}${list("\nnot registered:", this.unregistered)}`;
        } catch {
            return text + note;
        }
    }

    #textOf(sdk: Sdk, label: string, thrown: unknown): string {
        try {
            const plain = sdk.plainMessage(thrown);
            if (plain !== undefined) {
                return plain;
            }
            const text = textOf(thrown);
            // Without a frame of the program, at least its name is to be told.
            return /\n\s+at /.test(text) ? text : `${text}\n    in the program ${label}`;
        } catch {
            return `the program ${label} failed with an error that cannot be read${noteOfDamage()}`;
        }
    }

    /** Has the run say something at its end, once in an operation with a preview. */
    note(text: string): void {
        this.bridge.native.note(this.#engine, text);
    }

    #send(method: string, request: Uint8Array, callback: RpcCallback): void {
        this.#requests++;
        this.#sent++;
        this.bridge.rpc(this.#engine, method, request, (error, bytes) => {
            this.#requests--;
            if (error === null) {
                // Only resolves a promise, whose followers know their run themselves.
                callback(error, bytes);
            } else {
                this.#enter(() => callback(error, bytes));
            }
        });
    }

    // An output that the class does not declare is in the state, but nobody can read it: most likely an oversight.
    #registered(type: string, name: string, urn: string, outputs: () => string[]): void {
        this.#bodies?.registered(type, urn);
        const declared = this.#store && takeDeclaredOutputs(this.#store, type, name);
        // Of what stays as it is it was told when it was made.
        const isNew = declared !== undefined && this.#changed.has(urn);
        if (!isNew) {
            return;
        }
        const hidden = outputs().filter((name) => !declared.outputs.has(name) && !name.startsWith("__"));
        if (hidden.length > 0) {
            this.bridge.native.noteUndeclared(this.#engine, urn, declared.className, hidden);
        }
    }

    #refused(error: RpcError): void {
        if (!this.#hasEnded) {
            this.fail(new Error(error.details), error.details);
        }
    }
}

function list(title: string, items: string[]): string {
    return items.length === 0 ? "" : `${title}${items.map((item) => `\n  * ${item}`).join("")}`;
}

// Is the nearest frame of an error in a package, and not in the program?
function isOfPackages(thrown: unknown): boolean {
    try {
        const frame = /\n\s+at .*/.exec(String((thrown as { stack?: unknown }).stack));
        return frame === null || /[\\/]node_modules[\\/]|[(\s]node:/.test(frame[0]);
    } catch {
        return true;
    }
}
