// What the SDK spends most of its time on, done more cheaply; where a place has moved, it is done without.
import { findSourceMap } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { callSites } from "../process/call-sites";
import { standIn } from "./stand-ins";

const deferred = new WeakSet<object>();

/** Are these the exports of a module that is not loaded yet? Naming its members would load it. */
export function isDeferred(exports: object): boolean {
    return deferred.has(exports);
}

/** Loads the automation API at its first use: it is a tenth of the SDK's start, and programs hardly ever use it. */
export function deferAutomation(root: string): void {
    const file = path.join(root, "automation", "index.js");
    let real: object | undefined;
    const load = (): object => {
        if (real === undefined) {
            delete require.cache[file];
            real = require(file) as object;
        }
        return real;
    };
    const exports = new Proxy(Object.create(null) as object, {
        get: (_target, name) => (name === "__esModule" ? true : (Reflect.get(load(), name) as unknown)),
        has: (_target, name) => Reflect.has(load(), name),
        ownKeys: () => Reflect.ownKeys(load()),
        getOwnPropertyDescriptor: (_target, name) => {
            const descriptor = Reflect.getOwnPropertyDescriptor(load(), name);
            return descriptor && { ...descriptor, configurable: true };
        },
    });
    if (standIn(file, exports) !== undefined) {
        deferred.add(exports);
    }
}

interface Shortcut {
    holder: Record<string, unknown>;
    name: string;
    original: unknown;
    cheap: unknown;
}

const shortcuts: Shortcut[] = [];
let serializing = 0;

/** Puts something else in the place of a function of the SDK, except while closures are serialised. */
export function replaceInSdk(holder: Record<string, unknown>, name: string, cheap: unknown): void {
    shortcuts.push({ holder, name, original: holder[name], cheap });
    holder[name] = cheap;
}

/** Does something while the SDK is as it was shipped: a closure that is serialised may hold any part of it. */
export async function withoutShortcuts<T>(action: () => T): Promise<Awaited<T>> {
    serializing++;
    try {
        // What was replaced twice goes back to the first one.
        for (const { holder, name, original } of [...shortcuts].reverse()) {
            holder[name] = original;
        }
        return await action();
    } finally {
        if (--serializing === 0) {
            for (const { holder, name, cheap } of shortcuts) {
                holder[name] = cheap;
            }
        }
    }
}

const withDebugMessages = new WeakSet<object>();
let anyDebugMessages = false;

/** Has the debug messages of a run delivered; the SDK has a store for each run. */
export function deliverDebugMessages(store: object): void {
    withDebugMessages.add(store);
    anyDebugMessages = true;
}

/** Makes promises, debug messages and stack traces of one copy of the SDK cheap. */
export function speedUp(root: string): void {
    const load = (name: string): Record<string, unknown> =>
        require(path.join(root, `${name}.js`)) as Record<string, unknown>;
    const debuggable = load("runtime/debuggable");
    if (typeof debuggable.debuggablePromise === "function" && !process.env.PULUMI_DEBUG_PROMISE_LEAKS) {
        // It formats a stack for every promise, for a report on leaked promises that we make in another way.
        replaceInSdk(debuggable, "debuggablePromise", (promise: unknown) => promise);
    }
    const log = load("log/index");
    if (typeof log.debug === "function") {
        // The SDK has several for each resource, and each costs a chain of promises: only where somebody reads them.
        const original = log.debug as (...message: unknown[]) => Promise<void>;
        const { getStore } = load("runtime/state") as { getStore(): object };
        replaceInSdk(log, "debug", (...message: unknown[]) =>
            anyDebugMessages && withDebugMessages.has(getStore()) ? original(...message) : Promise.resolve(),
        );
    }
    const { Resource } = load("resource") as { Resource?: Record<string, unknown> };
    if (typeof Resource?.stackTrace === "function" && typeof Resource.callsites === "function") {
        replaceInSdk(Resource, "stackTrace", stackTrace);
    }
}

interface Position {
    uri: string;
    line: number;
    column: number;
}

const MAX_FRAMES = 8;
const positions = new Map<string, Position | undefined>();

// The SDK formats and parses whole stacks with all frames. Here: the callers' few nearest frames, each place once.
function stackTrace(skip: number): (Position | undefined)[] {
    // This function is the topmost frame in the place of `callsites`, which the SDK's own adds one for.
    return callSites(stackTrace, MAX_FRAMES + skip)
        .slice(skip - 1)
        .map(positionOf);
}

function positionOf(site: NodeJS.CallSite): Position | undefined {
    const file = site.getFileName();
    const line = site.getLineNumber();
    const column = site.getColumnNumber();
    if (typeof file !== "string" || line === null || column === null || file.startsWith("node:")) {
        return undefined;
    }
    const key = `${file}:${line}:${column}`;
    if (!positions.has(key)) {
        const uri = file.startsWith("file:") ? file : pathToFileURL(file).toString();
        const origin = findSourceMap(file)?.findEntry(line - 1, column - 1) as
            | { originalLine?: number; originalColumn?: number }
            | undefined;
        positions.set(
            key,
            origin?.originalLine === undefined
                ? { uri, line, column }
                : { uri, line: origin.originalLine + 1, column: (origin.originalColumn ?? 0) + 1 },
        );
    }
    return positions.get(key);
}
