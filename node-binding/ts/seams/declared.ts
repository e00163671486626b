// Which outputs the class of a dynamic resource declares: the properties that it hands to the SDK.
import * as path from "node:path";

import { isOutput } from "../captured";
import { currentStore, type Store } from "./store";

/** The first resource of a type in a run. */
export interface DeclaredOutputs {
    className: string;
    outputs: Set<string>;
}

const declared = new WeakMap<Store, Map<string, DeclaredOutputs | undefined>>();

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

/** What the first resource of a dynamic type declares; given once per run and type. */
export function takeDeclaredOutputs(store: Store, type: string): DeclaredOutputs | undefined {
    const types = declared.get(store);
    const found = types?.get(type);
    types?.set(type, undefined);
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
            let types = declared.get(store);
            if (types === undefined) {
                types = new Map();
                declared.set(store, types);
            }
            made.get(store)?.(type, String(name));
            if (!types.has(type)) {
                const className = (resource as object).constructor.name;
                types.set(type, { className, outputs: new Set(Object.keys(props)) });
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
