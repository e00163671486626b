// What `configure` sets on a provider object belongs to one run.
//
// A process may hand one object to many runs: one that is made at the top of a file is the same for every stack that a service
// deploys, and for every test. The first run that needs it configured holds it, and its very methods are called. A run that
// comes after that one finds it as it was before: what `configure` had set is taken back first, and so is what any method has
// made where nothing was (a client made on first use holds a token, too). A run that comes while another one goes on gets a
// copy of its own, made of what the object was before its first `configure`; where that cannot be done without a surprise it
// is refused.
import { isDeepStrictEqual } from "node:util";
import { keepsPrivate, type StoredAttributes, takenNow } from "./attributes";
import type { Configuration } from "./calls";
import { copyForRun, copyOf, isPlain, sharedError, type User } from "./copies";
import { accessorsOf, contentsOf, inherited, isAbsent, valuesOf } from "./own-values";

const MISSING = Symbol("missing");

/** What `configure` made of an attribute, or of the content of an array or object that it found in one. */
interface Change {
    before: unknown;
    after: unknown;
}

/** What is known of one provider object for as long as it lives: as what it was made, and who holds it. */
class Origin {
    taken: StoredAttributes;
    /** Its attributes as they were before its first `configure`. */
    readonly values: Map<string, unknown>;
    /** Copies of the plain arrays and objects among them: these change in place. */
    readonly contents: Map<string, unknown>;
    #holder: WeakRef<Claims> | undefined;
    #configuredBy: WeakRef<Claims> | undefined;
    #calls = 0;
    readonly #set = new Map<string, Change>();
    readonly #setInside = new Map<string, Change>();
    #left: Map<string, unknown> | undefined;
    #contentsLeft = new Map<string, unknown>();
    readonly #accessors: Map<string, PropertyDescriptor>;

    constructor(provider: object, taken: StoredAttributes) {
        this.taken = taken;
        this.#accessors = accessorsOf(provider);
        this.values = valuesOf(provider);
        this.contents = contentsOf(this.values);
    }

