// What python-tests/plugins asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { LocalWorkspace } from "maloko/automation";
import { describe, expect, onTestFinished, test } from "vitest";
import { atNight } from "../support/night";
import { Project, succeeded } from "../support/project";

const nights = atNight(describe);

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PLUGINS = join(ROOT, "conformance", "plugins", "plugins");
const PYTHON = join(ROOT, ".venv", "bin", "python");
const ARCH = process.arch === "x64" ? "amd64" : process.arch;
const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

const PROGRAM = `const pulumi = require("@pulumi/pulumi");
const server = process.env.SERVER;
const opts = server === undefined ? {} : { version: "1.0.0", pluginDownloadURL: server };
new pulumi.CustomResource("probe:index:Thing", "thing", { url: undefined, text: "a" }, opts);
`;

/** A project with a resource of a plugin, what runs commands of it, and what lists the resource's outside world. */
function plugged(place: string, ...command: string[]) {
    const it = new Project({ "index.js": PROGRAM });
    const world = join(it.directory, "world");
    mkdirSync(world);
    const plugin = join(it.directory, place, "pulumi-resource-probe");
    const words = [PYTHON, ...command, join(PLUGINS, "probe.py")].map((word) => `"${word}"`).join(" ");
    it.write({ [`${place}/pulumi-resource-probe`]: `#!/bin/sh\nexec ${words} "$@"\n` });
    chmodSync(plugin, 0o755);
    const variables = { PATH: `${join(it.directory, "bin")}:${process.env.PATH}`, PROBE_WORLD: world };
    const run = (args: string[], more: NodeJS.ProcessEnv = {}) => it.runWith({ ...variables, ...more }, ...args);
    return { it, run, objects: () => readdirSync(world) };
}

describe("plugins", () => {
    test("a plugin that does not start is named with its last words, and one that starts makes its object", () => {
        const { run, objects } = plugged("bin");
        expect(run(UP, { PROBE_FLAGS: "exitStart" }).output).toContain("cannot start: no licence");
        expect(succeeded("up", run(UP))).toContain("+ 1 created");
        expect(objects()).toHaveLength(1);
    });
});

describe("package_command", () => {
    test("the SDK of a package is made, used, made again in a fresh clone, and kept where it was changed by hand", () => {
        const { it, run, objects } = plugged("bin");
        const program = `const parts = require("./sdks/parts");
const thing = new parts.Thing("thing", { text: "hello", size: 3 });
exports.url = thing.url;
exports.token = thing.token;
`;
        it.write({ "index.js": program });

        const added = succeeded("add", run(["package", "add", "--no-link", "probe", "parts", "red"]));

        expect(added).toBe(
            'added: parts 1.0.0, its SDK is in sdks/parts\nuse it: import * as parts from "@pulumi/parts";\n',
        );
        succeeded("up", run(UP));
        expect(objects()).toHaveLength(1);
        const outputs = JSON.parse(run(["stack", "output", "--json", "--stack", "dev"]).stdout);
        expect(outputs).toEqual({ url: expect.stringMatching(/^http:/), token: "[secret]" });
        it.remove("sdks");
        const failed = run(["preview", "--stack", "dev"]);
        expect(failed.status).toBe(1);
        // The program imports a folder of its own here, and so nothing helps it: a package has a name.
        expect(run(["package", "ls"]).stdout).toMatch(/parts +probe@1.0.0 +parts red +missing/);
        const npm = join(it.directory, "bin", "npm");
        it.write({ "bin/npm": '#!/bin/sh\necho "$@" >> asked\n' });
        chmodSync(npm, 0o755);
        expect(succeeded("install", run(["install", "--no-plugins"]))).toContain(
            "made: the SDK of parts in sdks/parts",
        );
        expect(it.read("asked")).toBe("install\ninstall --no-audit --no-fund ./sdks/parts\n");
        expect(succeeded("preview", run(["preview", "--stack", "dev"]))).toContain("2 unchanged");
        it.write({ "sdks/parts/index.d.ts": "// mine\n" });
        const kept = run(["package", "add", "--no-link", "probe", "parts", "red"]);
        expect(kept.stderr).toContain("was changed by hand: index.d.ts; it is kept, and `--force` replaces it");
        expect(it.read("sdks/parts/index.d.ts")).toBe("// mine\n");
    });
});

