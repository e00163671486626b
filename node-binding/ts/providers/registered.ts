// What a program says about providers that cannot be found again by what the state says alone (step 3 of the lookup).
import { AsyncLocalStorage } from "node:async_hooks";
import { nameOf } from "./conversion";

/** Makes a provider from those attributes that could be stored with its resources. */
export type ProviderFactory = (attributes: Record<string, unknown>) => object | Promise<object>;

/** What else can be said about a provider class. */
export interface ProviderOptions {
    /** What the class was called before it was renamed or moved: `old-file.ts:OldName`, or the bare old name. */
    formerly?: string | readonly string[];
}

/** A provider class. */
export type ProviderClass = abstract new (...args: never[]) => object;

/** The file of a class or constant, relative to the project, and its name there. */
export interface Place {
    module: string;
    name: string;
}

/** Finds the place of a class; undefined when it has none. */
export type Locate = (wanted: ProviderClass) => Place | undefined;

type Factories = Map<string | ProviderClass, ProviderFactory>;

const factories: Factories = new Map();
const successors = new Map<string, ProviderClass | Place>();
// What this run's own program has registered: its factories may hold what only this run may use.
const ofRun = new AsyncLocalStorage<Factories>();

/** Does things in a run: what is registered there comes before what other runs have registered. */
export function inRunOf(): <T>(action: () => T) => T {
    const own: Factories = new Map();
    return (action) => ofRun.run(own, action);
}

/**
 * Says where the provider comes from of a resource that the program does not make any more.
 *
 * With a factory: for objects that cannot be made again from the state alone, because the class is local to a function or
 * holds what is not plain data. With `formerly`: for a class that was renamed or moved, while the state still names it as
 * it was. `key` is the class itself, or its file (relative to the project or in a package) and name as messages name it:
 * `providers/label.ts:LabelProvider`; the bare name means a class of that name in any file. What the factory returns is
 * configured like any other provider. Throws a TypeError that says what is wrong with the arguments.
 */
export function registerProvider(
    key: string | ProviderClass,
    factory: ProviderFactory | ProviderOptions,
    options: ProviderOptions = {},
): void {
    if ((typeof key !== "string" && typeof key !== "function") || key === "") {
        throw new TypeError(
            `the key of registerProvider is ${nameOf(key)}; it must be the provider's class or a text such as ` +
                "'providers/label.ts:LabelProvider'",
        );
    }
    const label = typeof key === "string" ? key : key.name;
    const hasFactory = typeof factory === "function";
    const { formerly } = hasFactory ? options : ((factory as ProviderOptions | undefined) ?? {});
    const names = formerly === undefined ? [] : typeof formerly === "string" ? [formerly] : [...formerly];
    if (!hasFactory && names.length === 0) {
        throw new TypeError(
            `registerProvider says nothing about '${label}': pass a function that makes the object, or what the class was ` +
                "called ({ formerly: 'old-file.ts:OldName' })",
        );
    }
    for (const name of names) {
        if (typeof name !== "string" || name === "") {
            throw new TypeError(
                `formerly of '${label}' is ${nameOf(name)}; it must be a text such as 'old-file.ts:OldName'`,
            );
        }
        successors.set(name, typeof key === "string" ? placeIn(key, name) : key);
    }
    if (hasFactory) {
        factories.set(key, factory);
        ofRun.getStore()?.set(key, factory);
    }
}

/** Forgets all that was registered, for tests that run programs one after the other in one process. */
export function forgetProviders(): void {
    factories.clear();
    successors.clear();
}

function placeIn(key: string, formerly: string): Place {
    const at = key.lastIndexOf(":");
    if (at < 0) {
        throw new TypeError(
            `'${key}' was formerly '${formerly}', but in which file is it now? Pass the class itself, or 'file.ts:${key}'`,
        );
    }
    return { module: key.slice(0, at), name: key.slice(at + 1) };
}

/** What makes objects of the class that is called so, for the run that asks. */
export function factoryOf(place: Place, locate: Locate): ProviderFactory | undefined {
    const own = ofRun.getStore();
    return (own && factoryIn(own, place, locate)) ?? factoryIn(factories, place, locate);
}

function factoryIn(known: Factories, place: Place, locate: Locate): ProviderFactory | undefined {
    const named = known.get(`${place.module}:${place.name}`) ?? known.get(place.name);
    if (named !== undefined) {
        return named;
    }
    for (const [key, factory] of known) {
        if (typeof key !== "string") {
            const { module, name } = locate(key) ?? { module: "", name: key.name };
            if (module === place.module && name === place.name) {
                return factory;
            }
        }
    }
    return undefined;
}

/** The place that a class has today, which the state knows by this one. */
export function today(place: Place, locate: Locate): Place {
    const seen = new Set<string>();
    for (let current = place; ; ) {
        seen.add(`${current.module}:${current.name}`);
        const successor = successors.get(`${current.module}:${current.name}`) ?? successors.get(current.name);
        if (successor === undefined) {
            return current;
        }
        const next =
            typeof successor === "function" ? (locate(successor) ?? { module: "", name: successor.name }) : successor;
        if (seen.has(`${next.module}:${next.name}`)) {
            return current;
        }
        current = next;
    }
}
