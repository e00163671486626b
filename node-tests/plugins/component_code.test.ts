// Dynamic resources that a plugin in Node makes: their code runs in the environment of the plugin. Python's tests have the plugin in
// Python, and both of them at night.
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { Project, succeeded } from "../support/project";

const nightly = atNight(test);

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PLUGINS = join(ROOT, "conformance", "plugins", "plugins");

// `INPUTS` are the component's inputs, as JSON; `live` adds a dynamic resource of the program.
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");

class Lives {
    async create(props) { return { id: "live-1", outs: { of: props.of } }; }
}
class Live extends pulumi.dynamic.Resource {
    constructor(name, props, opts) { super(new Lives(), name, props, opts); }
}
class Remote extends pulumi.ComponentResource {
    constructor(name, props) { super("drawer:index:Drawer", name, { url: undefined, ...props }, undefined, true); }
}

const { live, ...inputs } = JSON.parse(process.env.INPUTS);
const desk = new Remote("desk", inputs);
exports.url = desk.url;
if (live) {
    new Live("live", { of: desk.url }, { parent: desk });
}
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const REFRESH = ["refresh", "--yes", "--skip-preview", "--stack", "dev"];
const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
const PREVIEW = ["preview", "--stack", "dev"];
const PROJECT = `
name: test
runtime: nodejs
plugins:
  providers:
    - name: drawer
      path: ./drawer
`;

type StoredResource = {
    urn: string;
    provider: string;
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown>;
};

/** A project with a component whose plugin makes a dynamic resource, and the outside world of that. */
class Desks {
    readonly #project = new Project({ "Pulumi.yaml": PROJECT, "index.js": PROGRAM });
    readonly directory = this.#project.directory;
    readonly world = join(this.directory, "world");

    constructor() {
        const drawer = join(this.directory, "drawer");
        cpSync(join(PLUGINS, "drawer"), drawer, { recursive: true });
        const modules = join("drawer", "node_modules", "note-files");
        this.#project.write({
            "drawer/PulumiPlugin.yaml": JSON.stringify({ runtime: { name: "nodejs", options: { typescript: false } } }),
            // A package that the folder of the program does not have; the SDK is above both.
            [join(modules, "package.json")]: '{"name": "note-files", "version": "1.0.0"}',
        });
        renameSync(join(drawer, "files.js"), join(this.directory, modules, "index.js"));
        mkdirSync(this.world);
        this.ok(["config", "set", "greeting", "hello ", "--stack", "dev"]);
    }

    /** Runs a command that must succeed; what it said. */
    ok(command: string[], inputs: object = { text: "one" }): string {
        const variables = { NOTES_WORLD: this.world, INPUTS: JSON.stringify(inputs) };
        return succeeded(command.join(" "), this.#project.runWith(variables, ...command));
    }

    withoutProgram(): void {
        this.#project.write({ "index.js": "throw new Error('the program is not to be run');" });
    }

    notes(): Record<string, { text: string; made_by: string }> {
        const names = readdirSync(this.world).sort();
        const read = (name: string) => JSON.parse(readFileSync(join(this.world, name), "utf8"));
        return Object.fromEntries(names.map((name) => [name.replace(/\.json$/, ""), read(name)]));
    }

    texts(): Record<string, string> {
        return Object.fromEntries(Object.entries(this.notes()).map(([name, { text }]) => [name, text]));
    }

    resources(...options: string[]): Record<string, StoredResource> {
        const exported = JSON.parse(this.ok(["stack", "export", ...options, "--stack", "dev"]));
        const resources: StoredResource[] = exported.deployment.resources ?? [];
        return Object.fromEntries(resources.map((resource) => [resource.urn.split("::").at(-1) ?? "", resource]));
    }

    stack(): string {
        return this.ok(["stack", "--stack", "dev"]);
    }
}

nightly("the dynamic resource of a component plugin lives like any other", () => {
    const desks = new Desks();
    // Each run starts the plugin anew: by day those in which the resource's code is called.
    if (NIGHT) {
        expect(desks.ok(PREVIEW)).toContain("desk-note create");
        expect(desks.notes()).toEqual({});
    }
    desks.ok(UP);
    const cwd = realpathSync(desks.directory);
    expect(desks.notes()).toEqual({ top: { text: "one", made_by: "hello 1", url: "note://top", cwd } });
    expect(JSON.parse(desks.ok(["stack", "output", "--json", "--stack", "dev"]))).toEqual({ url: "note://top" });
    const note = desks.resources()["desk-note"];
    expect(note?.provider).toContain("::pulumi:providers:pulumi-nodejs::default::");
    expect(note?.inputs.__provider).toEqual(note?.outputs.__provider);
    if (NIGHT) {
        expect(desks.ok(UP)).toContain("unchanged");
        expect(desks.ok(UP, { text: "two" })).toContain("1 updated");
        expect(desks.texts()).toEqual({ top: "two" });
        expect(desks.ok(UP, { text: "two", slot: "low" })).toContain("1 replaced");
        expect(desks.texts()).toEqual({ low: "two" });
    }
    desks.withoutProgram();
    writeFileSync(join(desks.world, NIGHT ? "low.json" : "top.json"), JSON.stringify({ text: "by hand" }));
    desks.ok(REFRESH);
    expect(desks.resources()["desk-note"]?.outputs.text).toBe("by hand");
    desks.ok(DESTROY);
    expect([desks.notes(), desks.resources()]).toEqual([{}, {}]);
});

nightly("its code is shown nowhere", () => {
    const desks = new Desks();
    let [said, asJson] = ["", ""];
    for (const inputs of [{ text: "one" }, { text: "one", vague: true, revision: "2" }]) {
        asJson += desks.ok([...PREVIEW, "--json"], inputs);
        said += desks.ok(["up", "--yes", "--diff", "--stack", "dev"], inputs);
    }
    const code = desks.resources("--show-secrets")["desk-note"]?.inputs.__provider;
    expect(typeof code).toBe("string");
    expect(said).not.toContain("__provider");
    expect(said + asJson + desks.stack()).not.toContain((code as string).slice(0, 30));
});

// By day the states of programs without plugins are known to have references and no code.
nightly("the program's own dynamic resources stay live beside it", () => {
    const desks = new Desks();
    desks.ok(UP, { text: "one", live: true });
    expect(desks.ok(UP, { text: "one", live: true })).toContain("unchanged");
    const kept = desks.resources("--show-secrets").live?.inputs.__provider as { plaintext: string };
    expect(JSON.parse(kept.plaintext)).toContain('"maloko"');
    desks.ok(DESTROY, { text: "one", live: true });
    expect([desks.notes(), desks.resources()]).toEqual([{}, {}]);
});
