import { OWN_DIRECTORY } from "../process/own-files";

// What CommonJS modules export: where a class is found that no loader of ours has seen.

// What no module exported, and how many modules there were then: looking through them all takes long.
const notExported = new WeakMap<object, number>();

/** Where a class or object is exported, among the CommonJS modules that are loaded (provider classes of packages). */
export function findExport(wanted: object): { file: string; name: string } | undefined {
    const modules = Object.entries(require.cache);
    if (notExported.get(wanted) === modules.length) {
        return undefined;
    }
    let allLoaded = true;
    for (const [file, module] of modules) {
        const exports: unknown = module?.exports;
        allLoaded &&= module?.loaded !== false;
        if (
            exports === null ||
            (typeof exports !== "object" && typeof exports !== "function") ||
            file.startsWith(OWN_DIRECTORY)
        ) {
            continue;
        }
        if (exports === wanted) {
            return { file, name: "module.exports" };
        }
        for (const [name, descriptor] of membersOf(exports)) {
            if (readValue(descriptor) === wanted) {
                return { file, name };
            }
        }
    }
    // A module that is still being loaded may come to export it.
    if (allLoaded) {
        notExported.set(wanted, modules.length);
    }
    return undefined;
}

/** What a module exports under a name. */
export function exportOf(exports: unknown, name: string): unknown {
    if (name === "module.exports") {
        return exports;
    }
    if (
        exports === null ||
        (typeof exports !== "object" && typeof exports !== "function") ||
        !Object.hasOwn(exports, name)
    ) {
        return undefined;
    }
    return (exports as Record<string, unknown>)[name];
}

function membersOf(exports: object): [string, PropertyDescriptor][] {
    try {
        return Object.entries(Object.getOwnPropertyDescriptors(exports));
    } catch {
        // An ES module that is still being loaded.
        return [];
    }
}

// A getter that does nothing but name a variable: how transpiled modules export.
const BARE_GETTER = /^(?:function\s*\(\)\s*\{\s*return\s+[\w$.[\]]+;?\s*\}|\(\)\s*=>\s*[\w$.[\]]+)$/;

// Getters with other duties are not worth the risk.
function readValue(descriptor: PropertyDescriptor): unknown {
    if (descriptor.get === undefined || !BARE_GETTER.test(Function.prototype.toString.call(descriptor.get))) {
        return descriptor.value;
    }
    try {
        return descriptor.get.call(undefined);
    } catch {
        return undefined;
    }
}
