// One example: a world and a provider of its own.

import { parseJson, toJsonText } from "../../originals";
import { mapMembers } from "../../process/members";
import { isSecret } from "../../sdk/signatures";
import { type Direct, direct } from "../direct";
import type { TestStack } from "../stack/stack";
import type { Inputs } from "../stack/subject";
import { type ConfigSource, configOf, objectsOf, removerOf, type World } from "../worlds";
import { InputsRefused, UnexpectedError } from "./broken";
import { type Place, type ProviderSource, providerOf } from "./options";

type Bag = Record<string, unknown>;

/** What a provider is tried with. */
export interface Laboratory {
    provider: ProviderSource;
    place: Place;
    config?: ConfigSource | undefined;
    volatile: readonly string[];
    /** Undefined where the author does not say. */
    secret?: readonly string[] | undefined;
}

/** A value as the next call gets it: what was marked as a secret is plain. */
export function plain(value: unknown): unknown {
    if (value === null || typeof value !== "object") {
        return value;
    }
    if (!isSecret(value)) {
        return mapMembers(value, plain);
    }
    // An exported state has the JSON text of the value.
    const { plaintext: text, value: secret } = value as Bag;
    return plain(typeof text === "string" ? parseJson(text) : secret);
}

/** What a procedure asks of a stack beside operations. */
export type StackRequest =
    | { do: "save" | "restore" | "reload" | "law-outcome" | "life-outcome" }
    | { do: "put-former"; former: object }
    | { do: "forget"; name: string };

/** Has the engine's side answer it (`engine-kit/src/stack/requests.rs`). */
export function askedOfStack<Answer = null>(stack: TestStack, request: StackRequest): Answer {
    return parseJson(stack.native.answer(toJsonText(request))) as Answer;
}

/** A provider in a world. */
export class Trial {
    readonly provider: object;
    readonly direct: Direct;
    readonly #before: Set<string>;
    #configured: Promise<void> | undefined;

    private constructor(
        readonly laboratory: Laboratory,
        readonly world: World | undefined,
    ) {
        this.#before = new Set(world === undefined ? [] : objectsOf(world));
        this.provider = providerOf(laboratory.provider, this.world);
        this.direct = direct(this.provider);
    }

    /** Begins with what is in the world: nothing, where it can begin anew. */
    static async begin(laboratory: Laboratory): Promise<Trial> {
        return new Trial(laboratory, await laboratory.place.renew());
    }

    /** The configuration, which may have the world's address. */
    get config(): Record<string, string> {
        return configOf(this.laboratory.config, this.world);
    }

    has(method: string): boolean {
        return typeof (this.provider as Bag)[method] === "function";
    }

    /** Ids of what is in the world since it began. */
    objects(): string[] {
        return this.world === undefined ? [] : objectsOf(this.world).filter((id) => !this.#before.has(id));
    }

    /** Configures the provider for what is asked of it without an engine; once. */
    configure(): Promise<void> {
        this.#configured ??= this.direct.configure(this.config);
        return this.#configured;
    }

    /** Makes an object without an engine. */
    async create(news: Inputs): Promise<{ id: string; outputs: Bag }> {
        try {
            await this.configure();
            const { inputs, failures } = await this.direct.check({}, news);
            const [failure] = failures;
            if (failure !== undefined) {
                throw new InputsRefused(`${failure.property}: ${failure.reason}`);
            }
            const { id, outs } = await this.direct.create(plain(inputs) as Bag);
            return { id, outputs: plain(outs) as Bag };
        } catch (thrown) {
            throw thrown instanceof InputsRefused ? thrown : new UnexpectedError(thrown);
        }
    }

    /** Leaves nothing in a world that does not begin anew by itself. */
    async end(): Promise<void> {
        if (this.world !== undefined && !this.laboratory.place.resets) {
            const remove = removerOf(this.world);
            for (const id of this.objects()) {
                await remove?.(id);
            }
        }
        await this.direct.close().catch(() => {});
    }
}
