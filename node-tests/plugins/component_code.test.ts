// Dynamic resources that plugins in Python and Node make: their code runs in the environment of the plugin.
import {
    chmodSync,
    cpSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    realpathSync,
    renameSync,
    writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { atNight, byDay } from "../support/night";
import { Project, succeeded } from "../support/project";

const nightly = atNight(test);

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PLUGINS = join(ROOT, "conformance", "plugins", "plugins");
const PYTHON = join(ROOT, ".venv", "bin", "python");

// `KIND` is the component's type, `INPUTS` are its inputs, as JSON; `live` adds a dynamic resource of the program.
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");

class Lives {
    async create(props) { return { id: "live-1", outs: { of: props.of } }; }
}
class Live extends pulumi.dynamic.Resource {
    constructor(name, props, opts) { super(new Lives(), name, props, opts); }
}
class Remote extends pulumi.ComponentResource {
    constructor(kind, name, props) { super(kind, name, { url: undefined, ...props }, undefined, true); }
}

const { live, ...inputs } = JSON.parse(process.env.INPUTS);
if (Object.keys(inputs).length > 0) {
    const desk = new Remote(process.env.KIND, "desk", inputs);
    exports.url = desk.url;
    if (live) {
        new Live("live", { of: desk.url }, { parent: desk });
    }
}
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const REFRESH = ["refresh", "--yes", "--skip-preview", "--stack", "dev"];
const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
const PREVIEW = ["preview", "--stack", "dev"];
const LANGUAGES = {
    Python: { kind: "desk:index:Desk", package: "pulumi-python" },
    Node: { kind: "drawer:index:Drawer", package: "pulumi-nodejs" },
};
const PROJECT = `
name: test
runtime: nodejs
plugins:
  providers:
    - name: desk
      path: ./desk
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
    readonly #variables: NodeJS.ProcessEnv;

    constructor({ kind }: { kind: string }) {
        const python = { name: "python", options: { virtualenv: join(ROOT, ".venv") } };
        const node = { name: "nodejs", options: { typescript: false } };
        for (const name of ["desk", "drawer"]) {
            cpSync(join(PLUGINS, name), join(this.directory, name), { recursive: true });
        }
        const modules = join("drawer", "node_modules", "note-files");
        this.#project.write({
            "desk/PulumiPlugin.yaml": JSON.stringify({ runtime: python }),
            "drawer/PulumiPlugin.yaml": JSON.stringify({ runtime: node }),
            // A package that the folder of the program does not have; the SDK is above both.
            [join(modules, "package.json")]: '{"name": "note-files", "version": "1.0.0"}',
            "bin/pulumi-resource-probe": `#!/bin/sh\nexec "${PYTHON}" "${join(PLUGINS, "probe.py")}" "$@"\n`,
        });
        renameSync(join(this.directory, "drawer", "files.js"), join(this.directory, modules, "index.js"));
        chmodSync(join(this.directory, "bin", "pulumi-resource-probe"), 0o755);
        for (const folder of ["world", "things"]) {
            mkdirSync(join(this.directory, folder));
        }
        this.#variables = {
            PATH: `${join(this.directory, "bin")}:${process.env.PATH}`,
            PROBE_WORLD: join(this.directory, "things"),
            NOTES_WORLD: this.world,
            KIND: kind,
        };
        this.ok(["config", "set", "greeting", "hello ", "--stack", "dev"]);
    }

    /** Runs a command that must succeed; what it said. */
    ok(command: string[], inputs: object = { text: "one" }): string {
        const variables = { ...this.#variables, INPUTS: JSON.stringify(inputs) };
        return succeeded(command.join(" "), this.#project.runWith(variables, ...command));
    }

    /** Runs a command that must fail; what it said. */
    failing(command: string[], inputs: object = { text: "one" }): string {
        const variables = { ...this.#variables, INPUTS: JSON.stringify(inputs) };
        const { status, output } = this.#project.runWith(variables, ...command);
        expect(status, output).not.toBe(0);
        return output;
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

    things(): string[] {
        return readdirSync(join(this.directory, "things"));
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

// By day each host has the plugin of its own language.
const TRIED = byDay(Object.entries(LANGUAGES), ([language]) => language === "Node");

describe.each(TRIED)("a plugin in %s", (language, of) => {
    test("the dynamic resource of a component plugin lives like any other", () => {
        const desks = new Desks(of);
        expect(desks.ok(PREVIEW)).toContain("desk-note create");
        expect(desks.notes()).toEqual({});
        desks.ok(UP);
        const cwd = realpathSync(desks.directory);
        expect(desks.notes()).toEqual({ top: { text: "one", made_by: "hello 1", url: "note://top", cwd } });
        expect(JSON.parse(desks.ok(["stack", "output", "--json", "--stack", "dev"]))).toEqual({ url: "note://top" });
        const note = desks.resources()["desk-note"];
        expect(note?.provider).toContain(`::pulumi:providers:${of.package}::default::`);
        expect(note?.inputs.__provider).toEqual(note?.outputs.__provider);
        expect(desks.ok(UP)).toContain("unchanged");
        expect(desks.ok(UP, { text: "two" })).toContain("1 updated");
        expect(desks.texts()).toEqual({ top: "two" });
        expect(desks.ok(UP, { text: "two", slot: "low" })).toContain("1 replaced");
        expect(desks.texts()).toEqual({ low: "two" });
        desks.withoutProgram();
        writeFileSync(join(desks.world, "low.json"), JSON.stringify({ text: "by hand" }));
        desks.ok(REFRESH);
        expect(desks.resources()["desk-note"]?.outputs.text).toBe("by hand");
        desks.ok(DESTROY);
        expect([desks.notes(), desks.resources()]).toEqual([{}, {}]);
    });

    nightly("code alone is a change only where its diff leaves that open", () => {
        const desks = new Desks(of);
        desks.ok(UP);
        expect(desks.ok(UP, { text: "one", revision: "2" })).not.toContain("updated");
        expect(desks.notes().top?.made_by).toBe("hello 1");
        desks.ok(UP, { text: "one", vague: true });
        const said = desks.ok(UP, { text: "one", vague: true, revision: "3" });
        expect(said).toContain("1 updated");
        expect(said).not.toContain("replaced");
        expect(desks.notes().top?.made_by).toBe("hello 3");
        // The code of the state alone.
        expect(desks.ok(UP, { text: "one", vague: true, revision: "3" })).toContain("unchanged");
    });

    nightly("what its provider refuses or raises is told and nothing is lost", () => {
        const desks = new Desks(of);
        expect(desks.failing(UP, { text: "refused" })).toContain("this text is refused");
        const said = desks.failing(UP, { text: "broken" });
        expect(said).toContain("this note cannot be written");
        expect(said).toContain("desk-note");
        expect(desks.notes()).toEqual({});
        desks.ok(UP);
        expect(desks.texts()).toEqual({ top: "one" });
    });

    nightly("a server that dies in a create leaves an unresolved create", () => {
        const desks = new Desks(of);
        const said = desks.failing(UP, { text: "die" });
        expect(said).toContain("the plugin's process has ended in the middle of the call");
        expect(desks.stack()).toContain("unresolved create");
        expect(desks.texts()).toEqual({ top: "die" });
        desks.withoutProgram();
        desks.ok(DESTROY);
        expect(desks.stack()).toContain("unresolved create");
    });

    nightly("a component plugin that is gone is named and nothing is lost", () => {
        const desks = new Desks(of);
        desks.ok(UP);
        desks.withoutProgram();
        const folder = join(desks.directory, language === "Python" ? "desk" : "drawer");
        const away = join(desks.directory, "away");
        renameSync(folder, away);
        const said = desks.failing(DESTROY);
        expect(said).toContain("desk-note");
        expect(said.replace("./", "")).toContain(folder);
        expect(desks.texts()).toEqual({ top: "one" });
        expect(Object.keys(desks.resources())).toContain("desk-note");
        renameSync(away, folder);
        desks.ok(DESTROY);
        expect([desks.notes(), desks.resources()]).toEqual([{}, {}]);
    });

    nightly("it may depend on a resource of a package", () => {
        const desks = new Desks(of);
        desks.ok(PREVIEW, { thing: true });
        desks.ok(UP, { thing: true });
        expect(desks.texts()).toEqual({ top: "http://here-desk-thing" });
        desks.ok(UP, {});
        expect([desks.notes(), desks.things()]).toEqual([{}, []]);
    });

    nightly("outside of its component it is refused", () => {
        const desks = new Desks(of);
        const said = desks.failing(UP, { text: "one", outside: true });
        expect(said).toContain("'desk-note'");
        expect(said).toContain("make dynamic resources below the component");
        expect(desks.notes()).toEqual({});
    });

    test("its code is shown nowhere", () => {
        const desks = new Desks(of);
        let [said, asJson] = ["", ""];
        for (const inputs of [{ text: "one" }, { text: "one", vague: true, revision: "2" }]) {
            asJson += desks.ok([...PREVIEW, "--json"], inputs);
            said += desks.ok(["up", "--yes", "--diff", "--stack", "dev"], inputs);
        }
        const code = desks.resources("--show-secrets")["desk-note"]?.inputs.__provider;
        expect(typeof code === "object").toBe(language === "Python");
        const text: string = typeof code === "string" ? code : JSON.parse((code as { plaintext: string }).plaintext);
        expect(said).not.toContain("__provider");
        expect(said + asJson + desks.stack()).not.toContain(text.slice(0, 30));
    });

    test("the program's own dynamic resources stay live beside it", () => {
        const desks = new Desks(of);
        desks.ok(UP, { text: "one", live: true });
        expect(desks.ok(UP, { text: "one", live: true })).toContain("unchanged");
        const kept = desks.resources("--show-secrets").live?.inputs.__provider as { plaintext: string };
        expect(JSON.parse(kept.plaintext)).toContain('"maloko"');
        desks.ok(DESTROY, { text: "one", live: true });
        expect([desks.notes(), desks.resources()]).toEqual([{}, {}]);
    });
});
