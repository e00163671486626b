// Plugins that hang or never stop talking: docs/internals/hostile-providers.md lists them, with the tests of those that die or return rubbish
// (`plugins/faults.test.ts`).
import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Outcome, Project, succeeded } from "../support/project";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PLUGINS = join(ROOT, "conformance", "plugins", "plugins");
const PYTHON = join(ROOT, ".venv", "bin", "python");

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");

class Thing extends pulumi.CustomResource {
    constructor(name, props, opts) { super("probe:index:Thing", name, { url: undefined, ...props }, opts); }
}
new Thing("other", {});
const customTimeouts = { create: "2s", update: "2s", delete: "2s" };
new Thing("thing", JSON.parse(process.env.INPUTS ?? "{}"), { customTimeouts });
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
const BOTH = ["here-other.json", "here-thing.json"];

/** A project with two resources of a plugin, and their outside world. */
class Hostile {
    readonly project = new Project({ "index.js": PROGRAM });
    readonly #plugin = join(this.project.directory, "bin", "pulumi-resource-probe");
    readonly #world = join(this.project.directory, "world");

    constructor() {
        mkdirSync(this.#world);
        this.serve(join(PLUGINS, "probe.py"));
    }

    serve(...command: string[]): void {
        const words = [PYTHON, ...command].map((word) => `"${word}"`).join(" ");
        this.project.write({ "bin/pulumi-resource-probe": `#!/bin/sh\nexec ${words} "$@"\n` });
        chmodSync(this.#plugin, 0o755);
    }

    #run(command: string[], inputs: object, more: NodeJS.ProcessEnv): Outcome {
        const path = `${dirname(this.#plugin)}:${process.env.PATH}`;
        const variables = { PATH: path, PROBE_WORLD: this.#world, INPUTS: JSON.stringify(inputs), ...more };
        return this.project.runWith(variables, ...command);
    }

    /** Runs a command that must succeed; what it said. */
    ok(command: string[], inputs: object = {}, more: NodeJS.ProcessEnv = {}): string {
        return succeeded(command.join(" "), this.#run(command, inputs, more));
    }

    /** Runs a command that must fail; what it said. */
    failing(command: string[], inputs: object): string {
        const { status, output } = this.#run(command, inputs, {});
        expect(status, output).not.toBe(0);
        return output;
    }

    objects(): string[] {
        return readdirSync(this.#world).sort();
    }
}

function hanging(method: string): object {
    return { sleep: 3600, sleepIn: method };
}

test("a create of a plugin that hangs is given up and may have happened", () => {
    const hostile = new Hostile();
    const said = hostile.failing(UP, hanging("create"));
    expect(said).toContain("thing failed to create");
    expect(said).toContain("took longer than the 2s");
    expect(hostile.objects()).toEqual(["here-other.json"]);
    expect(hostile.ok(["stack", "--stack", "dev"])).toContain("1 unresolved create, whose object may exist");
    expect(hostile.ok(UP)).toContain("an earlier run was interrupted while creating this resource");
    expect(hostile.objects()).toEqual(BOTH);
});

test.each(["update", "delete"])("another call of a plugin that hangs is given up too: %s", (method) => {
    const hostile = new Hostile();
    hostile.ok(UP, method === "update" ? {} : hanging("delete"));
    const changed = { ...hanging("update"), text: "a" };
    expect(hostile.failing(method === "update" ? UP : DESTROY, changed)).toContain("took longer than the 2s");
    expect(hostile.objects()).toContain("here-thing.json");
    hostile.ok(UP, { text: "b" });
    hostile.ok(DESTROY);
    expect(hostile.objects()).toEqual([]);
});

test("a plugin that never stops talking costs no memory and no run", () => {
    const hostile = new Hostile();
    const grown = join(hostile.project.directory, "grown");
    hostile.serve(join(PLUGINS, "flood.py"), join(PLUGINS, "probe.py"));
    expect(hostile.ok(UP, {}, { FLOOD_GROWN: grown })).not.toContain("a line that nobody asked for");
    expect(hostile.objects()).toEqual(BOTH);
    expect(Number(readFileSync(grown, "utf8")), "KB that the engine grew by, of a line of 128 MB").toBeLessThan(
        32 << 10,
    );
    hostile.ok(DESTROY, {}, { FLOOD_GROWN: grown });
    expect(hostile.objects()).toEqual([]);
});