    get #isHeld(): boolean {
        return this.#holder?.deref() !== undefined;
    }

    /** Does no run hold it, and does no method go on that a run has given up? */
    get isFree(): boolean {
        return this.#calls === 0 && !this.#isHeld;
    }

    /** Who has it, so that others cannot: for the message. */
    userFor(claims: Claims): User {
        const holder = this.#holder?.deref();
        if (claims.isOfSameRun(holder)) {
            return "configuration";
        }
        return this.#calls > 0 && holder === undefined ? "abandoned" : "run";
    }

    /**
     * Before the next run sees it: what `configure` has set is taken back, and what methods have made where nothing was.
     * What the program itself has set since the last run stays, and counts from now on as what the object was made with.
     */
    makeReady(provider: object): void {
        if (!this.isFree) {
            return;
        }
        this.#configuredBy = undefined;
        const left = this.#noteProgram(provider);
        if (left !== undefined) {
            const now = valuesOf(provider);
            this.#takeMade(provider, (key) => !this.#isChanged(key, left, now));
        }
        const own = provider as Record<string, unknown>;
        for (const [key, { before, after }] of this.#set) {
            if (own[key] === after && Object.hasOwn(own, key)) {
                restore(own, key, before);
            }
        }
        for (const [key, { before, after }] of this.#setInside) {
            restoreInside(own[key], before, after);
        }
        this.#set.clear();
        this.#setInside.clear();
    }

    /** Before `configure` is called again for the same run: what it has not set itself, and was made where nothing was, goes. */
    configuresAgain(claims: Claims, provider: object): void {
        if (this.isConfiguredBy(claims) && this.#calls === 0) {
            this.#takeMade(provider, (key) => !this.#set.has(key));
        }
    }

    // Takes back what was made where nothing was before the first `configure`: it may hold what the run was configured with.
    #takeMade(provider: object, isTaken: (key: string) => boolean): void {
        for (const [key, now] of valuesOf(provider)) {
            const before = valueIn(this.values, key);
            const hadNone = before === MISSING ? isAbsent(inherited(provider, key)) : isAbsent(before);
            if (hadNone && now !== before && isTaken(key)) {
                restore(provider as Record<string, unknown>, key, before, this.#accessors.get(key));
            }
        }
    }

    // What the program has set since the last call counts. Gives how the object was left then, once.
    #noteProgram(provider: object): Map<string, unknown> | undefined {
        const left = this.#left;
        this.#left = undefined;
        if (left !== undefined) {
            this.#noteChanges(left, valuesOf(provider), provider);
        }
        return left;
    }

    #isChanged(key: string, left: Map<string, unknown>, now: Map<string, unknown>): boolean {
        const [before, after] = [valueIn(left, key), valueIn(now, key)];
        return (
            before !== after || (this.#contentsLeft.has(key) && !isDeepStrictEqual(this.#contentsLeft.get(key), after))
        );
    }

    #noteChanges(left: Map<string, unknown>, now: Map<string, unknown>, provider: object): void {
        let some = false;
        for (const key of new Set([...left.keys(), ...now.keys()])) {
            const after = valueIn(now, key);
            if (this.#isChanged(key, left, now)) {
                some = true;
                this.values.delete(key);
                this.contents.delete(key);
                if (after !== MISSING) {
                    this.values.set(key, after);
                    if (isPlain(after)) {
                        this.contents.set(key, copyOf(after));
                    }
                }
            }
        }
        if (some) {
            // What is not listed is no attribute for the state either.
            const listed = [...this.values, ...this.contents].filter(
                ([key]) => !Object.hasOwn(provider, key) || Object.prototype.propertyIsEnumerable.call(provider, key),
            );
            this.taken = takenNow(provider, new Map(listed));
        }
    }

    /** Has a run hold it, if it is free. */
    hold(claims: Claims, provider: object): boolean {
        if (this.#holder?.deref() === claims) {
            return true;
        }
        if (!this.isFree) {
            return false;
        }
        if (this.isConfiguredBy(claims)) {
            this.#noteProgram(provider);
        } else {
            this.makeReady(provider);
        }
        this.#holder = new WeakRef(claims);
        return true;
    }

    /** Is it as that run has configured it? */
    isConfiguredBy(claims: Claims): boolean {
        return this.#configuredBy?.deref() === claims;
    }

    /** Who has configured it, makes no calls just now, and is to close it before others take it. */
    get paused(): Claims | undefined {
        const owner = this.#configuredBy?.deref();
        return owner?.onTaken !== undefined && this.isFree ? owner : undefined;
    }

    /** A run has let go of what it had configured. */
    forgetConfigured(claims: Claims): void {
        if (this.isConfiguredBy(claims)) {
            this.#configuredBy = undefined;
        }
    }

    callBegins(): void {
        this.#calls++;
    }

    callEnded(provider: object): void {
        this.#calls--;
        if (this.isFree) {
            this.#noteLeft(provider);
        }
    }

    /** Compares the object with what it was before its `configure`. */
    noteConfigured(claims: Claims, provider: object, [values, contents]: State, config: Configuration): void {
        this.#configuredBy = new WeakRef(claims);
        const now = valuesOf(provider);
        for (const key of new Set([...values.keys(), ...now.keys()])) {
            const [before, after] = [valueIn(values, key), valueIn(now, key)];
            if (before !== after) {
                if (!isCount(before, after)) {
                    note(this.#set, key, { before, after });
                }
            } else if (contents.has(key) && !isDeepStrictEqual(contents.get(key), after)) {
                const inside = { before: contents.get(key), after: copyOf(after) };
                if (!isLog(inside, config)) {
                    note(this.#setInside, key, inside);
                }
            }
        }
    }

    /** The run that held it is over. */
    release(provider: object): void {
        this.#holder = undefined;
        if (this.#calls === 0) {
            this.#noteLeft(provider);
        }
    }

    #noteLeft(provider: object): void {
        this.#left = valuesOf(provider);
        this.#contentsLeft = contentsOf(this.#left);
    }
}

