// The live provider objects of a run, and what stands for them in the state.
import * as fs from "node:fs";
import { declaredFiles, declaredIn, declaredValue, findDeclaration } from "../loading/declarations";
import { FileNames } from "../loading/packages";
import { entryOfPackage } from "../loading/program";
import type { NativeBridge } from "../native";
import { OwnMap, parseJson, toJsonText } from "../originals";
import { describeWithCauses, tracebackOf } from "../process/errors";
import { classOf, type StoredAttributes } from "./attributes";
import { autonamingOf } from "./autonaming";
import { CallFailed, type Configuration, callProvider, methodsOf, type Warn } from "./calls";
import { Claims, takenOf } from "./configured";
import { assignsFunctions } from "./constructors";
import { nameOf } from "./conversion";
import { ProviderInUse } from "./copies";
import { exportOf, findExport } from "./exported";
import { limitsOf } from "./rate-limits";
import { factoryOf, type Locate, type Place, type ProviderFactory, today } from "./registered";
import { fingerprintOf, type Revision, versionOf } from "./revision";
import { retryableErrorsOf } from "./transience";

const HANDLE_PREFIX = "maloko:object:";

/** What stands for a provider object in the state; provider/reference.rs of the engine explains the members. */
export interface ProviderReference {
    maloko: 1;
    language: "nodejs";
    module: string;
    name: string;
    attributes?: string;
    incomplete?: string;
    revision?: Revision;
}

// Numbers are never used twice in a thread, so that a handle that the SDK kept cannot mean another object.
let lastNumber = 0;

/** The provider objects of one run. */
export class ProviderRegistry {
    readonly #numbers = new OwnMap<object, number>();
    readonly #objects = new OwnMap<number, object>();
    readonly #byReference = new OwnMap<string, number>();
    readonly #rebuilt = new OwnMap<string, Promise<number | undefined>>();
    #files: FileNames;
    readonly #classes = new OwnMap<unknown, { file: string; name: string } | undefined>();
    // By configuration: each of them has an object of its own.
    readonly #claims = new OwnMap<number, Claims>();

    constructor(
        /** Takes the descriptions of provider objects. */
        private readonly native: NativeBridge,
        /** The directory of Pulumi.yaml: files are named relative to it. */
        root: string,
        /** Loads a program file that nothing has loaded in this run. */
        private readonly load: (file: string) => Promise<unknown> = () => Promise.resolve(undefined),
        /** Gives an object of an earlier run in this process, where the program of a test does not make one any more. */
        private readonly earlier: (reference: ProviderReference) => object | undefined = () => undefined,
    ) {
        this.#files = new FileNames(root);
    }

    /** Names the project's directory, where it is not known from the beginning. */
    setRoot(root: string): void {
        this.#files = new FileNames(root);
    }

    /** The handle that stands for an object in its registrations; described to the engine at its first use. */
    handleOf(provider: object): string {
        return HANDLE_PREFIX + this.numberOf(provider);
    }

    numberOf(provider: object): number {
        const known = this.#numbers.get(provider);
        if (known !== undefined) {
            return known;
        }
        const number = ++lastNumber;
        this.#numbers.set(provider, number);
        this.#objects.set(number, provider);
        const reference = this.referenceOf(provider);
        if (reference.incomplete === undefined && !this.#byReference.has(keyOf(reference))) {
            this.#byReference.set(keyOf(reference), number);
        }
        const { property, maxLength } = autonamingOf(provider);
        const described = { ...reference, revision: revisionOf(provider) };
        const limits = limitsOf(provider);
        // What is wrong with them is said here, and not when a call has failed.
        retryableErrorsOf(provider);
        this.native.describe(
            number,
            toJsonText(described),
            methodsOf(provider),
            property,
            maxLength,
            limits && toJsonText(limits),
        );
        return number;
    }

    /** The number of an object that the program handed over, by its complete reference or what is one today. */
    find(reference: ProviderReference): number | undefined {
        return this.#byReference.get(keyOf(reference)) ?? this.#byReference.get(keyOf(this.#today(reference)));
    }

