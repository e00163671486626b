// The serialiser of providers: never called, and (where we come first) never loaded.
import type Module from "node:module";
import * as path from "node:path";
import type { SerializedObject } from "../../native";

import { OwnSet, OwnWeakMap } from "../originals";
import { isOutput } from "./captured-outputs";
import { withoutShortcuts } from "./speed";
import { standIn } from "./stand-ins";
import { currentStore, isOutside, type Store } from "./store";

/** Gives the handle of a provider object of a run; an output where it has to wait for something. */
export type HandleOf = (provider: object) => unknown;

const handles = new OwnWeakMap<Store, HandleOf>();
const CLOSURES = ["runtime/closure/serializeClosure", "runtime/closure/codePaths"];
const METHODS = ["check", "diff", "create", "read", "update", "delete", "configure"];

/**
 * Has the SDK put handles in the place of serialised providers for one run. The SDK asks the option
 * `cacheDynamicProviders` right before it looks a provider up in its cache: the next look-up is answered by us.
 */
export function giveHandles(store: Store, handleOf: HandleOf): void {
    handles.set(store, handleOf);
    Object.defineProperty(store.settings.options, "cacheDynamicProviders", {
        configurable: true,
        enumerable: true,
        get: () => {
            answerNextLookUp(handleOf);
            return true;
        },
    });
}

const lookUp = WeakMap.prototype.get;

function answerNextLookUp(handleOf: HandleOf): void {
    const restore = (): void => {
        if (WeakMap.prototype.get === answer) {
            WeakMap.prototype.get = lookUp;
        }
    };
    const answer = function (this: WeakMap<object, unknown>, key: object): unknown {
        restore();
        return looksLikeProvider(key) ? handleOf(key) : lookUp.call(this, key);
    } as typeof lookUp;
    WeakMap.prototype.get = answer;
    // The option is public: a program that reads it must not change somebody else's look-up later.
    queueMicrotask(restore);
}

/** Has an object a method of a provider of the SDK's? */
export function looksLikeProvider(key: unknown): key is object {
    return (
        typeof key === "object" &&
        key !== null &&
        METHODS.some((method) => typeof (key as Record<string, unknown>)[method] === "function")
    );
}

// They load typescript, and before SDK 3.276 npm's arborist: half of the SDK's start.
/** Puts stand-ins in the place of the modules that serialise closures, for whoever loads the SDK after this. */
export function stubClosures(root: string): void {
    for (const name of CLOSURES) {
        const file = path.join(root, `${name}.js`);
        const forward =
            (method: string) =>
            (...args: unknown[]): unknown =>
                liveProvider(args) ?? withoutShortcuts(() => realClosures(file)[method]?.(...args));
        const stub = standIn(file, {
            serializeFunction: forward("serializeFunction"),
            serializeFunctionAsync: forward("serializeFunctionAsync"),
            computeCodePaths: forward("computeCodePaths"),
            findWorkspaceRoot: forward("findWorkspaceRoot"),
            packageArchivePath: forward("packageArchivePath"),
        });
        if (stub !== undefined) {
            stubs.set(file, stub);
        }
    }
}

/** What the serialiser of the SDK at `root` makes of a provider: the text of a module that makes it again. */
export async function serializeProvider(root: string, provider: object): Promise<SerializedObject> {
    const real = realClosures(path.join(root, `${CLOSURES[0]}.js`));
    const serialized = (await withoutShortcuts(() =>
        real.serializeFunction?.(() => provider, { allowSecrets: true }),
    )) as { text: string; containsSecrets: boolean };
    return { text: serialized.text, secret: serialized.containsSecrets };
}

type Closures = Record<string, (...args: unknown[]) => unknown>;

const stubs = new Map<string, Module>();
const reals = new Map<string, Closures>();

function realClosures(file: string): Closures {
    if (path.basename(file) === "serializeClosure.js") {
        withReadableClasses(path.join(path.dirname(file), "parseFunction.js"));
    }
    const stub = stubs.get(file);
    let real = stub === undefined ? (require(file) as Closures) : reals.get(file);
    if (real === undefined) {
        delete require.cache[file];
        try {
            real = require(file) as Closures;
        } finally {
            require.cache[file] = stub;
        }
        reals.set(file, real);
    }
    return real;
}

// What the loader puts into each class, for its name. The compiler that the SDK has for projects without one of their own is too
// old to read it, and refuses the whole class.
const KEPT_NAME = /\bstatic ?\{\s*__name\(this, ?"(?:[^"\\]|\\.)*"\);?\s*\}/g;
const readable = new OwnSet<Parser>();

interface Parser {
    parseFunction(text: string): unknown;
}

/** Has the SDK parse classes as the program has them. */
function withReadableClasses(file: string): void {
    const parser = require(file) as Parser;
    if (!readable.has(parser)) {
        readable.add(parser);
        const { parseFunction } = parser;
        parser.parseFunction = (text) => parseFunction(text.replace(KEPT_NAME, ""));
    }
}

// A function that does nothing but name a variable: another one, of the user's, is not to be called.
const BARE_NAME = /^\(\)\s*=>\s*[\w$]+$/;

// `serializeFunction(() => provider, { allowSecrets: true })` is how the SDK serialises a provider object.
function liveProvider([closure, options]: unknown[]): Promise<{ text: string; containsSecrets: boolean }> | undefined {
    const store = currentStore();
    const handleOf = store === undefined ? undefined : handles.get(store);
    const isProviders =
        typeof closure === "function" &&
        BARE_NAME.test(Function.prototype.toString.call(closure)) &&
        (options as { allowSecrets?: boolean } | undefined)?.allowSecrets === true;
    if (isProviders && isOutside()) {
        // Nobody registers its resource, and the text would cost more than all else: the SDK loads a compiler for it.
        return Promise.resolve({ text: "", containsSecrets: false });
    }
    if (handleOf === undefined || !isProviders) {
        return undefined;
    }
    const provider: unknown = (closure as () => unknown)();
    if (!looksLikeProvider(provider)) {
        return undefined;
    }
    const handle = handleOf(provider);
    const text = isOutput(handle) ? handle.promise() : Promise.resolve(handle);
    return text.then((it) => ({ text: String(it), containsSecrets: false }));
}
