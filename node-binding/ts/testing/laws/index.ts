// Provider laws: what every provider has to keep, tried with an author's own inputs.
import { ask } from "../judgement";
import { plainJson, show } from "../values";
import { asBroken, InputsRefused, LawBroken, lawResultText, type Outcome } from "./broken";
import { tryLaw } from "./host";
import { LAW_NAMES, type Law, type LawName, laws } from "./laws";
import {
    type BaselineResource,
    checkOptions,
    isArbitrary,
    Place,
    type ProviderSource,
    providerOf,
    type SubjectOptions,
    sampleWorld,
    titleOf,
} from "./options";
import { Plugin } from "./plugin";
import { type Examples, forAll, replayLine } from "./samples";
import { type LawSubject, subjectOf } from "./subject";

export { LawBroken } from "./broken";
export { LAW_NAMES, type LawName } from "./laws";
export type { ArbitraryLike, BaselineResource, ProviderSource, Samples, SubjectOptions, WorldSource } from "./options";
export { Plugin, type PluginOptions } from "./plugin";
export { PluginFailed } from "./plugin-host";
export { titleOf };

/** What an author says of a provider. */
export interface LawOptions extends SubjectOptions {
    /** Properties that are secret (`password`, or a path: `auth.token`); an empty list says that there are none. */
    secret?: readonly string[];
    /** Laws that this provider need not keep, each with the reason, which is printed. */
    waive?: Partial<Record<LawName, string>>;
    /** What a former release left in a state: resources, an exported stack, or the file of either. */
    baseline?: string | readonly BaselineResource[] | object;
    /** So long (milliseconds) a call may take to end once it is cancelled; default 1,000. */
    grace?: number;
}

/** What became of a law. */
export interface LawVerdict {
    law: LawName;
    title: string;
    status: "holds" | "broken" | "waived" | "needs";
    /** All of it for people: `L13 is waived: the service has no idempotency keys`. */
    text: string;
    /** Why it was waived, or what it lacks. */
    reason?: string;
    /** How it is broken. */
    error?: LawBroken;
}

const EXAMPLES = 10;
const GRACE = 1000;

// What a former release left; without a type token, all resources of dynamic providers count.
function formerResources(given: string | readonly BaselineResource[] | object, kind?: string): BaselineResource[] {
    return ask({ ask: "former_resources", given: plainJson(given), kind: kind ?? null });
}

/** The laws, in their order. */
export const LAWS: readonly { name: LawName; title: string }[] = laws();

function lawOf(name: LawName): Law {
    const law = laws().find((it) => it.name === name);
    if (law === undefined) {
        throw new TypeError(`there is no law ${show(name)}: there are ${LAW_NAMES.join(", ")}`);
    }
    return law;
}

/** A provider under the laws. Throws a TypeError for options that are missing or wrong. */
export class LawSuite {
    constructor(
        private readonly provider: ProviderSource,
        private readonly options: LawOptions,
    ) {
        checkOptions("laws", provider, options ?? {});
        for (const [name, reason] of Object.entries(options.waive ?? {})) {
            lawOf(name as LawName);
            if (typeof reason !== "string" || reason.trim() === "") {
                throw new TypeError(`\`waive\` of ${name} has no reason: say why this provider need not keep the law`);
            }
        }
    }

    get timeout(): number {
        return this.options.timeout ?? 60_000;
    }

