// What python-tests/languages asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { Project, project, succeeded } from "../support/project";

const nights = atNight(describe);

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PYTHON = join(ROOT, ".venv", "bin", "python");
const HOST = join(ROOT, "python-tests", "support", "scripted_host.py");
const UP = ["up", "--yes", "--stack", "dev"];

/** A program for the official Automation API with a dynamic resource, which it makes and destroys. */
const INLINE = `const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const things = {
    create: async ({ text }) => ({ id: "id-" + text, outs: { length: text.length, by: process.execPath } }),
    delete: async (id) => require("fs").appendFileSync(process.env.DELETED, id),
};
class Thing extends pulumi.dynamic.Resource {
    constructor(name, text) {
        super(things, name, { text, length: undefined, by: undefined });
    }
}
const program = async () => {
    const { id, length, by } = new Thing("it", "one");
    return { id, length, by };
};
(async () => {
    const stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "inline", program });
    const { outputs } = await stack.up();
    await stack.destroy();
    console.log(JSON.stringify(Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]))));
})();
`;

/** A program for the official Automation API: it makes, changes and destroys a stack, and prints each result. */
const OFFICIAL = `const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
class Group extends pulumi.ComponentResource {
    constructor(name) {
        super("test:index:Group", name);
        this.registerOutputs({});
    }
}
let names = ["a", "b"];
const program = async () => {
    names.forEach((name) => new Group(name));
    return { size: new pulumi.Config().requireNumber("size") * 2, token: pulumi.secret("t0p") };
};
(async () => {
    const stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "shop", program });
    await stack.setAllConfig({ size: { value: "21" } });
    const events = [];
    const previewed = await stack.preview({ onEvent: (event) => events.push(event) });
    const made = await stack.up({ message: "first" });
    names = ["a"];
    const changed = await stack.up();
    const destroyed = await stack.destroy();
    await stack.workspace.removeStack("dev");
    console.log(JSON.stringify({
        previewed: previewed.changeSummary,
        last: "cancelEvent" in events.at(-1),
        made: made.summary.resourceChanges,
        outputs: made.outputs,
        changed: changed.summary.resourceChanges,
        destroyed: destroyed.summary.result,
    }));
})();
`;

describe("language_hosts", () => {
    test("a program in a host registers changes and deletes, and one in Go is run as it is", () => {
        const it = new Project({ "bin/pulumi-language-scripted": `#!/bin/sh\nexec "${PYTHON}" "${HOST}" "$@"\n` });
        chmodSync(join(it.directory, "bin", "pulumi-language-scripted"), 0o755);
        const variables = { PATH: `${join(it.directory, "bin")}:${process.env.PATH}` };
        const up = (...resources: string[]) => {
            const steps = [["stack"], ...resources.map((name) => ["resource", name]), ["signal"]];
            const runtime = { name: "scripted", options: { steps } };
            it.write({ "Pulumi.yaml": JSON.stringify({ name: "test", runtime }) });
            return succeeded("up", it.runWith(variables, ...UP));
        };
        expect(up("a", "b")).toContain("+ 3 created");
        expect(up("a")).toContain("- 1 deleted");
        // By day Python runs what Go has built.
        if (!NIGHT) {
            return;
        }
        const steps = JSON.stringify([["stack"], ["resource", "c"], ["outputs", { x: "y" }], ["signal"]]);
        it.write({
            built: `#!/bin/sh\nexec "${PYTHON}" "${HOST}" program '${steps}'\n`,
            "Pulumi.yaml": "name: test\nruntime: {name: go, options: {binary: ./built}}\n",
        });
        chmodSync(join(it.directory, "built"), 0o755);
        succeeded("up", it.run(...UP));
        expect(it.run("stack", "output", "x", "--stack", "dev").stdout).toBe("y\n");
    });
});