describe("extensions", () => {
    const program = `const probe = require("./sdks/probe");
const gadgets = require("./sdks/gadgets");
new probe.Thing("plain", { text: "hello" });
const gadget = new gadgets.Thing("gadget", { text: "hello" });
exports.url = gadget.url;
exports.region = gadgets.regionOutput().region;
`;

    test("a plugin serves its package and one that extends it", () => {
        const { it, run, objects } = plugged("bin");
        const extending = join(ROOT, "python-tests", "plugins", "extending_plugin.py");
        it.write({
            "index.js": program,
            "bin/pulumi-resource-probe": `#!/bin/sh\nexec "${PYTHON}" "${extending}" "$@"\n`,
        });
        const extended = () => {
            const calls = it.read("world/.calls").trim().split("\n");
            it.remove("world/.calls");
            return calls.map((line) => JSON.parse(line)).filter((call) => call.method === "parameterize");
        };
        succeeded("add", run(["package", "add", "--no-link", "probe"]));
        succeeded("add", run(["package", "add", "--no-link", "probe", "gadgets"]));

        succeeded("up", run(UP));

        expect(extended()).toMatchObject([{ name: "gadgets", value: "what gadgets is" }]);
        expect(objects().filter((name) => name.endsWith(".json"))).toEqual(["here-gadget.json", "here-plain.json"]);
        const outputs = JSON.parse(run(["stack", "output", "--json", "--stack", "dev"]).stdout);
        expect(outputs).toEqual({ region: "none", url: "http://here-gadget" });
        const exported = JSON.parse(run(["stack", "export", "--stack", "dev"]).stdout);
        expect(exported.features).toEqual(["extensionParameterization"]);
        const [reference] = Object.keys(exported.deployment.extensions);
        const referring = exported.deployment.resources.filter((its: object) => "extensionRef" in its);
        expect(referring).toMatchObject([{ type: "gadgets:index:Thing", extensionRef: reference }]);
        expect(succeeded("up", run(UP))).toContain("3 unchanged");
        extended();
        it.remove("index.js");
        succeeded("destroy", run(["destroy", "--yes", "--skip-preview", "--stack", "dev"]));
        expect(extended()).toMatchObject([{ name: "gadgets", value: "what gadgets is" }]);
        expect(objects().filter((name) => name.endsWith(".json"))).toEqual([]);
    });
});

nights("faults", () => {
    test("a plugin that is cut off when it has created an object loses nothing", () => {
        const { run, objects } = plugged("bin", join(PLUGINS, "cut.py"), PYTHON);
        expect(run(UP, { CUT: "Create:answer" }).status).not.toBe(0);
        expect(objects()).toHaveLength(1);
        expect(run(["stack", "--stack", "dev"]).stdout).toContain("unresolved create");
        expect(succeeded("up", run(UP))).toContain("an earlier run was interrupted while creating this resource");
        expect(objects()).toHaveLength(1);
    });
});

nights("install", () => {
    test("a plugin is downloaded at its first need, and by a workspace", async () => {
        const { it, run, objects } = plugged("served");
        const served = join(it.directory, "served");
        const archive = `pulumi-resource-probe-v1.0.0-${process.platform}-${ARCH}.tar.gz`;
        expect(spawnSync("tar", ["-czf", archive, "pulumi-resource-probe"], { cwd: served }).status).toBe(0);
        const words = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", served];
        const server = spawn(PYTHON, words, { stdio: ["ignore", "pipe", "ignore"] });
        onTestFinished(() => void server.kill("SIGKILL"));
        const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
        const SERVER = `http://127.0.0.1:${/ port (\d+)/.exec(line)?.[1]}`;

        const downloads = { SERVER, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "false" };
        expect(succeeded("up", run(UP, downloads))).toContain("Downloading provider: probe 1.0.0");
        expect(objects()).toHaveLength(1);
        expect(JSON.parse(run(["plugin", "ls", "--json"]).stdout)).toMatchObject([{ name: "probe", version: "1.0.0" }]);
        expect(run(["plugin", "rm", "--all", "--yes"]).stdout).toContain("removed: resource probe-1.0.0");

        const pulumiHome = join(it.directory, "home", ".pulumi");
        const workspace = await LocalWorkspace.create({ workDir: it.directory, pulumiHome });
        await workspace.installPluginFromServer("probe", "v1.0.0", SERVER);
        expect(await workspace.listPlugins()).toMatchObject([{ name: "probe", kind: "resource", version: "1.0.0" }]);
        await workspace.removePlugin("probe", "<2.0.0");
        expect(existsSync(join(pulumiHome, "plugins", "resource-probe-v1.0.0"))).toBe(false);
    });
});
