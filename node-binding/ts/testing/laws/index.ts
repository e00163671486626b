// Provider laws: what every provider has to keep, tried with an author's own inputs.
import { show } from "../values";
import { baselineOf } from "./baseline";
import { LawBroken, type Outcome, Refused, verdictText } from "./broken";
import { LAW_NAMES, type Law, type LawContext, type LawName, type Need } from "./law";
import { objectLaws } from "./objects";
import {
    type BaselineRow,
    checkOptions,
    isArbitrary,
    Place,
    type ProviderSource,
    providerOf,
    removerOf,
    type SubjectOptions,
    sampleWorld,
    titleOf,
} from "./options";
import { planningLaws } from "./planning";
import { runLaws } from "./runs";
import { asBroken, type Counterexample, forAll, replayLine, type Tried } from "./samples";

export { LawBroken } from "./broken";
export { LAW_NAMES, type LawName } from "./law";
export type { ArbitraryLike, BaselineRow, ProviderSource, Samples, SubjectOptions, WorldSource } from "./options";
export { titleOf };

/** What an author says of a provider. */
export interface LawOptions extends SubjectOptions {
    /** Properties that are secret (`password`, or a path: `auth.token`); an empty list says that there are none. */
    secret?: readonly string[];
    /** Laws that this provider need not keep, each with the reason, which is printed. */
    waive?: Partial<Record<LawName, string>>;
    /** What a former release left in a state: rows, an exported stack, or the file of either. */
    baseline?: string | readonly BaselineRow[] | object;
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

const EXAMPLES = 25;
const SLOW_EXAMPLES = 5;
const GRACE = 1000;

/** What a law lacks, and what for. */
function lacking(need: Need, why: string, hasWorld: boolean): string {
    switch (need) {
        case "check":
        case "read":
            return `\`${need}\`, which the provider does not have: ${why}`;
        case "mutateRemote":
        case "deleteRemote":
            return hasWorld ? `\`${need}(id)\` of the world, ${why}` : `\`world\`, ${why}`;
        case "secret":
        case "baseline":
            return `\`${need}\`: ${why}`;
        case "world":
            return `\`world\`, ${why}`;
        case "two":
            return why;
    }
}

const byName = new Map([...planningLaws, ...objectLaws, ...runLaws].map((law) => [law.name, law]));

/** The laws, in their order. */
export const LAWS: readonly { name: LawName; title: string }[] = LAW_NAMES.map((name) => lawOf(name));

function lawOf(name: LawName): Law {
    const law = byName.get(name);
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
        const law = lawOf(name);
        const { inputs } = this.options;
        const compares =
            law.count === 2 && !isArbitrary(inputs) && !(name === "L12" && this.options.secret?.length === 0);
        const needs = [...law.needs, ...(compares ? ([["two", "two `inputs` that differ"]] as const) : [])];
        const missing = needs.find(([need]) => !this.#has(need));
        return missing && { status: "needs", reason: lacking(...missing, this.options.world !== undefined) };
    }

    /** Does it hold? `command` runs its test alone. */
    async verdict(name: LawName, command = ""): Promise<LawVerdict> {
        const law = lawOf(name);
        const { title } = law;
        const skipped = this.notTried(name);
        if (skipped !== undefined) {
            const { status, reason } = skipped;
            const outcome = { outcome: status, reason, what: reason };
            return { law: name, title, status, reason, text: this.#text(law, outcome) };
        }
        const { inputs: samples, world, config, volatile = [], secret = [], seed, baseline, examples } = this.options;
        const place = new Place(world);
        const laboratory = { provider: this.provider, place, config, volatile, secret };
        const context: LawContext = {
            baseline: baseline === undefined ? [] : baselineOf(baseline),
            grace: this.options.grace ?? GRACE,
        };
        try {
            const sampling = { samples, seed, runs: examples ?? (law.slow === true ? SLOW_EXAMPLES : EXAMPLES) };
            const found =
                law.count === 0
                    ? await once(() => law.holds(laboratory, [], context))
                    : await forAll({ ...sampling, whole: law.whole }, law.count, (...inputs) =>
                          law.holds(laboratory, inputs, context),
                      );
            if ("tried" in found) {
                return {
                    law: name,
                    title,
                    status: "holds",
                    text: this.#text(law, { outcome: "holds", examples: found.tried }),
                };
            }
            if ("untried" in found) {
                return this.#untried(law, found.untried);
            }
            const again = found.replay === undefined ? command : replayLine(command, found.replay);
            const named = titleOf(this.provider);
            const error = asBroken(found.thrown).complete(name, title, named, found.inputs, again.trim());
            return { law: name, title, status: "broken", text: error.message, error };
        } finally {
            await place.end();
        }
    }

    #text({ name, title }: Law, outcome: Outcome): string {
        return verdictText(name, title, titleOf(this.provider), outcome);
    }

    // None of the examples said anything.
    #untried(law: Law, reasons: readonly Error[]): LawVerdict {
        const { name, title } = law;
        const examples = reasons.length;
        const [first] = reasons;
        if (first !== undefined && reasons.every((it) => it instanceof Refused)) {
            const outcome = { outcome: "refused", examples, error: first.message };
            const error = LawBroken.untried(name, this.#text(law, outcome), first);
            return { law: name, title, status: "broken", text: error.message, error };
        }
        const what = reasons.find((it) => !(it instanceof Refused))?.message ?? "inputs to try";
        return {
            law: name,
            title,
            status: "needs",
            reason: what,
            text: this.#text(law, { outcome: "untried", what, examples }),
        };
    }

    #has(need: Need): boolean {
        const { world, secret, baseline, inputs } = this.options;
        switch (need) {
            case "world":
                return world !== undefined;
            case "secret":
                return secret !== undefined;
            case "baseline":
                return baseline !== undefined;
            case "two":
                return isArbitrary(inputs) || new Set(inputs.map((it) => JSON.stringify(it))).size > 1;
            case "check":
            case "read":
                return typeof (this.#sample().provider as Record<string, unknown>)[need] === "function";
            case "deleteRemote":
                return removerOf(this.#sample().world) !== undefined;
            case "mutateRemote":
                return typeof this.#sample().world?.mutateRemote === "function";
        }
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

async function once(action: () => Promise<void>): Promise<Counterexample | Tried> {
    try {
        await action();
        return { tried: 1 };
    } catch (thrown) {
        return { thrown, inputs: [] };
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
