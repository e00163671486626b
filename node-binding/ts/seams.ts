// The one file that touches names of the Pulumi SDK which are not public. Each seam is guarded: what a new SDK version
// has moved is either reported (where results depend on it) or done without (where only speed does).
import type { AsyncLocalStorage } from "node:async_hooks";
import * as fs from "node:fs";
import Module, { createRequire, findSourceMap } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

import { type AnyOutput, isOutput } from "./captured";

/** The SDK versions that are tested, oldest and newest. */
export const OLDEST_SDK = "3.139.0";
export const NEWEST_SDK = "3.270.0";

interface ServiceMethod {
    path: string;
    responseDeserialize(bytes: Uint8Array): unknown;
}

/** The parts of the SDK's per-run store that we set. */
export interface Store {
    settings: {
        options: Record<string, unknown>;
        monitor?: unknown;
        engine?: unknown;
        rpcDone: Promise<unknown>;
    };
    callbacks?: unknown;
    terminated?: boolean;
    pendingResourceRegistrations?: Map<unknown, { name?: string; type?: string; label?: string }>;
    [flag: string]: unknown;
}

/** What a run is told. */
export interface RunSettings {
    project: string;
    stack: string;
    organization: string;
    dryRun: boolean;
    config: Record<string, string>;
    secretKeys: string[];
    projectRoot?: string;
}

interface Modules {
    state: { LocalStore: new () => Store; asyncLocalStorage?: AsyncLocalStorage<Store> };
    settings: { resetOptions(...options: unknown[]): void; disconnect(signal?: boolean): Promise<void> };
    config: { setAllConfig(config: Record<string, string>, secretKeys?: string[]): void };
    stack: { runInPulumiStack(program: () => Promise<unknown>): Promise<unknown> };
    callbacks: { CallbackServer?: { prototype: object } };
    errors: {
        RunError?: { isInstance(it: unknown): boolean };
        ResourceError?: { isInstance(it: unknown): boolean };
    };
}

type TokenFunctions = Map<string, (bytes: Uint8Array) => Promise<{ serializeBinary(): Uint8Array }>>;

/** One copy of the SDK. */
export class Sdk {
    readonly monitorMethods: Record<string, ServiceMethod>;
    readonly engineMethods: Record<string, ServiceMethod>;
    readonly #modules: Modules;

