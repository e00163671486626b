// What python-tests/command_line asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LocalWorkspace } from "maloko/automation";
import { describe, expect, onTestFinished, test } from "vitest";
import { atNight } from "../support/night";
import { dataOf } from "../support/pages";
import { type Interrupted, Project, project } from "../support/project";

const nights = atNight(describe);

const nightly = atNight(test);

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

const THINGS = `const pulumi = require("@pulumi/pulumi");
class ThingProvider {
    async create(inputs) {
        if (inputs.size === "raises") {
            throw new RangeError("the quota is used up");
        }
        return { id: inputs.size, outs: inputs };
    }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name, size) { super(new ThingProvider(), name, { size }); }
}
`;

describe("bad_input", () => {
    test("what is wrong is told on stderr alone, with its line", () => {
        const it = project({ "index.js": "" });
        const file = join(it.directory, "Pulumi.yaml");
        writeFileSync(file, "name: test\nruntime: nodejs\nconfig:\n  - a\n");
        for (const more of [[], ["--json"]]) {
            const { status, stdout, stderr } = it.run(...UP, ...more);
            expect([status, stdout]).toEqual([2, ""]);
            expect(stderr).toContain(`${file}:3: \`config\` must be a mapping; it is a list`);
        }
        it.write({ "Pulumi.yaml": "name: test\nruntime: python\n" });
        expect(it.run(...UP).stderr).toContain("python -m maloko");
    });

    nightly("exit codes and variables come through", () => {
        const it = project({ "index.js": "" });
        expect(it.run("up", "--yes", "--stack", "nope").status).toBe(6);
        const { status, output } = it.runWith({ PULUMI_CONFIG_PASSPHRASE: "wrong" }, ...UP);
        expect(status).not.toBe(0);
        expect(output).toContain("incorrect passphrase: the one in PULUMI_CONFIG_PASSPHRASE");
    });

    test("check reads what the program imports, and a run names the plugin that is missing", () => {
        const it = project({
            "index.js": `require("@pulumi/acme/web");\nrequire("@pulumi/pulumi").runtime.invoke("aws:s3:get", {});`,
        });
        const { output } = it.run("check");
        expect(output).toContain("index.js:1: the SDK '@pulumi/acme' is imported and not installed");
        expect(output).toContain("index.js:2: the package 'aws' is used");
        it.write({ "index.js": `${THINGS}new pulumi.CustomResource("aws:s3/bucket:Bucket", "pictures", {});` });
        expect(it.run(...UP).output).toContain("no resource plugin 'pulumi-resource-aws' found");
    });

    test("an entry point that is missing is named once with what is used in its place", () => {
        const it = project({ "package.json": '{"main": "bin/index.js"}', "index.js": `${THINGS}new Thing("a", "s");` });
        const output = it.ok("up", "--yes");
        const said = `could not find the entry point ${it.directory}/bin/index.js that ${it.directory}/package.json names; using ${it.directory}/index.js in its place`;
        expect(output.split(said)).toHaveLength(2);
        expect(output.split("could not find the entry point")).toHaveLength(2);
    });
});

nights("reading", () => {
    test("a failure has its error and its place, and the frames are there for those who want them", () => {
        const it = project({ "index.js": `${THINGS}new Thing("first", "raises");` });
        const [plain, traced] = [it.run(...UP), it.run(...UP, "--show-tracebacks")];
        expect(plain.status).toBe(1);
        expect(plain.stdout).toMatch(
            /^! Resource first failed to create .*RangeError: the quota is used up\n {4}at ThingProvider\.create \(index\.js:5\)$/m,
        );
        expect(plain.stdout).not.toContain("    at ThingProvider.create (/");
        expect(traced.stdout).toMatch(/^ +at ThingProvider\.create \(.*index\.js:5:\d+\)$/m);
        expect(it.ok("stack", "--stack", "dev")).toContain("RangeError: the quota is used up");
    });

    test("a target may be given by its name", () => {
        const it = project({ "index.js": `${THINGS}new Thing("first", "s"); new Thing("second", "s");` });
        const planned = it.ok("preview", "--stack", "dev", "--target", "first");
        expect(planned).toContain("+ Resource first");
        expect(planned).not.toContain("Resource second");
    });
});

nights("control_characters", () => {
    test("names and errors give no orders to a terminal", () => {
        const it = project({ "index.js": `${THINGS}new Thing("evil\\x1b[2J\\nForged: line", "s");` });
        const said = it.ok(...UP);
        expect(said).toContain("Resource evil");
        expect(said).not.toContain("\x1b");
        expect(said).not.toMatch(/^Forged/m);
    });
});