    /** Did the program register a factory for the class? */
    isByHand(reference: ProviderReference): boolean {
        return [reference, this.#today(reference)].some((it) => factoryOf(it, this.#locate) !== undefined);
    }

    /** Calls a method of an object by its number, as it is configured by the configuration of that number. */
    call(
        object: number,
        configuration: number,
        method: string,
        text: string,
        warn: Warn,
        signal: AbortSignal,
    ): Promise<string> {
        const provider = this.#objects.get(object);
        if (provider === undefined) {
            return Promise.reject(new Error(`no provider object ${object} in this run`));
        }
        if (!isConfigurable(provider)) {
            return callProvider(provider, method, text, warn, signal);
        }
        return this.#callConfigured(
            provider,
            configuration,
            method,
            () => (parseJson(text) as { config: Configuration }).config,
            (called) => callProvider(called, method, text, warn, signal),
        );
    }

    async #callConfigured(
        provider: object,
        configuration: number,
        method: string,
        values: () => Configuration,
        call: (called: object) => Promise<string>,
    ): Promise<string> {
        let answer: string | undefined;
        try {
            await this.#claimsOf(configuration).call(provider, method, values, async (called) => {
                answer = await call(called);
            });
        } catch (thrown) {
            if (thrown instanceof ProviderInUse) {
                throw new CallFailed({ kind: "noProvider", message: thrown.message, traceback: "" }, thrown);
            }
            // What the method has answered must not be lost over what is noted of the object afterwards.
            if (answer === undefined || method === "configure") {
                throw thrown;
            }
        }
        return answer as string;
    }

    #claimsOf(configuration: number): Claims {
        let claims = this.#claims.get(configuration);
        if (claims === undefined) {
            claims = new Claims((provider, taken) => this.#ownOf(provider, taken), undefined, this);
            this.#claims.set(configuration, claims);
        }
        return claims;
    }

    /** What the factory makes that is registered by hand for the object's class, for a run that needs one of its own. */
    async #ownOf(provider: object, { text }: StoredAttributes): Promise<object | undefined> {
        const ownClass = classOf(provider);
        if (ownClass === undefined) {
            return undefined;
        }
        const place = this.placeOf(ownClass) ?? { module: "", name: ownClass.name };
        const factory = factoryOf(place, this.#locate);
        return factory === undefined ? undefined : made(factory, place, attributesIn({ attributes: text }));
    }

    /** The object of a number. */
    objectOf(object: number): object | undefined {
        return this.#objects.get(object);
    }

    /** The object of a handle. */
    objectOfHandle(handle: string): object | undefined {
        return handle.startsWith(HANDLE_PREFIX) ? this.objectOf(Number(handle.slice(HANDLE_PREFIX.length))) : undefined;
    }

    /** All objects of the run. */
    get objects(): object[] {
        return [...this.#numbers.keys()];
    }

    has(object: number): boolean {
        return this.#objects.has(object);
    }

    /** Lets go of all objects. */
    close(): void {
        this.native.forget([...this.#objects.keys()]);
        this.#objects.clear();
        this.#numbers.clear();
        this.#byReference.clear();
        this.#rebuilt.clear();
        for (const claims of this.#claims.values()) {
            claims.release();
        }
        this.#claims.clear();
    }

    /** What stands for an object in the state. Reads its attributes now. */
    referenceOf(provider: object): ProviderReference {
        // First of all: what an earlier run's `configure` has set is taken back.
        const taken = takenOf(provider);
        const reference: ProviderReference = { maloko: 1, language: "nodejs", module: "", name: "" };
        const ownClass = classOf(provider);
        if (ownClass === undefined) {
            const incomplete =
                "the provider is an object literal that is no constant at the top level of a file of the program";
            return { ...reference, ...(this.placeOf(provider) ?? { incomplete }) };
        }
        reference.name = ownClass.name;
        const found = this.placeOf(ownClass);
        if (found === undefined) {
            const what = ownClass.name === "" ? "an anonymous class" : `class \`${ownClass.name}\``;
            // Without a file, the program was not loaded by our loader.
            const [known] = declaredFiles();
            reference.incomplete =
                known !== undefined
                    ? `${what} is not declared at the top level of a file of the program`
                    : `${what} has no name to be found by: the program was loaded by others (an inline one), and of its files only the exports of CommonJS modules are known (all that they declare with \`node --import maloko/register\`)`;
        } else {
            Object.assign(reference, found);
        }
        const { text, fault } = taken;
        if (text !== undefined) {
            reference.attributes = text;
        }
        const incomplete = reference.incomplete ?? fault;
        return incomplete === undefined ? reference : { ...reference, incomplete };
    }

    /** Where a class or an object is declared or exported. */
    placeOf(wanted: object): Place | undefined {
        if (!this.#classes.has(wanted)) {
            // An object literal may be looked up before its constant is there: only successes are kept for it.
            const found = this.#declarationOf(wanted);
            if (found === undefined && typeof wanted !== "function") {
                return undefined;
            }
            this.#classes.set(wanted, found);
        }
        const place = this.#classes.get(wanted);
        return place && { module: this.#files.nameOf(place.file), name: place.name };
    }

    // Of a package's file, what it exports is a better name than what it declares: that is what a package promises.
    #declarationOf(wanted: object): { file: string; name: string } | undefined {
        const declared = findDeclaration(wanted);
        return declared !== undefined && this.#files.isOwn(declared.file) ? declared : (findExport(wanted) ?? declared);
    }

    /** Finds or makes the object of a stored reference, once for equal ones; undefined when there is no way. */
    async rebuild(reference: ProviderReference): Promise<number | undefined> {
        const key = keyOf(reference);
        const rebuilt = this.#rebuilt.get(key) ?? this.#rebuild(reference);
        this.#rebuilt.set(key, rebuilt);
        try {
            return await rebuilt;
        } catch (error) {
            this.#rebuilt.delete(key);
            throw error;
        }
    }

    async #rebuild(reference: ProviderReference): Promise<number | undefined> {
        const made = await this.#make(reference);
        if (made !== undefined) {
            return made;
        }
        const earlier = this.earlier(reference);
        if (earlier !== undefined) {
            return this.numberOf(earlier);
        }
        const current = this.#today(reference);
        if (current === reference) {
            return (await this.#findAgain(reference)) ?? this.#ofSameClass(reference);
        }
        // A class that was renamed or moved: from here on as if the state had its new name.
        const live = current.incomplete === undefined ? this.#byReference.get(keyOf(current)) : undefined;
        return live ?? (await this.#make(current)) ?? this.#findAgain(current);
    }

    // Earlier versions did not know the files of packages. A class that is found at the top of a file has no surroundings
    // in which two of it could differ: of the same name and code, an object with the same attributes is the same.
    #ofSameClass({ module, name, attributes, revision }: ProviderReference): number | undefined {
        if (module !== "" || name === "" || revision?.code === undefined) {
            return undefined;
        }
        const same = [...this.#byReference].filter(([key, number]) => {
            const provider = this.#objects.get(number) as object;
            const [, , , kept] = parseJson(key) as unknown[];
            return (
                classOf(provider)?.name === name &&
                kept === (attributes ?? null) &&
                revisionOf(provider).code === revision.code
            );
        });
        const classes = new Set(same.map(([, number]) => classOf(this.#objects.get(number) as object)));
        return classes.size === 1 ? same[0]?.[1] : undefined;
    }

    /** By the factory that is registered for the class (step 3). */
    async #make(reference: ProviderReference): Promise<number | undefined> {
        const factory = factoryOf(reference, this.#locate);
        if (factory === undefined) {
            return undefined;
        }
        return this.numberOf(await made(factory, reference, attributesIn(reference)));
    }

    /** By file and name, without the constructor unless that makes its methods (step 4). */
    async #findAgain(reference: ProviderReference): Promise<number | undefined> {
        if (reference.incomplete !== undefined || reference.language !== "nodejs") {
            return undefined;
        }
        const found = await this.#lookUp(reference.module, reference.name);
        if (typeof found === "function") {
            const prototype: unknown = found.prototype;
            if (prototype === null || typeof prototype !== "object") {
                return undefined;
            }
            const made = assignsFunctions(found) ? this.#construct(found) : (Object.create(prototype) as object);
            return this.numberOf(Object.assign(made, attributesIn(reference)));
        }
        return found !== null && typeof found === "object" ? this.numberOf(found) : undefined;
    }

    /** Finds what a user named as a provider: an object, or a class of which one is made. */
    async named(reference: ProviderReference): Promise<number | undefined> {
        const found = await this.#lookUp(reference.module, reference.name);
        if (typeof found === "function") {
            return this.numberOf(new (found as new () => object)());
        }
        return found !== null && typeof found === "object" ? this.numberOf(found) : undefined;
    }

    readonly #locate: Locate = (wanted) => this.placeOf(wanted);

    #today(reference: ProviderReference): ProviderReference {
        const { module, name } = this.#current(today(reference, this.#locate));
        return module === reference.module && name === reference.name ? reference : { ...reference, module, name };
    }

    // A class that is loaded may be called otherwise today: its package is laid out in another way, or exports it now.
    #current(place: Place): Place {
        const found = place.module === "" ? undefined : this.#known(this.#files.fileOf(place.module), place.name);
        const isObject = typeof found === "function" || (typeof found === "object" && found !== null);
        return (isObject ? this.placeOf(found) : undefined) ?? place;
    }

    async #lookUp(module: string, name: string): Promise<unknown> {
        const file = this.#files.fileOf(module);
        const known = this.#known(file, name);
        if (known !== undefined) {
            return known;
        }
        const loaded = await this.#load(file);
        return this.#known(file, name) ?? exportOf(loaded, name) ?? (await this.#lookUpInPackage(file, module, name));
    }

    #known(file: string, name: string): unknown {
        return declaredValue(file, name) ?? exportOf(require.cache[file]?.exports, name);
    }

    // A new version of a package may have moved what it exports to another file.
    async #lookUpInPackage(file: string, module: string, name: string): Promise<unknown> {
        const owner = fs.existsSync(file) ? undefined : this.#files.packageIn(module);
        const entry = owner && entryOfPackage(owner.directory);
        if (owner === undefined || entry === undefined) {
            return undefined;
        }
        const exported = exportOf(await this.#load(entry), name);
        const [declared, ...others] = declaredIn(owner.directory, name);
        return exported ?? (others.length === 0 ? declared : undefined);
    }

    #load(file: string): Promise<unknown> {
        return this.load(file).catch((thrown: unknown) => {
            throw notFoundFor(thrown);
        });
    }

    #construct(found: object): object {
        try {
            return new (found as new () => object)();
        } catch (thrown) {
            throw notFoundFor(thrown);
        }
    }
}