    private constructor(
        readonly root: string,
        readonly version: string,
    ) {
        const load = <T>(name: string): T => require(path.join(root, `${name}.js`)) as T;
        stubClosures(root);
        deferAutomation(root);
        // The main module first: its parts import each other in a circle.
        load("index");
        this.#modules = {
            state: load("runtime/state"),
            settings: load("runtime/settings"),
            config: load("runtime/config"),
            stack: load("runtime/stack"),
            callbacks: load("runtime/callbacks"),
            errors: load("errors"),
        };
        this.monitorMethods =
            load<Record<string, Record<string, ServiceMethod>>>("proto/resource_grpc_pb").ResourceMonitorService ?? {};
        this.engineMethods =
            load<Record<string, Record<string, ServiceMethod>>>("proto/engine_grpc_pb").EngineService ?? {};
        speedUp(root);
        noteDeclarations(root);
        answerGet(root);
    }

    static readonly #copies = new Map<string, Sdk>();

    /** The copy of the SDK that a program in `directory` imports; else the one beside this package. */
    static load(directory: string): Sdk {
        const root = findSdk(directory);
        let sdk = Sdk.#copies.get(root);
        if (sdk === undefined) {
            const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as {
                version: string;
            };
            if (compare(version, OLDEST_SDK) < 0) {
                throw new Error(
                    `@pulumi/pulumi ${version} (${root}) is older than maloko supports: install ${OLDEST_SDK} or newer, ` +
                        "for instance `npm install @pulumi/pulumi@latest`",
                );
            }
            try {
                sdk = new Sdk(root, version);
            } catch (error) {
                throw new Error(
                    `@pulumi/pulumi ${version} (${root}) is laid out in a way that maloko does not know; ` +
                        `tested are ${OLDEST_SDK} to ${NEWEST_SDK}: ${(error as Error).message}`,
                    { cause: error },
                );
            }
            Sdk.#copies.set(root, sdk);
        }
        return sdk;
    }

    /** Makes the SDK of a directory quick to load, for whoever loads it after this. */
    static prepare(directory: string): void {
        try {
            const root = findSdk(directory);
            stubClosures(root);
            deferAutomation(root);
        } catch {
            // A missing SDK is reported when a program is run.
        }
    }

    /** What to tell the user about this version; undefined for a tested one. */
    get warning(): string | undefined {
        const [major, minor] = this.version.split(".");
        const [newestMajor, newestMinor] = NEWEST_SDK.split(".");
        return major === newestMajor && Number(minor) <= Number(newestMinor)
            ? undefined
            : `@pulumi/pulumi ${this.version} is newer than the versions that maloko was tested with (up to ${NEWEST_SDK})`;
    }

    /** Runs something in a store of its own, set up for a run. */
    inStore<T>(
        settings: RunSettings,
        clients: { monitor: object; engine: object },
        action: (store: Store, enter: <R>(inner: () => R) => R) => T,
    ): T {
        const { state, settings: sdkSettings, config } = this.#modules;
        const store = new state.LocalStore();
        const storage = this.#storage;
        const enter = <R>(inner: () => R): R => storage.run(store, inner);
        return enter(() => {
            // Never 1: the SDK would then chain the resources of all stacks of the process; the engine keeps the limit.
            sdkSettings.resetOptions(
                settings.project,
                settings.stack,
                -1,
                "",
                "maloko",
                settings.dryRun,
                settings.organization,
            );
            store.settings.monitor = clients.monitor;
            store.settings.engine = clients.engine;
            store.settings.options.rootDirectory = settings.projectRoot ?? process.cwd();
            for (const name of Object.keys(store)) {
                // A second copy of the SDK does not ask the engine: it reads these.
                if (name.startsWith("supports") && name !== "supportsStateMigrations") {
                    store[name] = true;
                }
            }
            // The SDK lets go of it at the end of the program, and would start a server when a function comes after that.
            const callbacks = this.#callbackServer(clients.monitor);
            if (callbacks !== undefined) {
                Object.defineProperty(store, "callbacks", {
                    configurable: true,
                    enumerable: true,
                    get: () => callbacks,
                    set: () => {},
                });
            }
            config.setAllConfig(settings.config, settings.secretKeys);
            return action(store, enter);
        });
    }

    // Where the SDK keeps the stores of runs apart: one for all copies of newer versions, one per copy of older ones.
    static readonly #storages = new Set<AsyncLocalStorage<Store>>();

    get #storage(): AsyncLocalStorage<Store> {
        const storage =
            this.#modules.state.asyncLocalStorage ??
            (globalThis as { asyncLocalStorage?: AsyncLocalStorage<Store> }).asyncLocalStorage;
        if (storage === undefined) {
            throw new Error("the SDK no longer keeps its runs apart by `asyncLocalStorage`");
        }
        Sdk.#storages.add(storage);
        return storage;
    }

    /** The store of the run that the calling code belongs to. */
    static currentStore(): Store | undefined {
        for (const storage of Sdk.#storages) {
            const store = storage.getStore();
            if (store !== undefined) {
                return store;
            }
        }
        return undefined;
    }

    /** Runs something outside of every run: resources that it makes are nobody's. */
    static outside<T>(action: () => T): T {
        return [...Sdk.#storages].reduce<() => T>((inner, storage) => () => storage.exit(inner), action)();
    }

    /** Runs a program as the root of a stack, and waits for its requests. */
    async runInStack(program: () => Promise<unknown>): Promise<void> {
        await this.#modules.stack.runInPulumiStack(program);
        await this.drain();
        // The last stack would otherwise be kept alive, and be taken for the root by code outside of runs.
        (globalThis as { stackResource?: unknown }).stackResource = undefined;
    }

    /** Waits for the requests that a run has begun; to be called within it. */
    drain(): Promise<void> {
        return this.#modules.settings.disconnect();
    }

    /** The text of an error that the SDK raises for the user to read without a stack; undefined for others. */
    plainMessage(thrown: unknown): string | undefined {
        const { RunError, ResourceError } = this.#modules.errors;
        if (RunError?.isInstance(thrown) === true) {
            return (thrown as Error).message;
        }
        if (ResourceError?.isInstance(thrown) === true && (thrown as { hideStack?: boolean }).hideStack === true) {
            return (thrown as Error).message;
        }
        return undefined;
    }

    // The SDK's server for transforms and hooks without its server: the engine calls the functions by their tokens.
    #callbackServer(monitor: object): object | undefined {
        const { CallbackServer } = this.#modules.callbacks;
        if (CallbackServer === undefined) {
            return undefined;
        }
        return Object.assign(Object.create(CallbackServer.prototype) as object, {
            _callbacks: new Map(),
            _pendingRegistrations: 0,
            _awaitQueue: [],
            _monitor: monitor,
            _target: Promise.resolve("inproc"),
            shutdown: () => {},
        });
    }
}

