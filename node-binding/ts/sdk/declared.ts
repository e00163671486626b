// What is noted of a run's dynamic resources when they are made: their classes, and which outputs these declare (the properties
// that they hand to the SDK).
import * as path from "node:path";

import { isOutput } from "./captured-outputs";
import { currentStore, type Store } from "./store";

/** What the class of a resource declares. */
export interface DeclaredOutputs {
    className: string;
    outputs: Set<string>;
}

/** A class of resources, and the provider (its handle, as an output) of the first that was made. */
export interface Maker {
    make: object;
    type: string;
    provider: unknown;
}

// The property in which the SDK keeps a provider.
const PROVIDER = "__provider";

/** The classes of a run's resources: types say little, for many classes share one. */
interface RunClasses {
    makers: Map<object, Maker>;
    /** What the first resource of each class declares, by type and name. */
    declared: Map<string, DeclaredOutputs>;
}

const noted = new WeakMap<Store, RunClasses>();

function keyOf(type: string, name: string): string {
    return `${type}\0${name}`;
}

function noteClass(store: Store, make: { name: string }, type: string, name: string, props: object): void {
    const { makers, declared } = noted.get(store) ?? { makers: new Map(), declared: new Map() };
    noted.set(store, { makers, declared });
    if (!makers.has(make)) {
        makers.set(make, { make, type, provider: (props as Record<string, unknown>)[PROVIDER] });
        declared.set(keyOf(type, name), { className: make.name, outputs: new Set(Object.keys(props)) });
    }
}

/** The classes of which a run has made dynamic resources. */
export function makersOf(store: Store): Iterable<Maker> {
    return noted.get(store)?.makers.values() ?? [];
}

/** What the class of a resource declares, if it is the first one of its class in a run; given once. */
export function takeDeclaredOutputs(store: Store, type: string, name: string): DeclaredOutputs | undefined {
    const declared = noted.get(store)?.declared;
    const found = declared?.get(keyOf(type, name));
    declared?.delete(keyOf(type, name));
    return found;
}

const made = new WeakMap<Store, (type: string, name: string) => void>();

/** Has a function called in the constructor of each dynamic resource of a run. */
export function whenMade(store: Store, note: (type: string, name: string) => void): void {
    made.set(store, note);
}

const quiet = new WeakSet<Store>();

/**
 * Has a run's resources that fail to register be no unhandled rejections: where the run goes on all the same, the SDK rejects
 * their outputs, and whoever else watches the process would take that for an error of its own.
 */
export function quietFailures(store: Store): void {
    quiet.add(store);
}

function expectRejections(resource: object): void {
    for (const member of Object.values(resource)) {
        if (isOutput(member)) {
            const { isKnown, isSecret } = member as unknown as Record<string, Promise<unknown> | undefined>;
            for (const promise of [member.promise(), member.allResources?.(), isKnown, isSecret]) {
                Promise.resolve(promise).catch(() => {});
            }
        }
    }
}

/** Has one copy of the SDK note what each dynamic resource declares. */
export function noteDeclarations(root: string): void {
    const registration = require(path.join(root, "runtime/resource.js")) as Record<string, unknown>;
    const original = registration.registerResource;
    if (typeof original !== "function") {
        return;
    }
    const registering = (...args: unknown[]): unknown => {
        // (resource, parent, type, name, custom, remote, newDependency, props, ...)
        const [resource, , type, name, , , , props] = args;
        const store = currentStore();
        if (
            store !== undefined &&
            typeof type === "string" &&
            type.startsWith("pulumi-nodejs:dynamic") &&
            props instanceof Object
        ) {
            made.get(store)?.(type, String(name));
            noteClass(store, (resource as object).constructor, type, String(name), props);
        }
        const registered: unknown = original.apply(registration, args);
        if (store !== undefined && quiet.has(store) && resource instanceof Object) {
            expectRejections(resource);
        }
        return registered;
    };
    // A closure that is serialised is run where nothing can be registered; the SDK leaves out what says this.
    registration.registerResource = Object.assign(registering, { doNotCapture: true });
}
