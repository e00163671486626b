// The outside world of a test: a fake cloud, or a look into a real one.
import { inspect } from "node:util";
import { plainJson, show } from "./values";

/**
 * What providers of a test talk to. `objects` gives the ids of all that is there (as a list, a set, or the keys of a map or
 * object). A map, a set or a list may stand for the world itself.
 */
export interface World {
    objects(): unknown;
    /**
     * Changes the object with this id as somebody else would, so that a property that the program sets is another one. Provider
     * laws and lifecycles ask for it; so for the next two.
     */
    mutateRemote?(id: string): unknown;
    /** Removes the object with this id as somebody else would. A map or set is its own way of doing it. */
    deleteRemote?(id: string): unknown;
    /** Empties the world before an example. Without it, a class of worlds is made anew for each. */
    reset?(): unknown;
    /** Begins before the first example, ends after the last: for a world that serves. */
    start?(): unknown;
    stop?(): unknown;
    /** Goes up with every request, also with those that change nothing. */
    readonly calls?: number;
}

/** Configuration, or what makes it for a world. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the author's world is
export type ConfigSource = Record<string, string> | ((world: any) => Record<string, string>);

/** The configuration, which may have the world's address. */
export function configOf(source: ConfigSource = {}, world?: World): Record<string, string> {
    return typeof source === "function" ? source(world) : source;
}

/** Knows which objects belong to its resources. */
interface Owner {
    ids(): string[];
}

/** What was in a world before a test made anything, and whose objects came since. */
interface WorldUse {
    before: Set<string>;
    owners: Owner[];
}

const joined = new WeakMap<object, WorldUse>();

/** Says that the resources of a stack are objects of that world. Throws a TypeError where it is no world. */
export function joinWorld(world: object, owner: Owner): void {
    // A world without objects is found out at once, and not when the test has ended.
    const before = new Set(objectsOf(world));
    const known = joined.get(world);
    if (known === undefined) {
        joined.set(world, { before, owners: [owner] });
    } else {
        known.owners.push(owner);
    }
}

/** The ids of all that is in a world. */
export function objectsOf(world: unknown): string[] {
    const objects = (world as Partial<World> | null | undefined)?.objects;
    const all: unknown = typeof objects === "function" ? objects.call(world) : world;
    const isMap = Object.prototype.toString.call(all) === "[object Map]";
    if (isMap) {
        return [...(all as Map<unknown, unknown>).keys()].map(String);
    }
    if (typeof (all as { then?: unknown } | null | undefined)?.then === "function") {
        throw new TypeError("`objects()` of the world gave a promise: it has to answer at once");
    }
    if (all !== null && typeof all === "object") {
        return Symbol.iterator in all ? [...(all as Iterable<unknown>)].map(String) : Object.keys(all);
    }
    throw new TypeError(
        "a world is a map, a set or a list, or has a method `objects()` that gives the ids of what is there; " +
            `this is ${show(world)}`,
    );
}

/**
 * Has Node print a world by its name: what it keeps belongs to the service, and not to the provider. Gives what ends that. A
 * world that is frozen is printed as it is.
 */
export function unseen(world: World | undefined): () => void {
    const kept = world === undefined ? undefined : Object.getOwnPropertyDescriptor(world, inspect.custom);
    const named = { value: () => "<the world>", configurable: true };
    if (world === undefined || !Reflect.defineProperty(world, inspect.custom, named)) {
        return () => {};
    }
    return () => {
        Reflect.deleteProperty(world, inspect.custom);
        if (kept !== undefined) {
            Object.defineProperty(world, inspect.custom, kept);
        }
    };
}

/** What the engine's side asks of every world alike. */
export type WorldRequest = { do: "picture" } | { do: "mutate-remote" | "delete-remote"; id: string };

/** Does it. */
export async function askedOf(world: World | undefined, request: WorldRequest): Promise<unknown> {
    switch (request.do) {
        case "picture":
            return world === undefined ? null : plainJson(pictureOf(world));
        case "mutate-remote":
            await world?.mutateRemote?.(request.id);
            return null;
        case "delete-remote":
            await removerOf(world)?.(request.id);
            return null;
    }
}

/** Removes an object behind the provider's back; undefined where the world knows no way. */
export function removerOf(world: World | undefined): ((id: string) => unknown) | undefined {
    if (world === undefined) {
        return undefined;
    }
    if (typeof world.deleteRemote === "function") {
        return (id) => world.deleteRemote?.(id);
    }
    const kept: unknown = typeof world.objects === "function" ? world.objects() : world;
    const tag = Object.prototype.toString.call(kept);
    return tag === "[object Map]" || tag === "[object Set]"
        ? (id) => (kept as { delete(id: string): boolean }).delete(id)
        : undefined;
}

/** What can be compared of a world: its objects, with their properties where it tells them. */
function pictureOf(world: object): unknown {
    const { objects } = world as { objects?: () => unknown };
    const all: unknown = typeof objects === "function" ? objects.call(world) : world;
    const tag = Object.prototype.toString.call(all);
    if (tag === "[object Map]") {
        return Object.fromEntries(
            [...(all as Map<unknown, unknown>)].map(([id, it]) => [String(id), JSON.stringify(it) ?? String(it)]),
        );
    }
    return tag === "[object Set]" ? [...(all as Set<unknown>)].map(String) : JSON.parse(JSON.stringify(all) ?? "null");
}

/** Ids of objects that were made since the first stack was given this world, and that none of its stacks knows. */
export function orphansOf(world: unknown): string[] {
    const { before = new Set<string>(), owners = [] } = joined.get(world as object) ?? {};
    const known = new Set(owners.flatMap((owner) => owner.ids()));
    return objectsOf(world).filter((id) => !known.has(id) && !before.has(id));
}
