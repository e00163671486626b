// Plugins that are installed, by commands and by runs, from a server on this machine.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { LocalWorkspace } from "maloko/automation";
import { expect, onTestFinished, test } from "vitest";
import { Project, succeeded } from "../support/project";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PROBE = join(ROOT, "conformance", "plugins", "plugins", "probe.py");
const PYTHON = join(ROOT, ".venv", "bin", "python");
const ARCH = process.arch === "x64" ? "amd64" : process.arch;
const ARCHIVE = `pulumi-resource-probe-v1.0.0-${process.platform}-${ARCH}.tar.gz`;
const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
const SWITCH = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION";

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");

class Thing extends pulumi.CustomResource {
    constructor(name) {
        super("probe:index:Thing", name, { size: 1 }, { version: "1.0.0", pluginDownloadURL: process.env.SERVER });
    }
}
new Thing("thing");
`;

// Names and texts of an archive's members come as JSON.
const PACK = `
import io, json, sys, tarfile
with tarfile.open(sys.argv[1], "w:gz") as archive:
    for name, text in json.loads(sys.argv[2]).items():
        member = tarfile.TarInfo(name)
        member.mode, member.size = 0o755, len(text.encode())
        archive.addfile(member, io.BytesIO(text.encode()))
`;

/** A project whose plugin is at a server, and nowhere else. */
class Store {
    readonly project = new Project({ "index.js": PROGRAM });
    readonly served = join(this.project.directory, "served");
    readonly archive = join(this.served, ARCHIVE);
    readonly plugins = join(this.project.directory, "home", ".pulumi", "plugins");
    readonly installed = join(this.plugins, "resource-probe-v1.0.0");
    readonly #world = join(this.project.directory, "world");
    address = "";

    constructor() {
        mkdirSync(this.#world);
        mkdirSync(this.served);
        this.pack({ "pulumi-resource-probe": `#!/bin/sh\nexec "${PYTHON}" "${PROBE}" "$@"\n` });
    }

    async serve(): Promise<this> {
        const words = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", this.served];
        const server = spawn(PYTHON, words, { stdio: ["ignore", "pipe", "ignore"] });
        onTestFinished(() => void server.kill("SIGKILL"));
        const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
        this.address = `http://127.0.0.1:${/ port (\d+)/.exec(line)?.[1]}`;
        return this;
    }

    pack(members: Record<string, string>): void {
        const packed = spawnSync(PYTHON, ["-c", PACK, this.archive, JSON.stringify(members)], { encoding: "utf8" });
        expect(packed.status, packed.stderr).toBe(0);
    }

    checksum(): string {
        return createHash("sha256").update(readFileSync(this.archive)).digest("hex");
    }

    #variables(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
        return { SERVER: this.address, PROBE_WORLD: this.#world, [SWITCH]: "false", ...more };
    }

    /** Runs a command that must succeed; what it said. */
    ok(command: string[], more: NodeJS.ProcessEnv = {}): string {
        return succeeded(command.join(" "), this.project.runWith(this.#variables(more), ...command));
    }

    /** Runs a command that must fail; what it said. */
    failing(command: string[], more: NodeJS.ProcessEnv = {}): string {
        const { status, output } = this.project.runWith(this.#variables(more), ...command);
        expect(status, output).not.toBe(0);
        return output;
    }

    objects(): string[] {
        return readdirSync(this.#world).map((file) => file.replace(/\.json$/, ""));
    }

    listed(...more: string[]): Record<string, unknown>[] {
        return JSON.parse(this.ok(["plugin", "ls", "--json", ...more])) as Record<string, unknown>[];
    }
}

const store = (): Promise<Store> => new Store().serve();

test("a plugin that nobody has is downloaded at its first need", async () => {
    const its = await store();
    expect(its.ok(UP)).toContain("Downloading provider: probe 1.0.0");
    expect(its.objects()).toEqual(["here-thing-1"]);
    expect(existsSync(join(its.installed, "pulumi-resource-probe"))).toBe(true);
    expect(existsSync(`${its.installed}.partial`)).toBe(false);
    expect(existsSync(`${its.installed}.lastused`)).toBe(true);

    expect(its.ok(UP)).not.toContain("Downloading");

    // A destroy has no program, but the state knows where the plugin came from.
    its.ok(["plugin", "rm", "--all", "--yes"]);
    expect(its.ok(DESTROY)).toContain("Downloading provider: probe 1.0.0");
    expect(its.objects()).toEqual([]);
});

test("a run that may not download says how to get the plugin", async () => {
    const its = await store();
    const said = its.failing(UP, { [SWITCH]: "true" });
    expect(said).toContain("no resource plugin 'pulumi-resource-probe' found in the workspace at version v1.0.0");
    expect(said).toContain(`maloko plugin install resource probe 1.0.0 --server ${its.address}`);
    expect(said).toContain(`${SWITCH} is set`);
    expect(existsSync(its.installed)).toBe(false);

    its.ok(["plugin", "install", "resource", "probe", "1.0.0", "--server", its.address]);
    its.ok(UP, { [SWITCH]: "true" });
    expect(its.objects()).toEqual(["here-thing-1"]);
});

test("a plugin that cannot be downloaded is an error with its address", async () => {
    const its = await store();
    rmSync(its.archive);
    const said = its.failing(UP);
    expect(said).toContain(`${its.address}/${ARCHIVE} answered 404`);
    expect(said).toContain("maloko plugin install resource probe 1.0.0");
    expect(its.objects()).toEqual([]);
    // It is tried five times, and told of once.
    const nowhere = ["plugin", "install", "resource", "probe", "1.0.0", "--server", "http://127.0.0.1:1"];
    expect(its.failing(nowhere).split("Downloading provider")).toHaveLength(2);
});

test("plugins are installed, listed and removed", async () => {
    const its = await store();
    const install = ["plugin", "install", "resource", "probe", "1.0.0", "--server", its.address];
    expect(its.failing([...install, "--checksum", "0".repeat(64)])).toContain(its.checksum());
    expect(its.listed()).toEqual([]);

    expect(its.ok([...install, "--checksum", its.checksum()])).toContain("installed: resource probe-1.0.0");
    expect(its.ok(install)).toContain("already installed: resource probe-1.0.0");
    const size = statSync(join(its.installed, "pulumi-resource-probe")).size;
    expect(its.listed()).toMatchObject([{ name: "probe", kind: "resource", version: "1.0.0", size }]);
    expect(its.listed()[0]).toHaveProperty("installTime");
    expect(its.ok(["plugin", "ls"])).toContain("probe  resource  1.0.0");

    const none = ["plugin", "rm", "resource", "probe", "2.0.0", "--yes"];
    expect(its.project.runWith({}, ...none)).toMatchObject({
        status: 0,
        stderr: expect.stringContaining("no plugin in"),
    });
    expect(its.failing(["plugin", "rm", "resource", "probe"])).toContain("add --yes");
    const said = its.ok(["plugin", "rm", "resource", "probe", ">=1.0.0 <2.0.0", "--yes"]);
    expect(said).toContain("removed: resource probe-1.0.0");
    expect(its.listed()).toEqual([]);
});

test("an archive of this machine needs no network", async () => {
    const its = await store();
    its.ok(["plugin", "install", "resource", "probe", "1.0.0", "--file", its.archive]);
    expect(its.listed()).toMatchObject([{ version: "1.0.0" }]);
});

test("an archive that would write elsewhere is refused", async () => {
    const its = await store();
    its.pack({ "../../escaped": "#!/bin/sh\n" });
    const said = its.failing(["plugin", "install", "resource", "probe", "1.0.0", "--server", its.address]);
    expect(said).toContain("a path outside of the plugin's folder: '../../escaped'");
    expect(existsSync(join(its.project.directory, "home", ".pulumi", "escaped"))).toBe(false);
    expect(its.listed()).toEqual([]);
});

test("all that a project needs is installed", async () => {
    const its = await store();
    const sdk = { resource: true, name: "probe", version: "1.0.0", server: its.address };
    its.project.write({
        "Pulumi.yaml": "name: test\nruntime: nodejs\nmain: app\n",
        "app/index.js": 'require("@pulumi/probe");\n',
        "app/package.json": "{}",
        "app/node_modules/@pulumi/probe/package.json": JSON.stringify({ name: "@pulumi/probe", pulumi: sdk }),
    });

    expect(its.failing(["check"])).toContain("the package 'probe 1.0.0' is used: no resource plugin");
    const about = JSON.parse(its.ok(["about", "--json"])) as { plugins: unknown };
    expect(about.plugins).toEqual([{ name: "probe", version: "1.0.0", place: null }]);
    expect(its.listed("--project")).toEqual([{ name: "probe", kind: "resource", version: "1.0.0" }]);

    expect(its.ok(["plugin", "install"])).toContain("installed: resource probe-1.0.0");
    expect(its.ok(["plugin", "install"])).toContain("already there: resource probe 1.0.0");
    expect(its.ok(["check"])).toContain("the package 'probe 1.0.0' is served by");
    expect(its.listed("--project")).toMatchObject([{ name: "probe" }]);
    expect(its.ok(["about"])).toContain(its.installed);
});

test("a workspace installs, lists and removes plugins", async () => {
    const its = await store();
    const workspace = await LocalWorkspace.create({ workDir: its.project.directory, pulumiHome: dirname(its.plugins) });
    await workspace.installPluginFromServer("probe", "v1.0.0", its.address);
    expect(await workspace.listPlugins()).toMatchObject([{ name: "probe", kind: "resource", version: "1.0.0" }]);
    expect(existsSync(its.installed)).toBe(true);
    // It is there, so nothing is asked.
    await workspace.installPlugin("probe", "v1.0.0");
    await workspace.removePlugin("probe", "<2.0.0");
    expect(await workspace.listPlugins()).toEqual([]);
});

test("a plugin that is a program is installed as a folder", async () => {
    const its = await store();
    const runtime = { name: "python", options: { virtualenv: join(ROOT, ".venv") } };
    its.pack({ "PulumiPlugin.yaml": JSON.stringify({ runtime }), "__main__.py": readFileSync(PROBE, "utf8") });
    its.ok(UP);
    expect(its.objects()).toEqual(["here-thing-1"]);
});

test("a plugin whose packages cannot be installed is none", async () => {
    const its = await store();
    const member = { dependencies: { missing: "file:./is-not-there.tgz" } };
    its.pack({ "PulumiPlugin.yaml": "runtime: nodejs", "package.json": JSON.stringify(member) });
    const install = ["plugin", "install", "resource", "probe", "1.0.0", "--server", its.address];
    const said = its.failing(install);
    expect(said).toContain("probe 1.0.0 is not installed: the plugin needs `npm install`");
    expect(said).toContain("is-not-there");
    expect(existsSync(its.installed)).toBe(false);
    expect(its.listed()).toEqual([]);
});

test("an installation that is killed leaves nothing that counts", async () => {
    const its = await store();
    const good = readFileSync(its.archive);
    its.pack({ "PulumiPlugin.yaml": "runtime: nodejs", "package.json": "{}" });
    // It ends with whoever has called it.
    its.project.write({ "bin/npm": "#!/bin/sh\nwhile kill -0 $PPID; do sleep 0.1; done\n", started: "" });
    chmodSync(join(its.project.directory, "bin", "npm"), 0o755);
    const path = { PATH: `${join(its.project.directory, "bin")}:${process.env.PATH}` };
    const install = ["plugin", "install", "resource", "probe", "1.0.0", "--server", its.address];
    await its.project.interrupted(
        install,
        async (command) => {
            await command.said("Running `npm install`");
            command.signal("SIGKILL");
        },
        path,
    );
    expect(existsSync(`${its.installed}.partial`)).toBe(true);
    expect(its.listed()).toEqual([]);

    writeFileSync(its.archive, good);
    expect(its.ok(install)).toContain("installed: resource probe-1.0.0");
    expect(readdirSync(its.installed)).toEqual(["pulumi-resource-probe"]);
    expect(existsSync(`${its.installed}.partial`)).toBe(false);
    expect(its.listed()).toMatchObject([{ version: "1.0.0" }]);
});