/** Calls a transform or hook of a run by its token. */
export async function callByToken(callbacks: unknown, token: string, bytes: Uint8Array): Promise<Uint8Array> {
    const functions = (callbacks as { _callbacks?: TokenFunctions } | undefined)?._callbacks;
    const callback = functions?.get(token);
    if (callback === undefined) {
        throw new Error(`the program has no function with the token ${token}`);
    }
    return (await callback(bytes)).serializeBinary();
}

/** Descriptions of the resources that a run began to register without coming to an end. */
export function pendingRegistrations(store: Store): string[] {
    const pending = store.pendingResourceRegistrations;
    return [...(pending?.values() ?? [])].map(({ name, type, label }) =>
        name && type ? `${name} [${type}]` : (label ?? "a resource"),
    );
}

function findSdk(directory: string): string {
    for (const base of [path.join(directory, "index.js"), __filename]) {
        try {
            return path.dirname(createRequire(base).resolve("@pulumi/pulumi/package.json"));
        } catch {
            // Not installed there.
        }
    }
    throw new Error(`@pulumi/pulumi is not installed for ${directory}: run \`npm install @pulumi/pulumi\` there`);
}

function compare(left: string, right: string): number {
    const [a, b] = [left, right].map((version) => version.split(/[.+-]/).slice(0, 3).map(Number));
    for (let index = 0; index < 3; index++) {
        const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
        if (difference !== 0) {
            return difference;
        }
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// The serialiser of providers: never called, and (where we come first) never loaded

/** Gives the handle of a provider object of a run; an output where it has to wait for something. */
export type HandleOf = (provider: object) => unknown;

const handles = new WeakMap<Store, HandleOf>();
const CLOSURES = ["runtime/closure/serializeClosure", "runtime/closure/codePaths"];
const METHODS = ["check", "diff", "create", "read", "update", "delete", "configure"];

/**
 * Has the SDK put handles in the place of serialised providers for one run. The SDK asks the option
 * `cacheDynamicProviders` right before it looks a provider up in its cache: the next look-up is answered by us.
 */
export function giveHandles(store: Store, handleOf: HandleOf): void {
    handles.set(store, handleOf);
    Object.defineProperty(store.settings.options, "cacheDynamicProviders", {
        configurable: true,
        enumerable: true,
        get: () => {
            answerNextLookUp(handleOf);
            return true;
        },
    });
}

const lookUp = WeakMap.prototype.get;

function answerNextLookUp(handleOf: HandleOf): void {
    const restore = (): void => {
        if (WeakMap.prototype.get === answer) {
            WeakMap.prototype.get = lookUp;
        }
    };
    const answer = function (this: WeakMap<object, unknown>, key: object): unknown {
        restore();
        return looksLikeProvider(key) ? handleOf(key) : lookUp.call(this, key);
    } as typeof lookUp;
    WeakMap.prototype.get = answer;
    // The option is public: a program that reads it must not change somebody else's look-up later.
    queueMicrotask(restore);
}

function looksLikeProvider(key: unknown): key is object {
    return (
        typeof key === "object" &&
        key !== null &&
        METHODS.some((method) => typeof (key as Record<string, unknown>)[method] === "function")
    );
}

// Stand-ins for the modules that serialise closures: they load typescript and npm's arborist, half of the SDK's start.
function stubClosures(root: string): void {
    for (const name of CLOSURES) {
        const file = path.join(root, `${name}.js`);
        if (require.cache[file] !== undefined || !fs.existsSync(file)) {
            continue;
        }
        const stub = new Module(file);
        stub.filename = file;
        stub.loaded = true;
        const forward =
            (method: string) =>
            (...args: unknown[]): unknown =>
                liveProvider(args) ?? realClosures(file, stub)[method]?.(...args);
        stub.exports = {
            serializeFunction: forward("serializeFunction"),
            serializeFunctionAsync: forward("serializeFunctionAsync"),
            computeCodePaths: forward("computeCodePaths"),
            findWorkspaceRoot: forward("findWorkspaceRoot"),
            packageArchivePath: forward("packageArchivePath"),
        };
        require.cache[file] = stub;
    }
}

const reals = new Map<string, Record<string, (...args: unknown[]) => unknown>>();

function realClosures(file: string, stub: Module): Record<string, (...args: unknown[]) => unknown> {
    let real = reals.get(file);
    if (real === undefined) {
        delete require.cache[file];
        try {
            real = require(file) as Record<string, (...args: unknown[]) => unknown>;
        } finally {
            require.cache[file] = stub;
        }
        reals.set(file, real);
    }
    return real;
}

// `serializeFunction(() => provider, { allowSecrets: true })` is how the SDK serialises a provider object.
function liveProvider([closure, options]: unknown[]): Promise<{ text: string; containsSecrets: boolean }> | undefined {
    const store = Sdk.currentStore();
    const handleOf = store === undefined ? undefined : handles.get(store);
    const isProviders =
        typeof closure === "function" &&
        closure.length === 0 &&
        (options as { allowSecrets?: boolean } | undefined)?.allowSecrets === true;
    if (handleOf === undefined || !isProviders) {
        return undefined;
    }
    const provider: unknown = (closure as () => unknown)();
    if (!looksLikeProvider(provider)) {
        return undefined;
    }
    const handle = handleOf(provider);
    const text = isOutput(handle) ? handle.promise() : Promise.resolve(handle);
    return text.then((it) => ({ text: String(it), containsSecrets: false }));
}

// ---------------------------------------------------------------------------------------------------------------------
// `Output.get()` inside provider methods

const known = new WeakMap<object, { value: unknown }>();
let isInsideCall: () => boolean = () => false;

/** Says how to find out whether the running code is a provider's method. */
export function setInsideCall(test: () => boolean): void {
    isInsideCall = test;
}

function answerGet(root: string): void {
    const { Output } = require(path.join(root, "output.js")) as {
        Output?: { prototype?: { get?: (this: object) => unknown } };
    };
    const prototype = Output?.prototype;
    const original = prototype?.get;
    if (prototype === undefined || original === undefined) {
        return;
    }
    prototype.get = function (this: object): unknown {
        if (!isInsideCall()) {
            return original.call(this);
        }
        const answer = known.get(this);
        if (answer === undefined) {
            throw new Error(
                "the value of this output is not known inside the provider's method: its code does not show which output it " +
                    "reads. Pass the value as an input of the resource, or hold the output in an attribute of the provider " +
                    "(`this.name.get()`) and name its resource in `dependsOn`",
            );
        }
        return answer.value;
    };
}

type OutputClass = new (
    resources: Iterable<unknown>,
    promise: Promise<unknown>,
    isKnown: Promise<boolean>,
    isSecret: Promise<boolean>,
    allResources: Promise<Iterable<unknown>>,
) => object;

/** An output with this value that waits for others, depends on their resources, and makes their values known to `get`. */
export function waitingFor(root: string, value: string, outputs: AnyOutput[]): unknown {
    const { Output } = require(path.join(root, "output.js")) as { Output: OutputClass };
    const ready = Promise.all(
        outputs.map(async (output) => {
            const [isKnown, inner] = await Promise.all([output.isKnown, output.promise()]);
            known.set(output, { value: isKnown ? inner : undefined });
        }),
    );
    const resources = Promise.all(outputs.map((output) => output.allResources?.() ?? output.resources()));
    return new Output(
        outputs.flatMap((output) => [...output.resources()]),
        ready.then(() => value),
        Promise.resolve(true),
        Promise.resolve(false),
        resources.then((sets) => new Set(sets.flatMap((set) => [...set]))),
    );
}

// ---------------------------------------------------------------------------------------------------------------------
// Which outputs the class of a dynamic resource declares: the properties that it hands to the SDK

/** The first resource of a type in a run. */
export interface DeclaredOutputs {
    className: string;
    outputs: Set<string>;
}

const declared = new WeakMap<Store, Map<string, DeclaredOutputs | undefined>>();

/** What the first resource of a dynamic type declares; given once per run and type. */
export function takeDeclaredOutputs(store: Store, type: string): DeclaredOutputs | undefined {
    const types = declared.get(store);
    const found = types?.get(type);
    types?.set(type, undefined);
    return found;
}

function noteDeclarations(root: string): void {
    const registration = require(path.join(root, "runtime/resource.js")) as Record<string, unknown>;
    const original = registration.registerResource;
    if (typeof original !== "function") {
        return;
    }
    registration.registerResource = (...args: unknown[]): unknown => {
        // (resource, parent, type, name, custom, remote, newDependency, props, ...)
        const [resource, , type, , , , , props] = args;
        const store = Sdk.currentStore();
        if (
            store !== undefined &&
            typeof type === "string" &&
            type.startsWith("pulumi-nodejs:dynamic") &&
            props instanceof Object
        ) {
            let types = declared.get(store);
            if (types === undefined) {
                types = new Map();
                declared.set(store, types);
            }
            if (!types.has(type)) {
                const className = (resource as object).constructor.name;
                types.set(type, { className, outputs: new Set(Object.keys(props)) });
            }
        }
        return original.apply(registration, args);
    };
}

// ---------------------------------------------------------------------------------------------------------------------
// Speed: what the SDK spends most of its time on, done more cheaply

// The automation API is a tenth of the SDK's start, and programs hardly ever use it: it is loaded at its first use.
function deferAutomation(root: string): void {
    const file = path.join(root, "automation", "index.js");
    if (require.cache[file] !== undefined || !fs.existsSync(file)) {
        return;
    }
    const stub = new Module(file);
    stub.filename = file;
    stub.loaded = true;
    let real: object | undefined;
    const load = (): object => {
        if (real === undefined) {
            delete require.cache[file];
            real = require(file) as object;
        }
        return real;
    };
    stub.exports = new Proxy(Object.create(null) as object, {
        get: (_target, name) => (name === "__esModule" ? true : (Reflect.get(load(), name) as unknown)),
        has: (_target, name) => Reflect.has(load(), name),
        ownKeys: () => Reflect.ownKeys(load()),
        getOwnPropertyDescriptor: (_target, name) => {
            const descriptor = Reflect.getOwnPropertyDescriptor(load(), name);
            return descriptor && { ...descriptor, configurable: true };
        },
    });
    require.cache[file] = stub;
}

function speedUp(root: string): void {
    const load = (name: string): Record<string, unknown> =>
        require(path.join(root, `${name}.js`)) as Record<string, unknown>;
    const debuggable = load("runtime/debuggable");
    if (typeof debuggable.debuggablePromise === "function" && !process.env.PULUMI_DEBUG_PROMISE_LEAKS) {
        // It formats a stack for every promise, for a report on leaked promises that we make in another way.
        debuggable.debuggablePromise = (promise: unknown) => promise;
    }
    const log = load("log/index");
    if (typeof log.debug === "function") {
        // Shown by nobody; each message costs a chain of promises.
        log.debug = () => Promise.resolve();
    }
    const { Resource } = load("resource") as { Resource?: { stackTrace?: unknown; callsites?: unknown } };
    if (typeof Resource?.stackTrace === "function" && typeof Resource.callsites === "function") {
        Resource.stackTrace = stackTrace;
    }
}

interface Position {
    uri: string;
    line: number;
    column: number;
}

const MAX_FRAMES = 8;
const positions = new Map<string, Position | undefined>();

// The SDK formats and parses whole stacks with all frames. Here: the callers' few nearest frames, each place once.
function stackTrace(skip: number): (Position | undefined)[] {
    const { prepareStackTrace, stackTraceLimit } = Error;
    const holder: { stack?: unknown } = {};
    try {
        Error.stackTraceLimit = MAX_FRAMES + skip;
        Error.prepareStackTrace = (_error, sites) => sites;
        // This function is the topmost frame in the place of `callsites`, which the SDK's own adds one for.
        Error.captureStackTrace(holder, stackTrace);
        const sites = holder.stack as NodeJS.CallSite[];
        return sites.slice(skip - 1).map(positionOf);
    } finally {
        Error.prepareStackTrace = prepareStackTrace;
        Error.stackTraceLimit = stackTraceLimit;
    }
}

function positionOf(site: NodeJS.CallSite): Position | undefined {
    const file = site.getFileName();
    const line = site.getLineNumber();
    const column = site.getColumnNumber();
    if (typeof file !== "string" || line === null || column === null || file.startsWith("node:")) {
        return undefined;
    }
    const key = `${file}:${line}:${column}`;
    if (!positions.has(key)) {
        const uri = file.startsWith("file:") ? file : pathToFileURL(file).toString();
        const origin = findSourceMap(file)?.findEntry(line - 1, column - 1) as
            | { originalLine?: number; originalColumn?: number }
            | undefined;
        positions.set(
            key,
            origin?.originalLine === undefined
                ? { uri, line, column }
                : { uri, line: origin.originalLine + 1, column: (origin.originalColumn ?? 0) + 1 },
        );
    }
    return positions.get(key);
}
