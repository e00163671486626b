// Plugins under the laws of providers: a law catches the bug that it is about, and is silent on a good plugin.
import fc from "fast-check";
import { checkLaws, expect, type LawName, type LawOptions, type LawVerdict, Plugin, test } from "maloko/vitest";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { LawBreaker, THING } from "../support/law_breaking_world";
import { atNight } from "../support/night";
import { type Interrupted, Project } from "../support/project";

const nightly = atNight(test);

const INPUTS = [
    { size: 1, text: "alpha-omega" },
    { size: 1, text: "beta-gamma" },
    { size: 2, text: "beta-gamma" },
];
// What a plugin answers is judged in Rust, and Python's tests break each law there. Here are one that the answers show, and one that
// Node's world shows.
const BREAKS = ["L3", "L7"] as const;

const breaker = new LawBreaker();
const { executable, folder, objects, plugin, world } = breaker;

beforeAll(() => breaker.begin());
afterEach(() => breaker.mend());
afterAll(() => breaker.end());

const OPTIONS: LawOptions = { inputs: INPUTS, secret: ["text"], volatile: ["mark"], grace: 4000, world };

async function verdicts(only: readonly LawName[], options: Partial<LawOptions> = {}): Promise<LawVerdict[]> {
    return checkLaws(plugin, { ...OPTIONS, ...options }, { only });
}

nightly("a plugin that is right keeps all laws", { timeout: 120_000 }, async () => {
    const found = await checkLaws(plugin, { ...OPTIONS, volatile: [] });
    const others = found.filter(({ status }) => status !== "holds");
    expect(others.map(({ law }) => law)).toEqual(["L13", "L16"]);
    expect(others[0]?.text).toContain("L13 needs an operation key, which the protocol of plugins does not have");
    expect(breaker.ids()).toEqual([]);
});

for (const law of BREAKS) {
    test(`${law}: a law catches the bug of a plugin and no other law does`, { timeout: 120_000 }, async () => {
        breaker.breaks(law);
        const found = await verdicts(BREAKS, { examples: 1, grace: 1000 });
        const broken = found.filter(({ status }) => status === "broken");
        expect(broken.map((it) => it.text)).toEqual([expect.stringContaining(`${law} `)]);
        for (const word of [`broken by ${THING}`, "property: ", "expected: ", "found: "]) {
            expect(broken[0]?.text).toContain(word);
        }
    });
}

test("a package that a plugin makes of parameters is judged", { timeout: 120_000 }, async () => {
    const made = new Plugin("garden:index:Thing", { path: executable, parameters: ["garden", "of roses"] });
    const tried = async (only: LawName[]) => {
        const found = await checkLaws(made, { ...OPTIONS, examples: 1 }, { only });
        return found.map(({ status }) => status);
    };
    try {
        expect(await tried(["L2", "L3"])).toEqual(["holds", "holds"]);
        breaker.breaks("L3");
        expect(await tried(["L3"])).toEqual(["broken"]);
    } finally {
        await made.close();
    }
    const other = new Plugin("meadow:index:Thing", { path: executable, parameters: ["garden"] });
    const told = "the plugin 'probe' made no package 'meadow' of garden: it made 'garden'";
    await expect(checkLaws(other, OPTIONS, { only: ["L2"] })).rejects.toThrow(told);
    const unsaid = new Plugin("garden:index:Thing", { parameters: ["roses"] });
    const unnamed = "which plugin makes the package 'garden' of roses is not said";
    await expect(checkLaws(unsaid, OPTIONS, { only: ["L2"] })).rejects.toThrow(unnamed);
});

test("parameters that are no list of texts are refused", () => {
    const refused = (parameters: unknown) => () =>
        new Plugin("random:index/pet:Pet", { parameters: parameters as string[] });
    const told = "and no list; give parameters: [ 'hashicorp/random', '3.6.0' ]";
    expect(refused("hashicorp/random 3.6.0")).toThrow(told);
    expect(refused(["hashicorp/random", 3.6])).toThrow("and no list of texts; write each between quotes");
});

test("inputs of a plugin may be drawn", { timeout: 120_000 }, async () => {
    breaker.breaks("L3");
    const inputs = fc.record({ size: fc.nat(99), text: fc.stringMatching(/^[abc]{1,5}$/) });
    const [verdict] = await verdicts(["L3"], { inputs, examples: 5, seed: 1 });
    expect(verdict?.status).toBe("broken");
    expect(verdict?.text).toContain('"size": 0');
    expect(verdict?.text).toContain("again: MALOKO_REPLAY=1,");
});

test("a plugin is configured as the author says", { timeout: 60_000 }, async () => {
    const configured = new Plugin(THING, { path: folder, secrets: { key: "open-sesame" } });
    try {
        const only = ["L2"] as const;
        const [verdict] = await checkLaws(configured, { ...OPTIONS, config: { region: "there" } }, { only });
        expect(verdict?.status).toBe("holds");
        const refused = checkLaws(configured, { ...OPTIONS, config: { region: "nowhere" } }, { only });
        await expect(refused).rejects.toThrow(
            "the plugin of the package 'probe' refuses its configuration: region: there is no such region",
        );
    } finally {
        await configured.close();
    }
});

test("a report has the inputs that were tried without secrets", { timeout: 60_000 }, async () => {
    breaker.breaks("L5");
    const pair = [
        { size: 1, text: "alpha-omega" },
        { size: 2, text: "beta-gamma" },
    ];
    const [verdict] = await verdicts(["L5"], { inputs: pair });
    expect(verdict?.text).toContain(
        '  first:    {"size": 1, "text": "[secret 1]"}\n  then:     {"size": 1, "text": "[secret 2]"}\n',
    );
    expect(verdict?.error?.inputs).toEqual([
        { size: 1, text: "[secret 1]" },
        { size: 1, text: "[secret 2]" },
    ]);
});

test("Ctrl-C stops the judge which deletes what it has made", { timeout: 60_000 }, async () => {
    const sleeps = { size: 1, sleep: 60, sleepIn: "update" };
    const waive = { schema: "how long a call sleeps is said to this plugin alone" };
    const inputs = JSON.stringify({ inputs: [sleeps, { ...sleeps, text: "alpha" }], waive });
    const project = new Project({ "inputs.yaml": inputs, started: "" });
    const args = ["provider", "test", executable, THING, "--inputs", "inputs.yaml", "--law", "L2", "--law", "L5"];
    const stop = async (command: Interrupted) => {
        await command.said("L2 holds");
        await vi.waitUntil(() => breaker.ids().length > 0, { timeout: 20_000 });
        command.signal();
    };
    const { status, output } = await project.interrupted(args, stop, { PROBE_WORLD: objects });
    expect(status).toBe(8);
    expect(output).toContain("error: stopped: what the present law had made was deleted");
    expect(breaker.ids()).toEqual([]);
});