function notFoundFor(thrown: unknown): CallFailed {
    const message = describeWithCauses(thrown);
    return new CallFailed({ kind: "noProvider", message, traceback: tracebackOf(thrown) }, thrown);
}

function attributesIn({ attributes }: { attributes?: string | undefined }): Record<string, unknown> {
    return parseJson(attributes ?? "{}") as Record<string, unknown>;
}

async function made(factory: ProviderFactory, place: Place, attributes: Record<string, unknown>): Promise<object> {
    const object: unknown = await factory(attributes);
    if (object === null || typeof object !== "object") {
        throw new TypeError(
            `the factory registered for '${place.module === "" ? place.name : `${place.module}:${place.name}`}' returned ${nameOf(object)}; it must return a provider object`,
        );
    }
    return object;
}

/** Has it a `configure`, so that it is another one for each run? */
export function isConfigurable(provider: object): boolean {
    return typeof (provider as { configure?: unknown }).configure === "function";
}

/** Which code of a provider it is: what it declares, and a fingerprint of its source. */
function revisionOf(provider: object): Revision {
    const version = versionOf(provider);
    const code = fingerprintOf(provider, classOf(provider));
    return { ...(version === undefined ? {} : { version }), ...(code === undefined ? {} : { code }) };
}

function keyOf(reference: ProviderReference): string {
    return toJsonText([reference.language, reference.module, reference.name, reference.attributes ?? null]);
}