type State = [values: Map<string, unknown>, contents: Map<string, unknown>];

// By the object, for all copies of this module in the process.
const known = knownOrigins();

function knownOrigins(): WeakMap<object, Origin> {
    const place = globalThis as { [key: symbol]: WeakMap<object, Origin> | undefined };
    const key = Symbol.for("maloko.configured.1");
    place[key] ??= new WeakMap();
    return place[key];
}

/** What stands for an object in the state. What an earlier run's `configure` has set is taken back, and is no part of it. */
export function takenOf(provider: object): StoredAttributes {
    const origin = known.get(provider);
    if (origin === undefined) {
        return takenNow(provider);
    }
    if (origin.paused === undefined) {
        origin.makeReady(provider);
    }
    return origin.taken;
}

interface Claim {
    /** The object that is called for this run. */
    called: object;
    origin: Origin;
    isCopy: boolean;
}

/** Makes the object of a second run, where one is registered by hand. */
export type Factory = (provider: object, taken: StoredAttributes) => Promise<object | undefined>;

/** The provider objects that one run has configured by one configuration, by the objects that the program handed over. */
export class Claims {
    readonly #claims = new Map<object, Claim>();

    constructor(
        private readonly factory: Factory = () => Promise.resolve(undefined),
        /** Lets go of what was configured, when another run is about to take it in a pause. */
        readonly onTaken?: () => Promise<void>,
        /** Whose they are: a run has several, one for each of its configurations. */
        private readonly run?: object,
    ) {}

    /** Are both of one run? */
    isOfSameRun(other: Claims | undefined): boolean {
        return this.run !== undefined && this.run === other?.run;
    }

    /**
     * Makes a call, of the object that is configured for this run. Throws `ProviderInUse` where it cannot have one.
     */
    async call<T>(
        provider: object,
        method: string,
        config: () => Configuration,
        action: (called: object) => Promise<T>,
    ): Promise<T> {
        const claim = this.#claims.get(provider) ?? (method === "configure" ? await this.#claim(provider) : undefined);
        if (claim === undefined || claim.isCopy) {
            return action(claim?.called ?? provider);
        }
        const { called, origin } = claim;
        if (method === "configure") {
            origin.configuresAgain(this, called);
        }
        origin.callBegins();
        const before = method === "configure" ? stateOf(called) : undefined;
        try {
            return await action(called);
        } finally {
            if (before !== undefined) {
                origin.noteConfigured(this, called, before, config());
            }
            origin.callEnded(called);
        }
    }

    /** Has whoever made a pause with a configured object let go of it. */
    async evict(provider: object): Promise<void> {
        const owner = known.get(provider)?.paused;
        if (owner !== undefined && owner !== this) {
            await owner.onTaken?.();
        }
    }

