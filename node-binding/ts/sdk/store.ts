// Where the SDK keeps what belongs to one run, and which run the calling code belongs to.
import { AsyncLocalStorage } from "node:async_hooks";
import { OwnSet } from "../originals";

/** The parts of the SDK's per-run store that we set. */
export interface Store {
    settings: {
        options: Record<string, unknown>;
        monitor?: unknown;
        engine?: unknown;
    };
    callbacks?: unknown;
    terminated?: boolean;
    pendingResourceRegistrations?: Map<unknown, { name?: string; type?: string; label?: string }>;
    [flag: string]: unknown;
}

// One storage for all copies of newer SDKs, one per copy of older ones.
const storages = new OwnSet<AsyncLocalStorage<Store>>();

/** Remembers the storage of a copy of the SDK. */
export function addStorage(storage: AsyncLocalStorage<Store>): void {
    storages.add(storage);
}

/** The store of the run that the calling code belongs to. */
export function currentStore(): Store | undefined {
    for (const storage of storages) {
        const store = storage.getStore();
        if (store !== undefined) {
            return store;
        }
    }
    return undefined;
}

const nobodys = new AsyncLocalStorage<true>();

/** Runs something outside of every run: resources that it makes are nobody's. */
export function outside<T>(action: () => T): T {
    const exited = [...storages].reduce<() => T>((inner, storage) => () => storage.exit(inner), action);
    return nobodys.run(true, exited);
}

/** Has `outside` called what is calling? */
export function isOutside(): boolean {
    return nobodys.getStore() === true && currentStore() === undefined;
}
