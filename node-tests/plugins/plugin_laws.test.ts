// Plugins under the laws of providers: each law catches the bug that it is about, and is silent on a good plugin.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { checkLaws, expect, type LawName, type LawOptions, type LawVerdict, Plugin, test } from "maloko/vitest";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { LawBreaker, PYTHON, THING } from "../support/law_breaking_world";
import { atNight, byDay } from "../support/night";
import { type Interrupted, Project } from "../support/project";

const nightly = atNight(test);

const INPUTS = [
    { size: 1, text: "alpha-omega" },
    { size: 1, text: "beta-gamma" },
    { size: 2, text: "beta-gamma" },
];
const BREAKS = ["L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10", "L11", "L12", "L14", "L17"] as const;

const breaker = new LawBreaker();
const { executable, folder, objects, plugin, world } = breaker;

beforeAll(() => breaker.begin());
afterEach(() => breaker.mend());
afterAll(() => breaker.end());

const OPTIONS: LawOptions = { inputs: INPUTS, secret: ["text"], volatile: ["mark"], grace: 4000, world };

async function verdicts(only: readonly LawName[], options: Partial<LawOptions> = {}): Promise<LawVerdict[]> {
    return checkLaws(plugin, { ...OPTIONS, ...options }, { only });
}

test("a plugin that is right keeps all laws", { timeout: 120_000 }, async () => {
    const found = await checkLaws(plugin, { ...OPTIONS, volatile: [] });
    const others = found.filter(({ status }) => status !== "holds");
    expect(others.map(({ law }) => law)).toEqual(["L13", "L16"]);
    expect(others[0]?.text).toContain("L13 needs an operation key, which the protocol of plugins does not have");
    expect(breaker.ids()).toEqual([]);
});

// By day every third: the procedures are the same in both languages, and the corpus has all of them.
for (const law of byDay(BREAKS, (_law, place) => place % 3 === 0)) {
    test(`${law}: a law catches the bug of a plugin and no other law does`, { timeout: 120_000 }, async () => {
        breaker.breaks(law);
        // Each create waits for its cancellation there.
        const tried = law === "L14" ? (["L2", "L14"] as const) : BREAKS.filter((name) => name !== "L14");
        const found = await verdicts(tried, { examples: 1, grace: 1000 });
        const broken = found.filter(({ status }) => status === "broken");
        expect(broken.map((it) => it.text)).toEqual([expect.stringContaining(`${law} `)]);
        for (const word of [`broken by ${THING}`, "property: ", "expected: ", "found: "]) {
            expect(broken[0]?.text).toContain(word);
        }
    });
}

test("laws without a world say what they need", { timeout: 60_000 }, async () => {
    const { world: _, ...rest } = OPTIONS;
    const [second, replaced, planned] = await checkLaws(plugin, rest, { only: ["L2", "L7", "L10"] });
    expect(second?.status).toBe("holds");
    expect(replaced?.text).toBe("L7 needs `world`, to see what is left of a replacement");
    expect(planned?.text).toContain("L10 needs `world`, to see what planning has changed");
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
        await expect(refused).rejects.toThrow("it refuses its configuration: region: there is no such region");
    } finally {
        await configured.close();
    }
});

nightly("inputs that a plugin refuses are told", { timeout: 60_000 }, async () => {
    const [verdict] = await verdicts(["L2"], { inputs: [{ size: -1 }] });
    expect(verdict?.status).toBe("broken");
    expect(verdict?.text).toContain("refuses all 1 example inputs");
    expect(verdict?.text).toContain("must not be negative");
});