    async #claim(provider: object): Promise<Claim> {
        await this.evict(provider);
        const origin = this.#originOf(provider);
        if (origin.hold(this, provider)) {
            return this.#keep(provider, { called: provider, origin, isCopy: false });
        }
        const user = origin.userFor(this);
        const made = await this.factory(provider, origin.taken);
        if (made !== undefined && made !== provider) {
            const own = this.#originOf(made);
            if (own.hold(this, made)) {
                return this.#keep(provider, { called: made, origin: own, isCopy: false });
            }
            const reason = "the factory that is registered for it gives the same object to several runs";
            throw sharedError(provider, reason, user);
        }
        const copied = copyForRun(provider, origin.values, origin.contents, keepsPrivate(provider));
        if (typeof copied === "string") {
            throw sharedError(provider, copied, user);
        }
        return this.#keep(provider, { called: copied, origin, isCopy: true });
    }

    #originOf(provider: object): Origin {
        let origin = known.get(provider);
        if (origin === undefined) {
            origin = new Origin(provider, takenNow(provider));
            known.set(provider, origin);
        }
        return origin;
    }

    #keep(provider: object, claim: Claim): Claim {
        this.#claims.set(provider, claim);
        return claim;
    }

    /** Is the object still as this run has configured it? */
    isConfigured(provider: object): boolean {
        const claim = this.#claims.get(provider);
        return claim !== undefined && (claim.isCopy || claim.origin.isConfiguredBy(this));
    }

    /** Nothing is called for a while: others may take what it holds, and configure it for themselves. */
    pause(): void {
        for (const { called, origin, isCopy } of this.#claims.values()) {
            if (!isCopy) {
                origin.release(called);
            }
        }
    }

    /** Goes on after a pause; what others hold meanwhile is no longer this run's. */
    resume(provider: object): void {
        const claim = this.#claims.get(provider);
        if (claim !== undefined && !claim.isCopy && !claim.origin.hold(this, claim.called)) {
            this.#claims.delete(provider);
        }
    }

    /** The run is over: what it held is free, as soon as no method of it goes on any more. */
    release(): void {
        this.pause();
        for (const { origin } of this.#claims.values()) {
            origin.forgetConfigured(this);
        }
        this.#claims.clear();
    }
}

function stateOf(provider: object): State {
    const values = valuesOf(provider);
    return [values, contentsOf(values)];
}

function valueIn(values: Map<string, unknown>, key: string): unknown {
    return values.has(key) ? values.get(key) : MISSING;
}

// Of several changes, what was there before the first one counts.
function note(changes: Map<string, Change>, key: string, change: Change): void {
    const { before } = changes.get(key) ?? change;
    changes.set(key, { before, after: change.after });
}

function restore(holder: Record<string, unknown>, key: string, before: unknown, accessor?: PropertyDescriptor): void {
    try {
        if (accessor !== undefined) {
            Object.defineProperty(holder, key, accessor);
        } else if (before === MISSING) {
            delete holder[key];
        } else {
            holder[key] = before;
        }
    } catch {
        // It cannot be set.
    }
}

// Takes out of an array or object what `configure` has put into it, and leaves what others have done.
function restoreInside(container: unknown, before: unknown, after: unknown): void {
    if (Array.isArray(container) && Array.isArray(before) && Array.isArray(after)) {
        const [first, last] = [before.length, after.length];
        if (
            isDeepStrictEqual(after.slice(0, first), before) &&
            isDeepStrictEqual(container.slice(first, last), after.slice(first))
        ) {
            container.splice(first, last - first);
        } else if (isDeepStrictEqual(container, after)) {
            container.splice(0, container.length, ...(before as unknown[]));
        }
        return;
    }
    if (!isPlain(container) || !isPlain(before) || !isPlain(after) || Array.isArray(container)) {
        return;
    }
    const [now, old, set] = [container, before, after] as Record<string, unknown>[] as [
        Record<string, unknown>,
        Record<string, unknown>,
        Record<string, unknown>,
    ];
    for (const key of new Set([...Object.keys(old), ...Object.keys(set)])) {
        if (!isDeepStrictEqual(old[key], set[key]) && isDeepStrictEqual(now[key], set[key])) {
            restore(now, key, Object.hasOwn(old, key) ? old[key] : MISSING);
        }
    }
}

// Was it counted up? Counters of tests go on from run to run.
function isCount(before: unknown, after: unknown): boolean {
    return typeof before === "number" && after === before + 1;
}

// Were only words added to an array that say nothing of the configuration? They are notes of a test.
function isLog({ before, after }: Change, config: Configuration): boolean {
    if (!Array.isArray(after) || !Array.isArray(before) || !isDeepStrictEqual(after.slice(0, before.length), before)) {
        return false;
    }
    const added: unknown[] = after.slice(before.length);
    const holds = (text: string, value: string): boolean =>
        value !== "" && (value.length > 3 ? text.includes(value) : text === value);
    return added.every(
        (item) => typeof item === "string" && !Object.values(config).some((value) => holds(item, String(value))),
    );
}
