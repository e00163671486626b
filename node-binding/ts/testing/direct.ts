// A provider without an engine: its methods called with the values, and held to the types, that the engine would use.

import { parseJson, toJsonText } from "../originals";
import { CallFailed, callProvider, has as hasMethod, labelOf, type ProviderObject } from "../providers/calls";
import { Claims } from "../providers/configured";
import { type Bag, toBag } from "../providers/conversion";
import { isConfigurable } from "../providers/registry";
import { show } from "./values";

/** A provider object, or a class of which one is made. */
export type ProviderLike = object | (new () => object);

type Properties = Record<string, unknown>;

/** The methods of a provider, each with the arguments and the answers that the engine would have. */
export interface Direct {
    /** The object itself. */
    readonly provider: object;
    /**
     * What it sets is for these calls only; where runs configure the object for themselves in between, it is called again.
     * `project`: whose configuration it is, as a stack's file may have keys of several; "project" where it does not matter.
     */
    configure(config?: Record<string, string>, project?: string): Promise<void>;
    /** Without `check`, the inputs are taken as they are. */
    check(
        olds: Properties,
        news: Properties,
    ): Promise<{ inputs: Bag; failures: { property: string; reason: string }[] }>;
    /** `changes` is null where the engine would compare itself; also without `diff`. */
    diff(
        id: string,
        olds: Properties,
        news: Properties,
    ): Promise<{ changes: boolean | null; replaces: string[]; stables: string[]; deleteBeforeReplace: boolean | null }>;
    create(inputs: Properties): Promise<{ id: string; outs: Bag }>;
    /** `id` is empty when the object is gone. Without `read`, what is given counts as what is there. */
    read(id: string, props?: Properties): Promise<{ id: string; props: Bag | null; inputs: Bag | null }>;
    find(key: string, inputs: Properties): Promise<{ id: string; props: Bag | null; inputs: Bag | null }>;
    /** Without `update`, the new inputs are the outputs. */
    update(id: string, olds: Properties, news: Properties): Promise<{ outs: Bag }>;
    /** Without `delete`, nothing is done. */
    delete(id: string, props?: Properties): Promise<void>;
    /** Calls `close`, if there is one and `configure` was called. Another call configures the object again. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Calls a provider's methods without an engine. Arguments are copies, as the engine hands them over; what a method returns
 * is checked as the engine checks it. Throws the very object that a method throws, and a TypeError that names the method and
 * the property path for an argument or a result that a state could not hold. `warn` takes what the engine would warn of.
 */
export function direct(provider: ProviderLike, warn: (text: string) => void = () => {}): Direct {
    const object = madeOf(provider);
    const has = (method: string): boolean => hasMethod(object as ProviderObject, method);
    const claims: Claims = new Claims(undefined, has("close") ? () => close() : undefined);
    let given: { config: Record<string, string>; project: string } | undefined;
    let configuring: Promise<void> | undefined;
    let underWay = 0;
    const configure = async (configuration: NonNullable<typeof given>): Promise<void> => {
        given = configuration;
        await call("configure", configuration);
    };
    // Calls may be made at the same time: one of them configures, and the object is free when none goes on.
    const configureAgain = (configuration: NonNullable<typeof given>): Promise<void> => {
        configuring ??= configure(configuration).finally(() => {
            configuring = undefined;
        });
        return configuring;
    };
    const called = async (method: string, args: object): Promise<string> => {
        const make = (it: object): Promise<string> => callProvider(it, method, toJsonText(args), warn);
        if (!isConfigurable(object)) {
            return make(object);
        }
        underWay++;
        try {
            await claims.evict(object);
            claims.resume(object);
            if (method !== "configure" && given !== undefined && !claims.isConfigured(object)) {
                await configureAgain(given);
            }
            return await claims.call(object, method, () => given?.config ?? {}, make);
        } finally {
            if (--underWay === 0) {
                claims.pause();
            }
        }
    };
    const call = async <T>(method: string, args: object): Promise<T> => {
        if (!has(method)) {
            const every = method === "create" ? ": every provider needs one" : "";
            throw new TypeError(`${labelOf(object)} has no method \`${method}\`${every}`);
        }
        try {
            return parseAnswer(await called(method, args)) as T;
        } catch (error) {
            throw error instanceof CallFailed ? error.thrown : error;
        }
    };
    const bag = (value: Properties | undefined, name: string): Bag => toBag(value ?? {}, name);
    const close = async (): Promise<void> => {
        if (!claims.isConfigured(object)) {
            return;
        }
        try {
            if (has("close")) {
                await call("close", {});
            }
        } finally {
            claims.release();
        }
    };
    return {
        provider: object,
        close,
        [Symbol.asyncDispose]: close,
        async configure(config = {}, project = "project") {
            if (has("configure")) {
                const full = Object.entries(config).map(([key, value]) => [
                    key.includes(":") ? key : `${project}:${key}`,
                    value,
                ]);
                await configure({ config: Object.fromEntries(full) as Record<string, string>, project });
            }
        },
        async check(olds, news) {
            const args = { olds: bag(olds, "olds"), news: bag(news, "news") };
            return has("check") ? call("check", args) : { inputs: args.news, failures: [] };
        },
        async diff(id, olds, news) {
            const args = { id, olds: bag(olds, "olds"), news: bag(news, "news") };
            return has("diff")
                ? call("diff", args)
                : { changes: null, replaces: [], stables: [], deleteBeforeReplace: null };
        },
        async create(inputs) {
            return call("create", { props: bag(inputs, "inputs"), timeout: 0 });
        },
        async read(id, props) {
            const args = { id, props: bag(props, "props"), timeout: 0 };
            return has("read") ? call("read", args) : { id, props: args.props, inputs: null };
        },
        async find(key, inputs) {
            return call("find", { key, props: bag(inputs, "inputs"), timeout: 0 });
        },
        async update(id, olds, news) {
            const args = { id, olds: bag(olds, "olds"), news: bag(news, "news"), timeout: 0 };
            return has("update") ? call("update", args) : { outs: args.news };
        },
        async delete(id, props) {
            if (has("delete")) {
                await call("delete", { id, props: bag(props, "props"), timeout: 0 });
            }
        },
    };
}

function parseAnswer(text: string): unknown {
    return text === "" ? undefined : parseJson(text);
}

/** The provider object, made if it is a class. Throws a TypeError for anything that cannot be one. */
export function madeOf(provider: ProviderLike): object {
    if (typeof provider === "function") {
        return new (provider as new () => object)();
    }
    if (provider === null || typeof provider !== "object") {
        throw new TypeError(`direct takes a provider object or its class, but was given ${show(provider)}`);
    }
    return provider;
}
