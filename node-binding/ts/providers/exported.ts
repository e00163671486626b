// What CommonJS modules export: where a class is found that no loader of ours has seen.
import { isForeign } from "../loading/packages";
import { OWN_DIRECTORY } from "../process/own-files";
import { isDeferred } from "../sdk/speed";

/** Where a value is exported. */
interface Place {
    file: string;
    name: string;
}

// What no module exported, and how many modules there were then: looking through them all takes long.
const notExported = new WeakMap<object, number>();

/** Where a class or object is exported, among the CommonJS modules that are loaded (provider classes of packages). */
export function findExport(wanted: object): Place | undefined {
    // A program may have a class for thousands of objects, but an object literal for each resource.
    return typeof wanted === "function" ? searchAll(wanted) : exportedObjects.find(wanted);
}

function searchAll(wanted: object): Place | undefined {
    const modules = Object.entries(require.cache);
    if (notExported.get(wanted) === modules.length) {
        return undefined;
    }
    for (const [file, module] of modules) {
        const found = placeIn(file, module, wanted);
        if (found !== undefined) {
            return found;
        }
    }
    // A module that is still being loaded may come to export it.
    if (modules.every(([, module]) => module?.loaded !== false)) {
        notExported.set(wanted, modules.length);
    }
    return undefined;
}

function placeIn(file: string, module: NodeJS.Module | undefined, wanted: object): Place | undefined {
    const exports = exportsOf(file, module);
    if (exports === wanted) {
        return { file, name: "module.exports" };
    }
    const found = exports && membersOf(exports).find(([, descriptor]) => readValue(descriptor) === wanted);
    return found && { file, name: found[0] };
}

// The exports of a module that may hold providers, and can be looked at without an effect.
function exportsOf(file: string, module: NodeJS.Module | undefined): object | undefined {
    const exports: unknown = module?.exports;
    const isObject = exports !== null && (typeof exports === "object" || typeof exports === "function");
    return isObject && !file.startsWith(OWN_DIRECTORY) && !isDeferred(exports) ? exports : undefined;
}

/**
 * The objects that modules export. Those of packages that have nothing to do with Pulumi are read once: there are hundreds. The
 * others may change what they export at any time, as a module does while it is being loaded.
 */
class ExportedObjects {
    #count = -1;
    #places = new WeakMap<object, Place>();
    #read = new WeakSet<object>();
    #live: string[] = [];
    #loading: NodeJS.Module[] = [];

    find(wanted: object): Place | undefined {
        this.#update();
        for (const file of this.#live) {
            const found = placeIn(file, require.cache[file], wanted);
            if (found !== undefined) {
                return found;
            }
        }
        const place = this.#places.get(wanted);
        // It may have been replaced meanwhile.
        return place && placeIn(place.file, require.cache[place.file], wanted);
    }

    #update(): void {
        const files = Object.keys(require.cache);
        if (files.length === this.#count && this.#loading.every((module) => module.loaded === false)) {
            return;
        }
        this.#count = files.length;
        this.#live = [];
        this.#loading = [];
        for (const file of files) {
            const module = require.cache[file];
            if (module === undefined || this.#read.has(module)) {
                continue;
            }
            if (module.loaded === false) {
                this.#loading.push(module);
            }
            if (module.loaded === false || !isForeign(file)) {
                this.#live.push(file);
            } else {
                this.#read.add(module);
                this.#note(file, module);
            }
        }
    }

    #note(file: string, module: NodeJS.Module): void {
        const exports = exportsOf(file, module);
        if (exports === undefined) {
            return;
        }
        const values = membersOf(exports).map(([name, descriptor]) => [name, readValue(descriptor)] as const);
        for (const [name, value] of [["module.exports", exports] as const, ...values]) {
            if (typeof value === "object" && value !== null && !this.#places.has(value)) {
                this.#places.set(value, { file, name });
            }
        }
    }
}

const exportedObjects = new ExportedObjects();

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

/** The members of what a module exports; none of a module that is not loaded yet. */
export function membersOf(exports: object): [string, PropertyDescriptor][] {
    if (isDeferred(exports)) {
        return [];
    }
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
