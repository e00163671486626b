// One example of a law: a world and a provider of its own, and the objects that it made.
import { messageOf } from "../../process/errors";
import { parseJson } from "../../process/originals";
import { SECRET_SIGNATURE, SIGNATURE_KEY } from "../../sdk/signatures";
import { type Direct, direct } from "../direct";
import type { Inputs } from "../stack/subject";
import { objectsOf, type World } from "../worlds";
import { type Difference, firstDifference, firstDifferenceOf, Raised, Refused, told } from "./broken";
import { type ConfigSource, type Place, type ProviderSource, providerOf, removerOf } from "./options";

type Bag = Record<string, unknown>;

/** What a provider is tried with. */
export interface Laboratory {
    provider: ProviderSource;
    place: Place;
    config?: ConfigSource | undefined;
    volatile: readonly string[];
    secret: readonly string[];
}

/** An object that was made. */
export interface Made {
    id: string;
    /** As `check` gave them. */
    inputs: Bag;
    outs: Bag;
}

/** What `diff` says, or the engine in its place. */
export interface Verdict {
    changes: boolean;
    replaces: string[];
    deleteBeforeReplace: boolean;
    /** Was it the engine that compared? */
    compared: boolean;
}

/** A value as the next call gets it: what was marked as a secret is plain. */
export function plain(value: unknown): unknown {
    if (value === null || typeof value !== "object") {
        return value;
    }
    if (Array.isArray(value)) {
        return value.map(plain);
    }
    const members = value as Bag;
    // An exported state has the JSON text of the value.
    const text = members.plaintext;
    return members[SIGNATURE_KEY] === SECRET_SIGNATURE
        ? plain(typeof text === "string" ? parseJson(text) : members.value)
        : Object.fromEntries(Object.entries(members).map(([key, member]) => [key, plain(member)]));
}

/** Is it a value that was marked as a secret? */
export function isMarkedSecret(value: unknown): value is { value: unknown } {
    return value !== null && typeof value === "object" && (value as Bag)[SIGNATURE_KEY] === SECRET_SIGNATURE;
}

/** Calls a provider as the engine would, and tells what it does wrong in the author's terms. */
export class Trial {
    readonly provider: object;
    readonly direct: Direct;
    /** What the engine would warn of. */
    readonly warnings: string[] = [];
    readonly #made: Made[] = [];

    private constructor(
        readonly laboratory: Laboratory,
        readonly world: World | undefined,
    ) {
        this.provider = providerOf(laboratory.provider, this.world);
        this.direct = direct(this.provider, (text) => this.warnings.push(text));
    }

    /** Does something with a trial, and removes what it made. */
    static async run(laboratory: Laboratory, action: (trial: Trial) => Promise<void>): Promise<void> {
        const trial = new Trial(laboratory, await laboratory.place.renew());
        await trial.direct.configure(trial.config);
        try {
            await action(trial);
        } finally {
            await trial.#tidy();
            await trial.direct.close().catch((thrown: unknown) => trial.warnings.push(messageOf(thrown)));
        }
    }

    /** The configuration, which may have the world's address. */
    get config(): Record<string, string> {
        const { config = {} } = this.laboratory;
        return typeof config === "function" ? config(this.world) : config;
    }

    has(method: string): boolean {
        return typeof (this.provider as Bag)[method] === "function";
    }

    /** Ids of what is in the world. */
    objects(): string[] {
        return this.world === undefined ? [] : objectsOf(this.world);
    }

    /** The inputs that are used. An example that `check` refuses says nothing. */
    async check(news: Inputs, olds: Inputs = {}): Promise<Bag> {
        const { inputs, failures } = await this.#call(() => this.direct.check(olds, news));
        const [failure] = failures;
        if (failure !== undefined) {
            throw new Refused(`\`check\` refuses ${told(news)}: ${failure.property}: ${failure.reason}`);
        }
        return plain(inputs) as Bag;
    }

    async create(news: Inputs): Promise<Made> {
        const inputs = await this.check(news);
        const { id, outs } = await this.#call(() => this.direct.create(inputs));
        return this.keep({ id, inputs, outs: plain(outs) as Bag });
    }

    /** The first object of an example. Inputs that the provider refuses say nothing. */
    async made(news: Inputs): Promise<Made> {
        try {
            return await this.create(news);
        } catch (thrown) {
            throw thrown instanceof Raised ? new Refused(thrown.breach.got, { cause: thrown.breach.cause }) : thrown;
        }
    }

    /** Remembers an object, so that it is removed at the end. */
    keep(made: Made): Made {
        this.#made.push(made);
        return made;
    }

    /** The object is no longer this trial's. */
    forget(made: Made): void {
        const at = this.#made.indexOf(made);
        if (at >= 0) {
            this.#made.splice(at, 1);
        }
    }

    /** What is to happen to an object for it to be as `news` (checked). */
    async diff({ id, inputs, outs }: Made, news: Bag): Promise<Verdict> {
        const answer = await this.#call(() => this.direct.diff(id, outs, news));
        const changes = answer.changes ?? firstDifference(inputs, news) !== undefined;
        return {
            changes,
            replaces: changes ? answer.replaces : [],
            deleteBeforeReplace: answer.deleteBeforeReplace ?? false,
            compared: answer.changes === null,
        };
    }

    /** The object after an update. Without `update` nothing is left of its outputs, as the engine has it. */
    async update(made: Made, news: Bag): Promise<void> {
        const { outs } = this.has("update")
            ? await this.#call(() => this.direct.update(made.id, made.outs, news))
            : { outs: {} };
        Object.assign(made, { inputs: news, outs: plain(outs) });
    }

    async read(made: { id: string; outs?: Bag }): Promise<{ id: string; props: Bag; inputs: Bag | undefined }> {
        const { id, props, inputs } = await this.#call(() => this.direct.read(made.id, made.outs ?? {}));
        return { id, props: plain(props ?? {}) as Bag, inputs: inputs === null ? undefined : (plain(inputs) as Bag) };
    }

    async delete(made: Made): Promise<void> {
        this.forget(made);
        await this.#call(() => this.direct.delete(made.id, made.outs));
    }

    /** Where the properties of two objects differ, apart from what is volatile and from their ids. */
    difference(expected: Made, actual: Made): Difference | undefined {
        return firstDifferenceOf(expected, actual, this.laboratory.volatile);
    }

    async #call<T>(action: () => Promise<T>): Promise<T> {
        try {
            return await action();
        } catch (thrown) {
            throw new Raised(thrown);
        }
    }

    // A law may be broken in any way at this point; and what cannot be deleted is not this law's concern.
    async #tidy(): Promise<void> {
        for (const { id, outs } of this.#made.reverse()) {
            await this.direct.delete(id, outs).catch(() => removerOf(this.world)?.(id));
        }
    }
}

/**
 * Other inputs to go to from `from`: those of `to`, and those in which a single property is that of `to`. Most pairs that are
 * drawn differ in everything, so that whatever needs a replacement would hide all updates.
 */
export function variations(from: Inputs, to: Inputs): Inputs[] {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
        (key) => firstDifference(from[key], to[key]) !== undefined,
    );
    if (keys.length < 2) {
        return keys.length === 0 ? [] : [to];
    }
    const single = keys.map((key) => {
        const { [key]: _, ...rest } = from;
        return Object.hasOwn(to, key) ? { ...rest, [key]: to[key] } : rest;
    });
    return [to, ...single];
}
