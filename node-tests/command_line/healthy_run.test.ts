// What a log of a healthy run of thirty resources says beside its steps, and other screens that say no more than is new.
import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { Project } from "../support/project";

const nightly = atNight(test);

const ROOT = join(import.meta.dirname, "..", "..");
const PROBE = join(ROOT, "conformance", "plugins", "plugins", "probe.py");
const PYTHON = join(ROOT, ".venv", "bin", "python");
const SCREENS = join(import.meta.dirname, "screens");

// What public programs do: outputs that no class declares, ids among the outputs, a plugin from $PATH, prints of the program.
const PROGRAM = `
import * as pulumi from "@pulumi/pulumi";

const records: pulumi.dynamic.ResourceProvider = {
    create: async (inputs) => ({
        id: \`rec-\${inputs.host}\`,
        outs: { ...inputs, id: \`rec-\${inputs.host}\`, etag: "e1", ttl: 300 },
    }),
    update: async (id, _olds, news) => ({ outs: { ...news, id, etag: "e2", ttl: 300 } }),
};
class Record extends pulumi.dynamic.Resource {
    declare readonly host: pulumi.Output<string>;
    constructor(name: string, args: object, opts?: pulumi.CustomResourceOptions) {
        super(records, name, args, opts);
    }
}

const monitors: pulumi.dynamic.ResourceProvider = {
    create: async (inputs) => ({
        id: \`mon-\${inputs.of}\`,
        outs: { ...inputs, id: \`mon-\${inputs.of}\`, created: "2026-01-01" },
    }),
};
class Monitor extends pulumi.dynamic.Resource {
    constructor(name: string, args: object, opts?: pulumi.CustomResourceOptions) {
        super(monitors, name, args, opts);
    }
}

class Site extends pulumi.ComponentResource {
    constructor(name: string) {
        super("shop:web:Site", name);
    }
}

class Thing extends pulumi.CustomResource {
    declare readonly url: pulumi.Output<string>;
    constructor(name: string, args: object, opts?: pulumi.CustomResourceOptions) {
        super("probe:index:Thing", name, { url: undefined, ...args }, opts);
    }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

console.log("deploying the shop");
const color = new pulumi.Config().get("color") ?? "red";
const parent = new Site("site");
const things = numbers(6).map((n) => new Thing(\`thing-\${n}\`, { size: n + 1 }, { parent }));
const all = numbers(14).map(
    (n) => new Record(\`host-\${n}\`, { host: \`h\${n}\`, policy: JSON.stringify({ weight: n, color }) }, { parent }),
);
numbers(8).forEach((n) => new Monitor(\`monitor-\${n}\`, { of: all[n]?.host }, { parent }));
void pulumi.log.info("30 resources are described");
export const hosts = all.slice(0, 2).map((record) => record.host);
export const url = things[0]?.url;
`;

function shop(): [Project, NodeJS.ProcessEnv] {
    const project = new Project({
        "Pulumi.yaml": "name: shop\nruntime: nodejs\n",
        "index.ts": PROGRAM,
        "bin/pulumi-resource-probe": `#!/bin/sh\nexec "${PYTHON}" "${PROBE}" "$@"\n`,
    });
    const inside = (name: string): string => join(project.directory, name);
    chmodSync(inside("bin/pulumi-resource-probe"), 0o755);
    mkdirSync(inside("world"));
    return [project, { PROBE_WORLD: inside("world"), PATH: `${inside("bin")}:${process.env.PATH}`, NO_COLOR: "1" }];
}

// What a command writes, without what differs from run to run: times, places, and the order of what goes on at once.
function screen(project: Project, variables: NodeJS.ProcessEnv, ...command: string[]): string {
    const { status, stdout, stderr } = project.runWith(variables, ...command);
    expect(status, stdout + stderr).toBe(0);
    const text = (stdout + stderr)
        .replaceAll(project.directory, "PROJECT")
        .replace(/\(\d[\w.]*\)/g, "(TIME)")
        .replace(/^Duration: .*/gm, "Duration: TIME")
        // How long a run takes decides whether it says where its time went.
        .replace(/^(Critical path|Slowest calls):.*\n(?: {2}.*\n)*\n?/gm, "");
    const steps = /(?:^(?:[+~-] |(?:program|warning): ).*\n)+/gm;
    const sorted = (block: string): string => `${block.trimEnd().split("\n").sort().join("\n")}\n`;
    return `${text.replace(steps, sorted).trimEnd()}\n`;
}

