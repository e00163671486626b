// The corpus of providers (`engine-kit/corpus`): the laws judge each as it says, in both languages.
import { checkLaws, expect, LAW_NAMES, type LawName, type LawVerdict, test } from "maloko/vitest";
import { byDay, NIGHT } from "../support/night";
import { CASES, type Case, INPUTS, PREVIOUS, providerOf, Shop, waiting } from "./corpus";

/** What the laws say of a case's provider. L14 waits on the machine's clock: only cases that name it try it. */
async function judged(rules: Case): Promise<LawVerdict[]> {
    const { inputs = INPUTS, laws = LAW_NAMES.filter((law) => law !== "L14"), settings = {} } = rules;
    const { secret = [], volatile = [], waive = {}, world } = settings;
    const provider = providerOf(rules);
    const source = world === false ? () => new provider(new Shop()) : provider;
    // What ends has time for it on a machine that is busy; what does not end is not waited for.
    const grace = rules.law === "L14" ? 200 : 30_000;
    const options = { inputs, secret, volatile, waive, baseline: PREVIOUS, grace, examples: NIGHT ? 2 : 1 };
    try {
        return await checkLaws(source, world === false ? options : { ...options, world: Shop }, { only: laws });
    } finally {
        for (const letGo of waiting.splice(0)) {
            letGo();
        }
    }
}

/** What is said, without the line that says how it is run again: each language has its own. */
function lines(text: string): string[] {
    return text.split("\n").filter((line) => !line.trim().startsWith("again: "));
}

// The first that breaks every third law: the procedures are in Rust, and Python has more of them. In `make nightly` all.
const SAMPLE = LAW_NAMES.filter((_law, place) => place % 3 === 0);
const TRIED = byDay(
    CASES,
    ({ law }, place) =>
        law !== undefined && SAMPLE.includes(law) && CASES.findIndex((other) => other.law === law) === place,
);

test.each(TRIED)("the laws judge each provider of the corpus as it says: $name", async (rules) => {
    const verdicts = await judged(rules);
    expect(verdicts.filter(({ status }) => status === "broken").map(({ law }) => law)).toEqual(rules.breaks);
    if (rules.law !== undefined) {
        expect(lines(verdicts.find(({ law }) => law === rules.law)?.text ?? "")).toEqual(rules.says);
    }
    if (rules.skips !== undefined) {
        const skipped = verdicts.filter(({ status }) => status === "needs" || status === "waived");
        expect(Object.fromEntries(skipped.map(({ law, text }) => [law, text]))).toEqual(rules.skips);
    }
});

test("the corpus has forty faulty providers and ten good ones", () => {
    const faulty = CASES.filter(({ law }) => law !== undefined);
    expect(faulty.length).toBeGreaterThanOrEqual(40);
    expect(CASES.length - faulty.length).toBeGreaterThanOrEqual(10);
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
    expect(new Set(faulty.map(({ law }): LawName | undefined => law))).toEqual(new Set(LAW_NAMES));
});