    /** Why a law is not tried; undefined when it is. */
    notTried(name: LawName): { status: "waived" | "needs"; reason: string } | undefined {
        const waived = this.options.waive?.[name];
        if (waived !== undefined) {
            return { status: "waived", reason: waived };
        }
        const reason = ask<string | null>({
            ask: "law_lacks",
            law: lawOf(name).name,
            subject: subjectOf(this.#subject(name, new Place(undefined)), this.#sample()),
        });
        return reason === null ? undefined : { status: "needs", reason };
    }

    /** Does it hold? `command` runs its test alone. */
    async verdict(name: LawName, command = ""): Promise<LawVerdict> {
        const law = lawOf(name);
        const of = { law: name, title: law.title };
        const skipped = this.notTried(name);
        if (skipped !== undefined) {
            const { status, reason } = skipped;
            return { ...of, ...skipped, text: this.#text(law, { outcome: status, reason, what: reason }) };
        }
        const { inputs: samples, world, seed, examples = EXAMPLES } = this.options;
        const place = new Place(world);
        try {
            if (this.provider instanceof Plugin) {
                // What cannot be started breaks no law.
                await this.provider.started(this.options.config, await place.renew());
            }
            const subject = this.#subject(name, place);
            const count = isArbitrary(samples) ? 0 : samples.length;
            const tried = ask<Examples>({
                ask: "law_examples",
                law: name,
                usual: Math.max(1, Math.round(examples)),
                count,
            });
            const found = await forAll({ samples, seed, ...tried, whole: !law.shrinks }, law.inputs, (...inputs) =>
                tryLaw(name, subject, inputs),
            );
            if ("tried" in found) {
                return { ...of, status: "holds", text: this.#text(law, { outcome: "holds", examples: found.tried }) };
            }
            if ("untried" in found) {
                return { ...of, ...this.#untried(law, found.untried) };
            }
            const again = found.replay === undefined ? command : replayLine(command, found.replay);
            const named = titleOf(this.provider);
            const error = asBroken(found.thrown).complete(name, law.title, named, again.trim());
            return { ...of, status: "broken", text: error.message, error };
        } finally {
            await place.end();
        }
    }

    #text({ name, title }: Law, outcome: Outcome): string {
        return lawResultText(name, title, titleOf(this.provider), outcome);
    }

    // None of the examples said anything.
    #untried(law: Law, reasons: readonly Error[]): Omit<LawVerdict, "law" | "title"> {
        const examples = reasons.map((it) => ({ refused: it instanceof InputsRefused, text: it.message }));
        const result = ask<Outcome & { what?: string }>({ ask: "nothing_tried", examples });
        const text = this.#text(law, result);
        if (result.what !== undefined) {
            return { status: "needs", reason: result.what, text };
        }
        const error = LawBroken.untried(law.name, text, reasons[0] ?? new InputsRefused());
        return { status: "broken", text: error.message, error };
    }

    #subject(name: LawName, place: Place): LawSubject {
        const { config, volatile = [], secret, baseline, grace = GRACE, inputs } = this.options;
        const kind = this.provider instanceof Plugin ? this.provider.type : undefined;
        return {
            laboratory: { provider: this.provider, place, config, volatile, secret },
            baseline: baseline === undefined || name !== "L16" ? undefined : formerResources(baseline, kind),
            grace,
            listed: isArbitrary(inputs) ? undefined : new Set(inputs.map((it) => JSON.stringify(it))).size,
        };
    }

    #made: { world: ReturnType<typeof sampleWorld>; provider: object } | undefined;

    // What a class or a function makes is only known once it has made one.
    #sample() {
        if (this.#made === undefined) {
            const world = sampleWorld(this.options.world);
            this.#made = { world, provider: providerOf(this.provider, world) };
        }
        return this.#made;
    }
}

/** The title of a law's test: with the reason, where it is not tried. */
export function testTitle({ name, title }: { name: LawName; title: string }, suite: LawSuite): string {
    const skipped = suite.notTried(name);
    const why =
        skipped === undefined ? "" : ` (${skipped.status === "waived" ? "waived:" : "needs"} ${skipped.reason})`;
    return `${name} ${title}${why}`;
}

/**
 * Tries all laws, one after the other, and says what became of each; for use without a test runner. Throws a TypeError for
 * options that are missing or wrong.
 */
export async function checkLaws(
    provider: ProviderSource,
    options: LawOptions,
    { only = LAW_NAMES }: { only?: readonly LawName[] } = {},
): Promise<LawVerdict[]> {
    const suite = new LawSuite(provider, options);
    const verdicts: LawVerdict[] = [];
    for (const name of only) {
        verdicts.push(await suite.verdict(name));
    }
    return verdicts;
}
