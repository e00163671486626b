// Plugins that are cut off in a call, that look whether the engine is gone, or whose answers nobody can read. Nothing that
// they made is lost.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Project, succeeded } from "../support/project";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PLUGINS = join(ROOT, "conformance", "plugins", "plugins");
const PYTHON = join(ROOT, ".venv", "bin", "python");

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");

class Thing extends pulumi.CustomResource {
    constructor(name, props) { super("probe:index:Thing", name, { url: undefined, ...props }); }
}
new Thing("thing", { text: "a", ...JSON.parse(process.env.INPUTS ?? "{}") });
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const REFRESH = ["refresh", "--yes", "--skip-preview", "--stack", "dev"];
const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
const CHANGED = JSON.stringify({ text: "b" });
// The command in which a method is called first, by what has to be there before.
const NEW = ["Handshake", "GetPluginInfo", "CheckConfig", "Configure", "Check", "Create"];
const CALLS: Record<string, string[]> = {
    ...Object.fromEntries([...NEW, "DiffConfig", "Diff", "Update"].map((method) => [method, UP])),
    Read: REFRESH,
    Delete: DESTROY,
    Cancel: DESTROY,
};
const POINTS = ["request", "answer", "end"];
const TOO_DEEP =
    "the answer to Create cannot be read: property 'deep' is nested too deeply: values may hold 100 levels of objects and " +
    "lists; have the provider return it flatter";

/** Every other method at one point, by turns; Python has the others. Without a turn each method at each point. */
function sample(): [string, string][] {
    const methods = Object.keys(CALLS);
    const turn = Number(process.env.MALOKO_TURN ?? 0);
    if (turn > 0) {
        const at = (place: number) => POINTS[((place + turn) >> 1) % POINTS.length] ?? "end";
        return methods.flatMap((method, place) => ((place + turn) % 2 === 1 ? [[method, at(place)]] : []));
    }
    return methods.flatMap((method) => POINTS.map((point): [string, string] => [method, point]));
}

type Stored = { type: string; id: string; outputs: Record<string, unknown> };

/** A project with one resource of a plugin behind a proxy that cuts it off, and the resource's outside world. */
class Cut {
    readonly project = new Project({ "index.js": PROGRAM });
    readonly plugin = join(this.project.directory, "bin", "pulumi-resource-probe");
    readonly #world = join(this.project.directory, "world");
    readonly #variables: NodeJS.ProcessEnv;

