// Components that plugins make, in programs with dynamic resources: a real component plugin in Node. Python's tests have the one in
// Python, and both of them at night.
import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { Project, succeeded } from "../support/project";

const nightly = atNight(test);

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PLUGINS = join(ROOT, "conformance", "plugins", "plugins");
const PYTHON = join(ROOT, ".venv", "bin", "python");

// `INPUTS` are the component's inputs, as JSON; `call` are the arguments of its method.
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");

class Notes {
    async create(props) { return { id: "note-1", outs: { of: props.of } }; }
    async update(id, olds, news) { return { outs: { of: news.of } }; }
}
class Note extends pulumi.dynamic.Resource {
    constructor(name, props, opts) { super(new Notes(), name, props, opts); }
}
class Remote extends pulumi.ComponentResource {
    constructor(name, props, opts) { super("shelf:index:Shelf", name, { text: undefined, ...props }, opts, true); }
}
const noMore = ({ type, props, opts }) =>
    type === "probe:index:Thing" && "text" in props ? { props: { ...props, text: "transformed" }, opts } : undefined;

const { call, outside, ...inputs } = JSON.parse(process.env.INPUTS ?? "{}");
const options = { transforms: outside ? [noMore] : [] };
const box = new Remote("box", { text: pulumi.secret("hush"), ...inputs }, options);
new Note("note", { of: box.text }, { parent: box });
exports.text = box.text;
if (call !== undefined) {
    exports.label = pulumi.runtime.call("shelf:index:Shelf/label", { __self__: box, ...call }, box).apply(({ label }) => label);
}
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
const COMMANDS = {
    probe: `exec "${PYTHON}" "${join(PLUGINS, "probe.py")}"`,
    shelf: `NODE_PATH="${join(ROOT, "node-tests", "node_modules")}" exec node "${join(PLUGINS, "shelf")}"`,
};

/** A project whose component a plugin makes, and the outside world of the component's children. */
class Boxes {
    readonly #project = new Project({ "index.js": PROGRAM });
    readonly #world = join(this.#project.directory, "world");
    readonly #variables: NodeJS.ProcessEnv;

    constructor() {
        mkdirSync(this.#world);
        for (const [name, command] of Object.entries(COMMANDS)) {
            const file = join("bin", `pulumi-resource-${name}`);
            this.#project.write({ [file]: `#!/bin/sh\n${command} "$@"\n` });
            chmodSync(join(this.#project.directory, file), 0o755);
        }
        const path = `${join(this.#project.directory, "bin")}:${process.env.PATH}`;
        this.#variables = { PATH: path, PROBE_WORLD: this.#world };
    }

    /** Runs a command that must succeed; what it said. */
    ok(command: string[], inputs: object = {}): string {
        const variables = { ...this.#variables, INPUTS: JSON.stringify(inputs) };
        return succeeded(command.join(" "), this.#project.runWith(variables, ...command));
    }

    /** Runs a command that must fail; what it said. */
    failing(command: string[], inputs: object): string {
        const variables = { ...this.#variables, INPUTS: JSON.stringify(inputs) };
        const { status, output } = this.#project.runWith(variables, ...command);
        expect(status, output).not.toBe(0);
        return output;
    }

    /** The objects outside, by id; each with its text as it came. */
    objects(): Record<string, string> {
        const names = readdirSync(this.#world).sort();
        const read = (name: string) => readFileSync(join(this.#world, name), "utf8");
        return Object.fromEntries(names.map((name) => [name.replace(/\.json$/, ""), read(name)]));
    }

    outputs(): unknown {
        return JSON.parse(this.ok(["stack", "output", "--json", "--show-secrets", "--stack", "dev"]));
    }

    exported(): string {
        return this.ok(["stack", "export", "--stack", "dev"]);
    }

    resources(): string[] {
        const states: { urn: string; type: string }[] = JSON.parse(this.exported()).deployment.resources ?? [];
        const own = states.filter(
            ({ type }) => type !== "pulumi:pulumi:Stack" && !type.startsWith("pulumi:providers:"),
        );
        return own.map(({ urn }) => urn.split("::").at(-1) ?? "").sort();
    }
}

test("a plugin makes a component with its children", () => {
    const boxes = new Boxes();
    if (NIGHT) {
        expect(boxes.ok(["preview", "--stack", "dev"])).toContain("Thing box-first create");
        expect(boxes.objects()).toEqual({});
    }
    const call = { prefix: "my " };
    boxes.ok(UP, { call });
    expect(Object.keys(boxes.objects())).toEqual(["here-box-first", "here-box-second"]);
    expect(boxes.outputs()).toEqual({ text: "hush in http://here-box-second", label: "my label" });
    expect(boxes.resources()).toEqual(["box", "box-first", "box-second", "note"]);
    expect(boxes.exported()).not.toContain("hush");
    if (NIGHT) {
        expect(boxes.ok(UP, { call })).toContain("5 unchanged");
        boxes.ok(["refresh", "--yes", "--skip-preview", "--stack", "dev"]);
    }
    boxes.ok(DESTROY);
    expect(boxes.objects()).toEqual({});
});

nightly("the program's transforms reach the children that a plugin makes", () => {
    const boxes = new Boxes();
    boxes.ok(UP, { outside: true });
    expect(boxes.objects()["here-box-first"]).toContain('"transformed"');
});

test("a plugin's own hooks and transforms are called", () => {
    const boxes = new Boxes();
    expect(boxes.failing(UP, { hook: true })).toContain("the hook 'box-hook' (before_create) failed");
    expect(boxes.objects()).toEqual({});
    // By day a hook alone: a transform is called in the same way.
    if (NIGHT) {
        boxes.ok(UP, { transform: true });
        expect(boxes.objects()["here-box-first"]).toContain("hush!");
        boxes.ok(DESTROY);
        expect(boxes.objects()).toEqual({});
    }
});