test("a plugin that is not there is named", async () => {
    const missing: [Plugin, string][] = [
        [new Plugin("nowhere:index:Thing"), "nowhere"],
        [new Plugin(THING, { path: join(folder, "missing") }), "there is no plugin"],
        [new Plugin("Thing"), "is no type of a package"],
    ];
    for (const [it, told] of missing) {
        await expect(checkLaws(it, OPTIONS, { only: ["L2"] })).rejects.toThrow(told);
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

// On the command line.

function judged(inputs: string, ...more: string[]) {
    const project = new Project({ "inputs.yaml": inputs });
    const variables = { PROBE_WORLD: objects };
    return project.runWith(variables, "provider", "test", executable, THING, "--inputs", "inputs.yaml", ...more);
}

const GOOD = JSON.stringify({ inputs: INPUTS, secret: ["text"], waive: { L16: "there was no release" } });

nightly("the command line judges a plugin", { timeout: 60_000 }, async () => {
    const { status, stdout } = judged(GOOD);
    expect(status).toBe(0);
    expect(stdout).toContain("L2 holds: 3 examples");
    expect(stdout).toContain("L7 needs `world`");
    expect(stdout).toContain("L16 is waived: there was no release");
    expect(stdout.endsWith("17 laws: 12 held, 0 broken, 5 not tried\n")).toBe(true);
});

nightly("the command line tells the law that a plugin breaks", { timeout: 60_000 }, async () => {
    breaker.breaks("L3");
    const { status, stdout } = judged(GOOD, "--law", "L2", "--law", "L3");
    expect(status).toBe(1);
    expect(stdout).toContain(`L3 read equals the outs: broken by ${THING}\n  property: url`);
    expect(stdout.endsWith("2 laws: 1 held, 1 broken, 0 not tried\n")).toBe(true);
    const told = JSON.parse(judged(GOOD, "--law", "L3", "--json").stdout);
    expect([told.broken, told.laws[0].law, told.laws[0].outcome]).toEqual([1, "L3", "broken"]);
});

/** What the plugin talks to, for a shell in the folder of the inputs. */
const WORLD = {
    objects: "ls world | sed -n 's/\\.json$//p'",
    mutate_remote: `sed -i 's/"text": *"[^"]*"/"text": "drifted"/' "world/$1.json"`,
    delete_remote: 'rm "world/$1.json"',
    reset: "rm -f world/*.json",
};
/** Prints the objects with all that is in them. */
const LIST = `
import json, pathlib

found = pathlib.Path("world").glob("*.json")
print(json.dumps({it.stem: json.loads(it.read_text()) for it in found}))
`;

function judgedByWorld(commands: Partial<typeof WORLD>, ...more: string[]) {
    const inputs = JSON.stringify({ ...JSON.parse(GOOD), world: { ...WORLD, ...commands } });
    const project = new Project({ "inputs.yaml": inputs, "list.py": LIST });
    symlinkSync(objects, join(project.directory, "world"));
    const variables = { PROBE_WORLD: objects };
    return project.runWith(variables, "provider", "test", executable, THING, "--inputs", "inputs.yaml", ...more);
}

nightly("the command line judges a plugin by its world", { timeout: 240_000 }, async () => {
    const { status, stdout } = judgedByWorld({});
    for (const law of ["L7", "L10", "L11"]) {
        expect(stdout).toContain(`${law} holds: `);
    }
    expect(stdout.endsWith("17 laws: 15 held, 0 broken, 2 not tried\n")).toBe(true);
    expect(status).toBe(0);
    expect(breaker.ids()).toEqual([]);
});

for (const law of byDay(["L7", "L10", "L11"], (law) => law === "L7")) {
    test(`${law}: the command line catches what only a world shows`, { timeout: 60_000 }, async () => {
        breaker.breaks(law);
        const { status, stdout } = judgedByWorld({ objects: `'${PYTHON}' list.py` }, "--law", law);
        expect(stdout).toContain(`broken by ${THING}`);
        expect(stdout.endsWith("1 law: 0 held, 1 broken, 0 not tried\n")).toBe(true);
        expect(status).toBe(1);
    });
}

nightly("a command of the world that fails is told", { timeout: 240_000 }, async () => {
    const table: [commands: Partial<typeof WORLD>, told: string][] = [
        [{ objects: "echo no such service >&2; exit 3" }, "failed (exit status: 3): no such service"],
        [{ objects: "echo '[{}]'" }, "printed a list of something else than ids"],
        [{ reset: "false" }, "the command `reset` of the world failed"],
        [{ mutate_remote: "false" }, "the command `mutate_remote` of the world failed"],
        [{ objects: " " }, "`world` has no `objects`"],
    ];
    for (const [commands, told] of table) {
        const { status, stderr } = judgedByWorld(commands, "--law", "L11");
        expect(stderr).toContain(told);
        expect(status).toBe(2);
        expect(breaker.ids()).toEqual([]);
    }
});

test("Ctrl-C stops the judge which deletes what it has made", { timeout: 60_000 }, async () => {
    const sleeps = { size: 1, sleep: 60, sleepIn: "update" };
    const inputs = JSON.stringify([sleeps, { ...sleeps, text: "alpha" }]);
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

nightly("bad input of the command line is told", { timeout: 60_000 }, async () => {
    const table: [inputs: string, more: string[], code: number, told: string][] = [
        ["[", [], 2, "inputs.yaml"],
        ["7", [], 2, "it has neither a list of inputs nor an object with the member `inputs`"],
        ["[]", [], 2, "there are no `inputs`"],
        ["{inputs: [{size: 1}], volatil: [url]}", [], 2, "unknown field `volatil`"],
        ["{inputs: [{size: 1}], waive: {L99: why}}", [], 2, "`waive` names L99, which is no law"],
        ["[{size: 1}]", ["--law", "L99"], 2, "there is no law L99"],
        ["[{size: 1}]", ["--config", "region"], 2, "write it as KEY=VALUE"],
        ["[{size: 1}]", ["--config", "region=nowhere"], 1, "there is no such region"],
    ];
    for (const [inputs, more, code, told] of table) {
        const { status, stderr } = judged(inputs, ...more);
        expect(stderr).toContain(told);
        expect(status).toBe(code);
    }
});

nightly("the command line names a plugin that is not there", { timeout: 60_000 }, async () => {
    const project = new Project({ "inputs.yaml": "[{size: 1}]" });
    const table: [plugin: string, kind: string, code: number, told: string][] = [
        ["nowhere", "nowhere:index:Thing", 1, "nowhere"],
        ["./missing", THING, 2, "there is no plugin"],
        ["./inputs.yaml", THING, 2, "is not called pulumi-resource-probe"],
        ["other", THING, 2, "is of the package 'probe', and not of 'other'"],
        ["probe", "Thing", 2, "is no type of a package"],
    ];
    for (const [given, kind, code, told] of table) {
        const { status, stderr } = project.run("provider", "test", given, kind, "--inputs", "inputs.yaml");
        expect(stderr).toContain(told);
        expect(status).toBe(code);
    }
});