    constructor() {
        mkdirSync(this.#world);
        const command = [PYTHON, join(PLUGINS, "cut.py"), PYTHON, join(PLUGINS, "probe.py")];
        const script = `#!/bin/sh\nexec ${command.map((word) => `"${word}"`).join(" ")} "$@"\n`;
        this.project.write({ "bin/pulumi-resource-probe": script });
        chmodSync(this.plugin, 0o755);
        this.#variables = { PATH: `${dirname(this.plugin)}:${process.env.PATH}`, PROBE_WORLD: this.#world };
    }

    any(command: string[], variables: NodeJS.ProcessEnv = {}): void {
        this.project.runWith({ ...this.#variables, ...variables }, ...command);
    }

    ok(command: string[], variables: NodeJS.ProcessEnv = {}): string {
        return succeeded(command.join(" "), this.project.runWith({ ...this.#variables, ...variables }, ...command));
    }

    failing(command: string[], variables: NodeJS.ProcessEnv = {}): string {
        const { status, output } = this.project.runWith({ ...this.#variables, ...variables }, ...command);
        expect(status, output).not.toBe(0);
        return output;
    }

    /** The texts of the objects outside, by id. */
    objects(): Record<string, string> {
        const read = (name: string) => JSON.parse(readFileSync(join(this.#world, name), "utf8")) as { text: string };
        return Object.fromEntries(
            readdirSync(this.#world).map((name) => [name.replace(/\.json$/, ""), read(name).text]),
        );
    }

    /** The state as `stack export` shows it. */
    exported(): { deployment: { resources?: Stored[]; pending_operations?: unknown[] } } {
        return JSON.parse(this.ok(["stack", "export", "--stack", "dev"]));
    }

    /** The ids in the state, and whether it says that there may be more. */
    known(): { ids: string[]; open: boolean } {
        const { resources, pending_operations } = this.exported().deployment;
        const things = (resources ?? []).filter(({ type }) => type === "probe:index:Thing");
        const listed = this.ok(["stack", "--stack", "dev"]);
        const open = listed.includes("unresolved create") || (pending_operations ?? []).length > 0;
        return { ids: things.map(({ id }) => id), open };
    }
}

test.each(sample())("a plugin that is cut off in a call loses nothing: %s %s", (method, point) => {
    const cut = new Cut();
    const isNew = NEW.includes(method);
    if (!isNew) {
        cut.ok(UP);
    }
    const before = Object.keys(cut.objects());
    cut.any(CALLS[method] ?? UP, { CUT: `${method}:${point}`, INPUTS: isNew ? "{}" : CHANGED });
    const { ids, open } = cut.known();
    const after = Object.keys(cut.objects());
    expect(open || after.every((id) => ids.includes(id)), "an object outside is known to nobody").toBe(true);
    if (method === "Delete" && point !== "request") {
        expect(after).toEqual([]);
    } else if (method !== "Create" && method !== "Cancel") {
        expect(after).toEqual(expect.arrayContaining(before));
    }
    cut.ok(UP, { INPUTS: CHANGED });
    expect(cut.objects()).toEqual({ "here-thing": "b" });
    expect(cut.known()).toEqual({ ids: ["here-thing"], open: false });
    cut.ok(DESTROY);
    expect([cut.objects(), cut.known()]).toEqual([{}, { ids: [], open: false }]);
});

test.each([
    ["garbage", "the answer to Create cannot be read"],
    ["deep101", TOO_DEEP],
    ["deep2000", TOO_DEEP],
    ["signature", "property 'odd': an object with the unknown signature 'nobody knows this'"],
])("an answer that cannot be read keeps the object: %s", (how, words) => {
    const cut = new Cut();
    expect(cut.failing(UP, { SPOIL: `Create:${how}` })).toContain(words);
    const { ids, open } = cut.known();
    expect(cut.objects()).toEqual({ "here-thing": "a" });
    expect(open || ids.includes("here-thing")).toBe(true);
    cut.ok(UP);
    cut.ok(DESTROY);
    expect(cut.objects()).toEqual({});
});

test.each([33, 60, 99])("an answer with objects in objects is kept and sent again: %d", (levels) => {
    const cut = new Cut();
    const SPOIL = `Create:deep${levels}`;
    cut.ok(UP, { SPOIL });
    const thing = cut.exported().deployment.resources?.find(({ type }) => type === "probe:index:Thing");
    let [found, value] = [0, thing?.outputs.deep];
    while (typeof value === "object" && value !== null) {
        [found, value] = [found + 1, (value as { deep?: unknown }).deep];
    }
    expect([found, value]).toEqual([levels, "text"]);
    // The plugin refuses a call without them.
    cut.ok(DESTROY, { SPOIL });
    expect(cut.objects()).toEqual({});
});

test("members that nobody knows are passed over", () => {
    const cut = new Cut();
    cut.ok(UP, { SPOIL: "Create:field" });
    expect(cut.known()).toEqual({ ids: ["here-thing"], open: false });
});

test("a plugin that asks whether the engine is there goes on", () => {
    const cut = new Cut();
    cut.ok(UP, { PROBE_FLAGS: "watchEngine", INPUTS: JSON.stringify({ untilAnswers: 3 }) });
    expect(cut.known()).toEqual({ ids: ["here-thing"], open: false });
});

test("a file that is no program is named", () => {
    const cut = new Cut();
    writeFileSync(cut.plugin, "\x7fELF\x02\x01\x01\x00 for another machine");
    const preview = ["preview", "--stack", "dev"];
    const said = cut.failing(preview);
    expect(said).toContain(cut.plugin);
    expect(said).toContain("cannot be started");
    chmodSync(cut.plugin, 0o644);
    expect(cut.failing(preview)).toContain("no resource plugin 'pulumi-resource-probe'");
});

test("a state without its provider is refused before anything is called", () => {
    const cut = new Cut();
    cut.ok(UP);
    const state = cut.exported();
    const { resources = [] } = state.deployment;
    state.deployment.resources = resources.filter(({ type }) => !type.startsWith("pulumi:providers:"));
    cut.project.write({ "state.json": JSON.stringify(state) });
    const said = cut.failing([
        "stack",
        "import",
        "--stack",
        "dev",
        "--file",
        join(cut.project.directory, "state.json"),
    ]);
    expect(said).toContain("pulumi:providers:probe::default");
    expect(cut.objects()).toEqual({ "here-thing": "a" });
    cut.ok(DESTROY);
    expect(cut.objects()).toEqual({});
});