// Is it the screen that is kept? With INSTA_UPDATE=always it is kept from now on.
function expectScreen(name: string, text: string): void {
    const file = join(SCREENS, `${name}.txt`);
    if (process.env.INSTA_UPDATE === "always") {
        mkdirSync(SCREENS, { recursive: true });
        writeFileSync(file, text);
    }
    expect(text).toBe(readFileSync(file, "utf8"));
}

nightly("the log of a healthy run has one line of notice", () => {
    const [project, variables] = shop();
    const first = screen(project, variables, "up", "--yes");
    expect(first.split("\n").filter((line) => /^(warning|error|note)/.test(line))).toHaveLength(1);
    expectScreen("healthy_run", first);
    if (!NIGHT) {
        return;
    }
    project.ok("config", "set", "color", "blue");
    const changed = screen(project, variables, "up", "--yes");
    // The stack has heard of them.
    expect(changed).not.toContain("do not declare");
    expect(changed.split("from $PATH")).toHaveLength(2);
    // The preview shows what changes.
    expect(changed.split("Outputs:")).toHaveLength(2);
    expect(screen(project, variables, "up", "--yes")).not.toContain("Outputs:");
    project.ok("config", "set", "color", "green");
    const details = screen(project, variables, "preview", "--diff");
    expect(details).toContain('  ~ policy: (JSON)\n      ~ color: "blue" => "green"\n');
});

test("ids among the outputs are no reason for a notice", () => {
    const project = new Project({
        "index.js": `
            const pulumi = require("@pulumi/pulumi");
            const provider = { create: async (inputs) => ({ id: "a1", outs: { ...inputs, id: "a1" } }) };
            class Thing extends pulumi.dynamic.Resource { constructor(name, args) { super(provider, name, args); } }
            exports.id = new Thing("thing", { x: 1 }).id;
        `,
    });
    expect(project.ok("up", "--yes", "--skip-preview")).not.toContain("warning");
});

test("a stack reference that fails says that and nothing else", () => {
    const project = new Project({
        "index.js": `
            const pulumi = require("@pulumi/pulumi");
            const network = new pulumi.StackReference("organization/network/dev");
            exports.a = network.requireOutput("subnet");
            exports.b = network.getOutput("subnet").apply((it) => it);
        `,
    });
    const { status, output } = project.run("up", "--yes", "--skip-preview");
    expect(status).not.toBe(0);
    expect(output).toContain("there is no stack 'organization/network/dev'");
    expect(output).not.toMatch(/program:|warning:/);
});

nightly("an update that no property explains says whose word it is", () => {
    const project = new Project({
        "index.js": `
            const pulumi = require("@pulumi/pulumi");
            const provider = {
                create: async (inputs) => ({ id: "a1", outs: inputs }),
                diff: async () => ({ changes: true }),
                update: async (id, olds, news) => ({ outs: news }),
            };
            class Thing extends pulumi.dynamic.Resource {}
            new Thing(provider, "thing", { x: 1 });
        `,
    });
    project.ok("up", "--yes", "--skip-preview");
    for (const flags of [[], ["--diff"]]) {
        expect(project.ok("preview", ...flags)).toContain("thing update [the provider's diff says changed]");
    }
});

nightly("creates that were cut off are explained once and not where the key was used", () => {
    const project = new Project({
        "index.js": `
            const pulumi = require("@pulumi/pulumi");
            const { currentCall } = require("maloko");
            let begun = 0;
            const provider = {
                create: async (inputs) => {
                    if (process.env.DIE && ++begun === 3) process.kill(process.pid, "SIGKILL");
                    if (process.env.DIE) await new Promise(() => setInterval(() => {}, 1000));
                    if (process.env.USE) currentCall().operationKey;
                    return { id: inputs.x, outs: inputs };
                },
            };
            class Thing extends pulumi.dynamic.Resource {}
            for (const n of [0, 1, 2]) new Thing(provider, "thing-" + n, { x: "x" + n });
        `,
    });
    const up = ["up", "--yes", "--skip-preview"];
    project.runWith({ DIE: "1" }, ...up);
    const [state, kept] = [join(project.directory, ".maloko"), join(project.directory, "kept")];
    cpSync(state, kept, { recursive: true });
    const shown = project.ok("preview");
    expect(shown).toContain("an earlier run ended while these 3 were made");
    expect(shown.match(/^ +thing-\d: its create was under way when the run ended/gm)).toHaveLength(3);
    const said = project.ok(...up);
    expect(said.split("there may now be one object too many")).toHaveLength(2);
    expect(said.match(/^.*thing-\d: an earlier run was interrupted while creating/gm)).toHaveLength(3);
    rmSync(state, { recursive: true });
    renameSync(kept, state);
    const { stdout } = project.runWith({ USE: "1" }, ...up);
    expect(stdout).not.toContain("too many");
});
