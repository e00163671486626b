// What an author says of a provider, so that laws and lifecycles can put it to the test.
import { type Inputs, made } from "../stack/subject";
import { show } from "../values";
import { type ConfigSource, objectsOf, removerOf, type World } from "../worlds";
import { Plugin } from "./plugin";

/** What fast-check calls an arbitrary, as far as it matters here. */
export interface ArbitraryLike<T = unknown> {
    generate(random: never, biasFactor: number | undefined): { readonly value: T };
    // biome-ignore lint/suspicious/noExplicitAny: fast-check's own types say more, and are not needed
    shrink(value: any, context: unknown): unknown;
}

/** Inputs to try: an arbitrary of fast-check, or a list of examples. */
export type Samples = ArbitraryLike | readonly Inputs[];

/** A provider: an object, a class that is constructed with the world, a function that is given the world, or a {@link Plugin}. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the author's world is
export type ProviderSource = object | (new (world: any) => object) | ((world: any) => object);

/** A world: a class without arguments, a function that makes one, or one that all examples share. */
export type WorldSource = (new () => object) | (() => object) | World | object;

/** What a former release of the provider left in a state. */
export interface BaselineResource {
    id?: string;
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown>;
}

/** What laws and lifecycles have in common. */
export interface SubjectOptions {
    /** What resources are made with. */
    inputs: Samples;
    /** What the provider talks to. A class or a function gives each example a world of its own. */
    world?: WorldSource;
    /** Configuration for `configure`; a function is given the world, which may have an address. */
    config?: ConfigSource;
    /** Properties that differ from time to time (`etag`, or a path: `tags.at`): they are not compared. */
    volatile?: readonly string[];
    /** How many examples are tried: of each law, or lifecycles in all. */
    examples?: number;
    /** Where the examples begin; another one each time unless it is given. */
    seed?: number;
    /** Milliseconds for each test; default 60,000. */
    timeout?: number;
}

/** Is it an arbitrary of fast-check? */
export function isArbitrary(value: unknown): value is ArbitraryLike {
    const { generate, shrink } = (value ?? {}) as Partial<ArbitraryLike>;
    return typeof generate === "function" && typeof shrink === "function";
}

/** Fails with a TypeError that names what is missing, or is not what it should be. */
export function checkOptions(what: string, provider: unknown, options: Partial<SubjectOptions>): void {
    if ((typeof provider !== "object" && typeof provider !== "function") || provider === null) {
        throw new TypeError(
            `${what} takes a provider object, its class, or a function that makes one, not ${show(provider)}`,
        );
    }
    const { inputs, world } = options;
    if (!isArbitrary(inputs) && !(Array.isArray(inputs) && inputs.length > 0)) {
        throw new TypeError(
            `${what} needs \`inputs\`: an arbitrary of fast-check, such as fc.record({ name: fc.string() }), or a list of ` +
                `examples with at least one in it; it was given ${show(inputs)}`,
        );
    }
    if (world !== undefined && (world === null || (typeof world !== "object" && typeof world !== "function"))) {
        throw new TypeError(`\`world\` of ${what} is a class, a function or an object, not ${show(world)}`);
    }
    if (typeof provider === "function" && provider.length > 0 && world === undefined) {
        throw new TypeError(
            `${provider.name || "the function"} is to be given a world, and there is none: set \`world\``,
        );
    }
}

/** A world to look at, which serves nobody. */
export function sampleWorld(source: WorldSource | undefined): World | undefined {
    return (typeof source === "function" ? made(source as () => object) : source) as World | undefined;
}

/** The world of the examples, one after the other. */
export class Place {
    #now: World | undefined;

    constructor(private readonly source: WorldSource | undefined) {}

    /** Does each example begin with nothing in the world? */
    get resets(): boolean {
        const { source } = this;
        return source === undefined || typeof source === "function" || (source as World).reset !== undefined;
    }

    /** The world of the next example. */
    async renew(): Promise<World | undefined> {
        const { source } = this;
        if (source === undefined) {
            return undefined;
        }
        if (this.#now === undefined || (typeof source === "function" && this.#now.reset === undefined)) {
            await this.end();
            const world = sampleWorld(source) as World;
            objectsOf(world);
            await world.start?.();
            this.#now = world;
        }
        await this.#now.reset?.();
        return this.#now;
    }

    /** Ends the last example. */
    async end(): Promise<void> {
        const world = this.#now;
        this.#now = undefined;
        await world?.stop?.();
    }
}

/** The provider that talks to that world. */
export function providerOf(source: ProviderSource, world: World | undefined): object {
    return typeof source === "function" ? made(source as (world: unknown) => object, world) : source;
}

/** How a provider is called in the titles of its tests. */
export function titleOf(provider: ProviderSource): string {
    if (provider instanceof Plugin) {
        return provider.type;
    }
    const { name } = typeof provider === "function" ? provider : provider.constructor;
    return name === "" || name === "Object" ? "provider" : name;
}

/** What can be done to a world behind the provider's back, as the engine's side has it; null without one. */
export function abilitiesOf(world: World | undefined): object | null {
    if (world === undefined) {
        return null;
    }
    return {
        mutate: { name: "mutateRemote", there: typeof world.mutateRemote === "function" },
        delete: { name: "deleteRemote", there: removerOf(world) !== undefined },
    };
}