/** A project whose host, and the plugin of the package `mini`, are on the path; gives what an `up` of these steps printed. */
function hosted(steps: unknown[], name: string, more: Record<string, string> = {}): { it: Project; told: string } {
    const support = (file: string) => join(ROOT, "python-tests", "support", file);
    const script = (file: string) => `#!/bin/sh\nexec "${PYTHON}" "${support(file)}" "$@"\n`;
    const it = new Project({
        "bin/pulumi-language-scripted": script("scripted_host.py"),
        "bin/pulumi-resource-mini": script("mini_provider.py"),
        "Pulumi.yaml": JSON.stringify({ name, runtime: { name: "scripted", options: { steps } } }),
    });
    for (const file of ["pulumi-language-scripted", "pulumi-resource-mini"]) {
        chmodSync(join(it.directory, "bin", file), 0o755);
    }
    const path = `${join(it.directory, "bin")}:${process.env.PATH}`;
    const variables = { PATH: path, SCRIPTED_SEEN: join(it.directory, "seen"), ...more };
    return { it, told: succeeded("up", it.runWith(variables, ...UP)) };
}

nights("program_requests", () => {
    test("a program asks whether an object exists", () => {
        const { it } = hosted([["stack"], ["exists", "id-there"], ["exists", "gone"], ["signal"]], "test");
        const seen = readFileSync(join(it.directory, "seen"), "utf8").trim().split("\n");
        const notes = seen.map((line) => JSON.parse(line)).filter((note) => note.what === "exists" && note.id);
        expect(notes.slice(-2).map((note) => [note.id, note.exists])).toEqual([
            ["id-there", true],
            ["gone", false],
        ]);
    });
});

nights("recordings", () => {
    test("a recorded program gets the same answers", () => {
        const file = join(ROOT, "python-tests", "languages", "recordings", "go.json");
        const { it, told } = hosted([["replay", file]], "doorgo");
        expect(told).toContain("3 created");
        const seen = readFileSync(join(it.directory, "seen"), "utf8").trim().split("\n");
        const last = seen.map((line) => JSON.parse(line)).slice(seen.findLastIndex((line) => line.includes('"Run"')));
        expect(last.filter((note) => note.what === "answers differ")).toEqual([]);
    });
});

nights("host_faults", () => {
    test("what a host prints after its port is shown", () => {
        const { told } = hosted([["stack"], ["resource", "a"], ["signal"]], "test", { SCRIPTED_START: "two ports" });
        expect(told).toContain("12345");
    });
});

/** A folder with a `pulumi` that is maloko, and the environment of a step of CI. */
function pulumiOf(it: Project) {
    const bin = join(ROOT, "node-tests", "node_modules", ".bin");
    const tools = join(it.directory, "tools");
    succeeded("shim install", it.runWith({ PATH: `${bin}:${process.env.PATH}` }, "shim", "install", tools));
    const env = {
        ...process.env,
        HOME: it.directory,
        PATH: `${tools}:${process.env.PATH}`,
        PULUMI_CONFIG_PASSPHRASE: "test",
        PULUMI_HOME: join(it.directory, "home"),
    };
    return (...words: string[]) => spawnSync("pulumi", words, { cwd: it.directory, env, encoding: "utf8" });
}

nights("ci", () => {
    test("a repository whose CI calls `pulumi` moves by the shim alone", () => {
        const it = new Project({
            "Pulumi.yaml": "name: shop\nruntime: nodejs\n",
            "index.js": 'exports.size = new (require("@pulumi/pulumi").Config)().requireNumber("size") * 2;\n',
        });
        const pulumi = pulumiOf(it);
        const step = (...words: string[]) => {
            const { status, stdout, stderr } = pulumi(...words);
            expect([status, stderr]).toEqual([0, ""]);
            return stdout;
        };
        mkdirSync(join(it.directory, "states"));
        step("login", `file://${join(it.directory, "states")}`);
        const missing = pulumi("stack", "select", "live", "--non-interactive");
        expect([missing.status, missing.stdout]).toEqual([6, ""]);
        step("stack", "select", "live", "--create", "--non-interactive");
        step("config", "set", "size", "--plaintext", "--non-interactive", "--", "21");
        expect(step("preview", "--diff", "--non-interactive")).toContain("+ 1 to create");
        expect(step("up", "--yes", "--non-interactive", "--skip-preview")).toContain("+ 1 created");
        expect(JSON.parse(step("stack", "output", "--json"))).toEqual({ size: 42 });
        expect(JSON.parse(step("stack", "ls", "--json"))).toMatchObject([{ name: "live", current: true }]);
        step("cancel", "--yes");
        it.write({ "index.js": 'throw new Error("out of luck");' });
        const failed = pulumi("up", "--yes", "--skip-preview", "--non-interactive");
        expect([failed.status, failed.stderr]).toEqual([1, ""]);
        expect(failed.stdout).toContain("failed with an unhandled exception: Error: out of luck");
        it.write({ "index.js": "" });
        step("destroy", "--yes", "--skip-preview", "--non-interactive");
        step("stack", "rm", "--yes", "live");
    });
});

