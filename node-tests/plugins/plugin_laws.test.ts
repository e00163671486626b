// Plugins under the laws of providers: each law catches the bug that it is about, and is silent on a good plugin.
import {
    chmodSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    unlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import {
    checkLaws,
    checkLifecycle,
    expect,
    type LawName,
    type LawOptions,
    type LawVerdict,
    Plugin,
    test,
} from "maloko/vitest";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { type Interrupted, Project } from "../support/project";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const BREAKER = join(ROOT, "python-tests", "plugins", "law_breaking_plugin.py");
const PYTHON = join(ROOT, ".venv", "bin", "python");
const THING = "probe:index:Thing";
const INPUTS = [
    { size: 1, text: "alpha-omega" },
    { size: 1, text: "beta-gamma" },
    { size: 2, text: "beta-gamma" },
];
const BREAKS = ["L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10", "L11", "L12", "L14", "L17"] as const;

const folder = mkdtempSync(join(tmpdir(), "maloko-plugin-laws-"));
const objects = join(folder, "world");
const executable = join(folder, "pulumi-resource-probe");
const plugin = new Plugin(THING, { path: executable });

/** What the plugin talks to: a folder with a file for each object. */
const world = {
    objects: () => Object.fromEntries(ids().map((id) => [id, JSON.parse(readFileSync(fileOf(id), "utf8"))])),
    reset: () => ids().forEach((id) => void unlinkSync(fileOf(id))),
    mutateRemote(id: string) {
        writeFileSync(fileOf(id), JSON.stringify({ ...this.objects()[id], text: "drifted" }));
    },
    deleteRemote: (id: string) => unlinkSync(fileOf(id)),
};

function ids(): string[] {
    return readdirSync(objects).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : []));
}

function fileOf(id: string): string {
    return join(objects, `${id}.json`);
}

function breaks(law: string): void {
    writeFileSync(join(objects, ".breaks"), law);
}

beforeAll(() => {
    mkdirSync(objects);
    writeFileSync(executable, `#!/bin/sh\nexec "${PYTHON}" "${BREAKER}" "$@"\n`);
    chmodSync(executable, 0o755);
    process.env.PROBE_WORLD = objects;
});

afterEach(() => {
    if (existsSync(join(objects, ".breaks"))) {
        unlinkSync(join(objects, ".breaks"));
    }
    world.reset();
});

afterAll(async () => {
    await plugin.close();
    delete process.env.PROBE_WORLD;
    rmSync(folder, { recursive: true });
});

const OPTIONS: LawOptions = { inputs: INPUTS, secret: ["text"], volatile: ["mark"], grace: 4000, world };

async function verdicts(only: readonly LawName[], options: Partial<LawOptions> = {}): Promise<LawVerdict[]> {
    return checkLaws(plugin, { ...OPTIONS, ...options }, { only });
}

test("a plugin that is right keeps all laws", { timeout: 120_000 }, async () => {
    const found = await checkLaws(plugin, { ...OPTIONS, volatile: [] });
    const others = found.filter(({ status }) => status !== "holds");
    expect(others.map(({ law }) => law)).toEqual(["L13", "L16"]);
    expect(others[0]?.text).toContain("L13 needs an operation key, which the protocol of plugins does not have");
    expect(ids()).toEqual([]);
});

for (const law of BREAKS) {
    test(`${law}: a law catches the bug of a plugin and no other law does`, { timeout: 120_000 }, async () => {
        breaks(law);
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
    breaks("L3");
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

test("inputs that a plugin refuses are told", { timeout: 60_000 }, async () => {
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

test("lifecycles try no plugins", async () => {
    await expect(checkLifecycle(plugin, { inputs: INPUTS })).rejects.toThrow("lifecycles try provider objects only");
});

// On the command line.

function judged(inputs: string, ...more: string[]) {
    const project = new Project({ "inputs.yaml": inputs });
    const variables = { PROBE_WORLD: objects };
    return project.runWith(variables, "provider", "test", executable, THING, "--inputs", "inputs.yaml", ...more);
}

const GOOD = JSON.stringify({ inputs: INPUTS, secret: ["text"], waive: { L16: "there was no release" } });

test("the command line judges a plugin", { timeout: 60_000 }, async () => {
    const { status, stdout } = judged(GOOD);
    expect(status).toBe(0);
    expect(stdout).toContain("L2 holds: 3 examples");
    expect(stdout).toContain("L7 needs `world`");
    expect(stdout).toContain("L16 is waived: there was no release");
    expect(stdout.endsWith("17 laws: 12 held, 0 broken, 5 not tried\n")).toBe(true);
});

test("the command line tells the law that a plugin breaks", { timeout: 60_000 }, async () => {
    breaks("L3");
    const { status, stdout } = judged(GOOD, "--law", "L2", "--law", "L3");
    expect(status).toBe(1);
    expect(stdout).toContain(`L3 read equals the outs: broken by ${THING}\n  property: url`);
    expect(stdout.endsWith("2 laws: 1 held, 1 broken, 0 not tried\n")).toBe(true);
    const told = JSON.parse(judged(GOOD, "--law", "L3", "--json").stdout);
    expect([told.broken, told.laws[0].law, told.laws[0].outcome]).toEqual([1, "L3", "broken"]);
});

test("Ctrl-C stops the judge which deletes what it has made", { timeout: 60_000 }, async () => {
    const sleeps = { size: 1, sleep: 60, sleepIn: "update" };
    const inputs = JSON.stringify([sleeps, { ...sleeps, text: "alpha" }]);
    const project = new Project({ "inputs.yaml": inputs, started: "" });
    const args = ["provider", "test", executable, THING, "--inputs", "inputs.yaml", "--law", "L2", "--law", "L5"];
    const stop = async (command: Interrupted) => {
        await command.said("L2 holds");
        await vi.waitUntil(() => ids().length > 0, { timeout: 20_000 });
        command.signal();
    };
    const { status, output } = await project.interrupted(args, stop, { PROBE_WORLD: objects });
    expect(status).toBe(8);
    expect(output).toContain("error: stopped: what the present law had made was deleted");
    expect(ids()).toEqual([]);
});

test("bad input of the command line is told", { timeout: 60_000 }, async () => {
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

test("the command line names a plugin that is not there", { timeout: 60_000 }, async () => {
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
