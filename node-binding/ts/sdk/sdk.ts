// One copy of the Pulumi SDK: what of it is not public and what results depend on. A version that has moved something of
// this is reported.
import type { AsyncLocalStorage } from "node:async_hooks";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";

import { withOwnCommand } from "../process/errors";
import { callbackServer } from "./callbacks";
import { stubClosures } from "./closures";
import { noteDeclarations } from "./declared";
import { answerGet } from "./get";
import { deferAutomation, deliverDebugMessages, speedUp } from "./speed";
import { addStorage, type Store } from "./store";
import { refuseUnreadable } from "./unreadable";
import { refuseUnsendable } from "./unsendable";
import { noteWaits } from "./waits";

/** The SDK versions that are tested, oldest and newest. */
export const OLDEST_SDK = "3.139.0";
export const NEWEST_SDK = "3.276.0";

interface ServiceMethod {
    path: string;
    responseDeserialize(bytes: Uint8Array): unknown;
}

type ResourceClass = new (provider: object, name: string, inputs: Record<string, unknown>) => object;

/** What a run is told. */
export interface RunSettings {
    project: string;
    stack: string;
    organization: string;
    dryRun: boolean;
    /** Does somebody read messages for debugging? */
    debugMessages?: boolean;
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

/** One copy of the SDK. */
export class Sdk {
    readonly monitorMethods: Record<string, ServiceMethod>;
    readonly engineMethods: Record<string, ServiceMethod>;
    /** The class of dynamic resources. */
    readonly Resource: ResourceClass;
    /** Marks a value as a secret. */
    readonly secret: (value: unknown) => unknown;
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
        this.Resource = load<{ Resource: ResourceClass }>("dynamic/index").Resource;
        this.secret = load<{ secret(value: unknown): unknown }>("output").secret;
        this.monitorMethods =
            load<Record<string, Record<string, ServiceMethod>>>("proto/resource_grpc_pb").ResourceMonitorService ?? {};
        this.engineMethods =
            load<Record<string, Record<string, ServiceMethod>>>("proto/engine_grpc_pb").EngineService ?? {};
        checkPlaces([
            [
                "runtime/state",
                { ...this.#modules.state, asyncLocalStorage: this.#storage },
                ["LocalStore", "asyncLocalStorage"],
            ],
            ["runtime/settings", this.#modules.settings, ["resetOptions", "disconnect"]],
            ["runtime/config", this.#modules.config, ["setAllConfig"]],
            ["runtime/stack", this.#modules.stack, ["runInPulumiStack"]],
            ["output", load("output"), ["Output", "secret"]],
            ["proto/resource_grpc_pb", load("proto/resource_grpc_pb"), ["ResourceMonitorService"]],
            ["proto/engine_grpc_pb", load("proto/engine_grpc_pb"), ["EngineService"]],
        ]);
        speedUp(root);
        refuseUnsendable(root);
        refuseUnreadable(root);
        noteDeclarations(root);
        answerGet(root);
        noteWaits(root);
    }

    static readonly #copies = new Map<string, Sdk>();

    /** The copy of the SDK that a program in `directory` imports; else the one beside this package. */
    static load(directory: string): Sdk {
        const root = findSdk(directory);
        let sdk = Sdk.#copies.get(root);
        if (sdk === undefined) {
            const version = versionAt(root);
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
                        `tested are ${OLDEST_SDK} to ${NEWEST_SDK}: ${(error as Error).message}. Install a tested version, ` +
                        `for instance \`npm install @pulumi/pulumi@${NEWEST_SDK}\`, or a newer maloko`,
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
        const storage = this.#storage as AsyncLocalStorage<Store>;
        addStorage(storage);
        const enter = <R>(inner: () => R): R => storage.run(store, inner);
        if (settings.debugMessages) {
            deliverDebugMessages(store);
        }
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
                if (name.startsWith("supports")) {
                    store[name] = true;
                }
            }
            // The SDK lets go of it at the end of the program, and would start a server when a function comes after that.
            const callbacks = callbackServer(this.#modules.callbacks.CallbackServer, clients.monitor);
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

    /** What the SDK keeps its runs apart by; newer versions share one between the copies of the SDK in a process. */
    get #storage(): AsyncLocalStorage<Store> | undefined {
        return (
            this.#modules.state.asyncLocalStorage ??
            (globalThis as { asyncLocalStorage?: AsyncLocalStorage<Store> }).asyncLocalStorage
        );
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
            return withOwnCommand((thrown as Error).message, thrown);
        }
        if (ResourceError?.isInstance(thrown) === true && (thrown as { hideStack?: boolean }).hideStack === true) {
            return (thrown as Error).message;
        }
        return undefined;
    }
}

/** Descriptions of the resources that a run began to register without coming to an end. */
export function pendingRegistrations(store: Store): string[] {
    const pending = store.pendingResourceRegistrations;
    return [...(pending?.values() ?? [])].map(({ name, type, label }) =>
        name && type ? `${name} [${type}]` : (label ?? "a resource"),
    );
}

// What results depend on has to be there; what only speed depends on is looked for where it is used.
function checkPlaces(places: [module: string, exports: object, names: string[]][]): void {
    const missing = places.flatMap(([module, exports, names]) =>
        names.filter((name) => (exports as Record<string, unknown>)[name] === undefined).map((it) => `${module}.${it}`),
    );
    if (missing.length > 0) {
        throw new Error(`it does not have ${missing.join(", ")}, which maloko relies on`);
    }
}

/** The version of the SDK that a program in `directory` imports; empty where there is none. */
export function sdkVersionOf(directory: string): string {
    try {
        return versionAt(findSdk(directory));
    } catch {
        return "";
    }
}

function versionAt(root: string): string {
    return (JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as { version: string }).version;
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