describe("page", () => {
    test("a run has a page, with the error on its call and the place in the program", () => {
        const it = project({ "index.js": `${THINGS}new Thing("first", "raises");` });
        expect(it.run(...UP, "--page", "run.html").status).toBe(1);
        const { run, resources } = dataOf(it.read("run.html"));
        const [failed] = run.activities.filter(({ outcome }: { outcome?: string }) => outcome === "failed");
        expect(resources[failed.resource]).toMatchObject({ name: "first" });
        expect(failed).toMatchObject({ name: "create", error: expect.stringContaining("the quota is used up") });
        expect(failed.traceback).toContain("index.js");
        expect(dataOf(it.ok("stack", "history", "page", "1", "-o", "-", "--stack", "dev")).run.outcome).toBe("failed");
        expect(it.ok("preview", "--stack", "dev", "--summary", "markdown")).toMatch(
            /^### Preview of `test\/dev` succeeded/,
        );
    });

    nightly("a live page is served while the program runs", async () => {
        const it = project({
            "index.js": `const fs = require("fs"); fs.writeFileSync("started", "");
(async () => { while (!fs.existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 5)); })();`,
        });
        const { status } = await it.interrupted([...UP, "--page-live"], async (run) => {
            await run.said(/Follow the run at http:\S+\n/);
            const [, place = ""] = /Follow the run at (http:\S+)/.exec(run.output()) ?? [];
            const answer = await fetch(place);
            expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('id="maloko-data"')]);
            it.write({ go: "" });
        });
        expect(status).toBe(0);
    });
});

nights("selection", () => {
    test("a terminal makes a stack, which is selected from then on", async () => {
        const it = new Project({ "index.js": "" }, onTestFinished, {}, false);
        expect(it.run("up", "--yes").output).toContain("no stack is selected");
        const shown = await it.onTerminal(["up", "--yes"], ["Name of the new stack", "\r"]);
        expect(shown).toContain("Created stack 'dev'");
        expect(it.ok("up", "--yes", "--skip-preview")).toContain("unchanged");
    });
});

nights("true_display", () => {
    test("off a terminal a long create is reported as still going, and the program goes on", async () => {
        const it = project({
            started: "",
            "index.js": `${THINGS}const fs = require("fs");
ThingProvider.prototype.create = async () => {
    while (!fs.existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 5));
    return { id: "made", outs: {} };
};
new Thing("long", "s");`,
        });
        const seen = async (run: Interrupted) => {
            await run.said("long: still creating (1");
            it.write({ go: "" });
        };
        expect((await it.interrupted(UP, seen, { MALOKO_PROGRESS_SECONDS: "1" })).status).toBe(0);
    });
});

nights("json_reasons", () => {
    test("json has the reasons of the text", () => {
        const it = project({ "index.js": `${THINGS}new Thing("first", process.env.SIZE);` });
        it.runWith({ SIZE: "s" }, ...UP);
        const changed = (...more: string[]) => it.runWith({ SIZE: "m" }, "preview", ...more).stdout;
        expect(changed()).toContain("~ Resource first update [~size]");
        const { steps } = JSON.parse(changed("--json")) as { steps: { urn: string }[] };
        const updated = { op: "update", diffReasons: ["size"] };
        expect(steps.filter(({ urn }) => urn.endsWith("::first"))).toMatchObject([updated]);
        const { resources } = JSON.parse(changed("--output", "json")) as { resources: { urn: string }[] };
        expect(resources.filter(({ urn }) => urn.endsWith("::first"))).toMatchObject([updated]);
    });
});

describe("first_use", () => {
    nightly("results are one line of JSON, and help and the state's commands answer", () => {
        const it = project({ "index.js": `${THINGS}new Thing("first", "s");` });
        const { stdout, stderr } = it.run("up", "--yes", "--output", "json");
        expect(stdout.split("\n")).toHaveLength(2);
        expect(JSON.parse(stdout)).toMatchObject({ result: "succeeded", summary: { create: 2 } });
        expect(stderr).toContain("Resource first");
        expect(it.ok("state", "protect", "--all", "--yes")).toBe("All resources protected\n");
        expect(it.ok("help", "backends")).toMatch(/^# /);
        expect(it.run("stack", "init", "feature/x").status).toBe(2);
    });

    test("a project is made of a template, by the command and by the automation API", async () => {
        const it = project({ "index.js": "" });
        it.write({
            "template/Pulumi.yaml": `name: $\{PROJECT}\nruntime: nodejs\ntemplate:\n  config:\n    token:\n      secret: true\n`,
            "template/index.js": `exports.project = "$\{PROJECT}";\n`,
        });
        it.ok("new", "template", "--dir", "made", "--name", "labels", "--yes", "-c", "token=hush-hush-1");
        expect(it.ok("config", "get", "token", "--cwd", "made")).toBe("hush-hush-1\n");
        it.ok("up", "--yes", "--skip-preview", "--cwd", "made");
        expect(it.ok("stack", "output", "project", "--cwd", "made")).toBe("labels\n");

        const envVars = { PULUMI_CONFIG_PASSPHRASE: "test", PULUMI_BACKEND_URL: `file://${it.directory}` };
        const workspace = await LocalWorkspace.create({ workDir: it.directory, envVars });
        const made = { templateOrUrl: join(it.directory, "template"), dir: "again", name: "again", stack: "live" };
        await workspace.new({ ...made, config: ["color=blue"] });
        expect(it.runWith(envVars, "config", "get", "color", "--stack", "live", "--cwd", "again").stdout).toBe(
            "blue\n",
        );
        await workspace.new({ ...made, dir: "files", generateOnly: true });
        expect(existsSync(join(it.directory, "files", "index.js"))).toBe(true);
        expect(existsSync(join(it.directory, "files", ".maloko"))).toBe(false);
    });
});