nights("official_api", () => {
    test("errors of the official API have their classes, and stacks keep apart", () => {
        const it = new Project({ "package.json": "{}" });
        const pulumi = pulumiOf(it);
        mkdirSync(join(it.directory, "states"));
        expect(pulumi("login", `file://${join(it.directory, "states")}`).status).toBe(0);
        mkdirSync(join(it.directory, "work"));
        const methods = join(ROOT, "conformance", "automation", "methods.cjs");
        const ran = spawnSync(process.execPath, [methods, "work", join(ROOT, "node-tests"), "errors"], {
            cwd: it.directory,
            env: {
                ...process.env,
                PATH: `${join(it.directory, "tools")}:${process.env.PATH}`,
                PULUMI_BACKEND_URL: `file://${join(it.directory, "states")}`,
                PULUMI_CONFIG_PASSPHRASE: "test",
                PULUMI_HOME: join(it.directory, "home"),
                PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
            },
            encoding: "utf8",
        });
        const rows = ran.stdout.split("\n").filter((line) => line !== "");
        expect(rows.filter((line) => JSON.parse(line).result === "fails")).toEqual([]);
        expect([ran.status, rows.length]).toEqual([0, 3]);
    });
});

describe("verbs", () => {
    test("tags, copies and what Pulumi Cloud has are answered", () => {
        const it = project({ "index.js": "" });
        succeeded("tag", it.run("stack", "tag", "set", "team", "web", "--stack", "dev"));
        expect(it.run("stack", "tag", "ls", "--json", "--stack", "dev").stdout).toBe('{\n  "team": "web"\n}\n');
        const refused = it.run("deployment", "run");
        expect([refused.status, refused.stdout]).toEqual([2, ""]);
        expect(refused.stderr).toContain("`deployment` belongs to Pulumi Cloud");
    });
});

/** Runs a program that uses the official Automation API, on the `pulumi` in the folder `tools`. */
function calling(it: Project, program: string) {
    const env = {
        ...process.env,
        PATH: `${join(it.directory, "tools")}:${process.env.PATH}`,
        PULUMI_BACKEND_URL: `file://${join(it.directory, "states")}`,
        PULUMI_CONFIG_PASSPHRASE: "test",
        DELETED: join(it.directory, "deleted"),
    };
    return spawnSync(process.execPath, [program], { cwd: it.directory, env, encoding: "utf8" });
}

nights("shim", () => {
    test("the official Automation API runs on a `pulumi` that is maloko", () => {
        const it = new Project({ "official.cjs": OFFICIAL, "package.json": "{}" });
        const bin = join(ROOT, "node-tests", "node_modules", ".bin");
        const tools = join(it.directory, "tools");
        const nowhere = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
        expect(it.runWith(nowhere, "shim", "install", tools).output).toContain("is not on PATH; run it with npx");
        const onPath = `${bin}:${process.env.PATH}`;
        succeeded("shim install", it.runWith({ PATH: onPath }, "shim", "install", tools));
        mkdirSync(join(it.directory, "states"));
        const ran = calling(it, "official.cjs");
        expect(ran.stderr).toBe("");
        expect(JSON.parse(ran.stdout)).toEqual({
            previewed: { create: 3 },
            last: true,
            made: { create: 3 },
            outputs: { size: { value: 42, secret: false }, token: { value: "t0p", secret: true } },
            changed: { delete: 1, same: 2 },
            destroyed: "succeeded",
        });
    });
});

describe("inline_code", () => {
    test("dynamic resources of an inline program are run by the caller's own Node", () => {
        const it = new Project({ "service.cjs": INLINE, "package.json": "{}" });
        pulumiOf(it);
        mkdirSync(join(it.directory, "states"));
        const ran = calling(it, "service.cjs");
        expect(ran.stderr).toBe("");
        expect(JSON.parse(ran.stdout)).toEqual({ id: "id-one", length: 3, by: process.execPath });
        expect(readFileSync(join(it.directory, "deleted"), "utf8")).toBe("id-one");
    });
});
