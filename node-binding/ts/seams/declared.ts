// Which outputs the class of a dynamic resource declares: the properties that it hands to the SDK.
import * as path from "node:path";

import { isOutput } from "../captured";
import { currentStore, type Store } from "./store";

/** What the class of a resource declares. */
export interface DeclaredOutputs {
    className: string;
    outputs: Set<string>;
}

// The property in which the SDK keeps a provider.
const PROVIDER = "__provider";

/** What was noted of a run's classes: types say little, for many classes share one. */
interface Noted {
    classes: WeakSet<object>;
    /** The first resource of each class, by type and name. */
    first: Map<string, DeclaredOutputs>;
}

const declared = new WeakMap<Store, Noted>();

const key = (type: string, name: string): string => `${type}\0${name}`;

const made = new WeakMap<Store, (type: string, name: string) => void>();

/** A class of resources, and the provider (its handle, as an output) of the first that was made. */
export interface Maker {
    make: object;
    type: string;
    provider: unknown;
}

const makers = new WeakMap<Store, Map<object, Maker>>();

/** The classes of which a run has made dynamic resources. */
export function makersOf(store: Store): Iterable<Maker> {
    return makers.get(store)?.values() ?? [];
}

function noteMaker(store: Store, resource: object, type: string, props: object): void {
    let known = makers.get(store);
    if (known === undefined) {
        known = new Map();
        makers.set(store, known);
    }
    const make: object = resource.constructor;
    if (!known.has(make)) {
        known.set(make, { make, type, provider: (props as Record<string, unknown>)[PROVIDER] });
    }
}

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

/** What the class of a resource declares, if it is the first one of its class in a run; given once. */
export function takeDeclaredOutputs(store: Store, type: string, name: string): DeclaredOutputs | undefined {
    const first = declared.get(store)?.first;
    const found = first?.get(key(type, name));
    first?.delete(key(type, name));
    return found;
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
            const noted = declared.get(store) ?? { classes: new WeakSet(), first: new Map<string, DeclaredOutputs>() };
            declared.set(store, noted);
            made.get(store)?.(type, String(name));
            noteMaker(store, resource as object, type, props);
            const { constructor: ofClass } = resource as object;
            if (!noted.classes.has(ofClass)) {
                noted.classes.add(ofClass);
                const outputs = new Set(Object.keys(props));
                noted.first.set(key(type, String(name)), { className: ofClass.name, outputs });
            }
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
