// Resources of provider plugins beside dynamic ones, on the command line: real plugins in processes of their own.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
    chmodSync,
    constants,
    cpSync,
    existsSync,
    mkdirSync,
    openSync,
    readdirSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from "node:fs";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { atNight } from "../support/night";
import { Project, succeeded } from "../support/project";

const nightly = atNight(test);

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PROBE = join(ROOT, "conformance", "plugins", "plugins", "probe.py");
const ENVIRONMENT = join(ROOT, ".venv");
const PYTHON = join(ENVIRONMENT, "bin", "python");

// `INPUTS` are inputs of the resource of the plugin, as JSON; `hush` makes a secret input of it, `file` an asset,
// `take` is an object to import.
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");

class Notes {
    async create(props) { return { id: "note-1", outs: { ...props, length: props.token.length } }; }
    async update(id, olds, news) { return { outs: { ...news, length: news.token.length } }; }
}
class Note extends pulumi.dynamic.Resource {
    constructor(name, props) { super(new Notes(), name, { length: undefined, ...props }); }
}
class Thing extends pulumi.CustomResource {
    constructor(name, props, opts) { super("probe:index:Thing", name, { url: undefined, token: undefined, ...props }, opts); }
}

const { hush, take, ...inputs } = JSON.parse(process.env.INPUTS ?? "{}");
if (inputs.file !== undefined) {
    inputs.file = new pulumi.asset.StringAsset(inputs.file);
}
if (hush !== undefined) {
    inputs.say = pulumi.secret(hush);
}
const thing = new Thing("thing", { size: 1, ...inputs }, { import: take });
const note = new Note("note", { token: thing.token, url: thing.url, text: inputs.text });
exports.url = thing.url;
exports.token = thing.token;
exports.length = note.length;
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
const TOKEN = "token-here-thing-1";

/** A project with the program, and the outside world of its plugin. */
class Plugged {
    readonly project = new Project({ "index.js": PROGRAM });
    readonly world = join(this.project.directory, "world");
    readonly #pids = join(this.project.directory, "pids");
    readonly #variables: NodeJS.ProcessEnv = { PROBE_WORLD: this.world };
    #alive = -1;

    constructor() {
        mkdirSync(this.world);
    }

    /**
     * Each process of the plugin writes down its id before it begins, and holds a pipe open as long as it lives. It does not outlive
     * the test.
     */
    putOnPath(): void {
        const pipe = join(this.project.directory, "alive");
        spawnSync("mkfifo", [pipe]);
        this.#alive = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
        const script = `#!/bin/sh\necho $$ >> "${this.#pids}"\nexec 9> "${pipe}"\nexec "${PYTHON}" "${PROBE}" "$@"\n`;
        this.project.write({ "bin/pulumi-resource-probe": script });
        chmodSync(join(this.project.directory, "bin", "pulumi-resource-probe"), 0o755);
        this.#variables.PATH = `${join(this.project.directory, "bin")}:${process.env.PATH}`;
        onTestFinished(() => {
            for (const pid of this.#started().filter(isAlive)) {
                process.kill(pid, "SIGKILL");
            }
        });
    }

    #started(): number[] {
        return existsSync(this.#pids) ? readFileSync(this.#pids, "utf8").trim().split("\n").map(Number) : [];
    }

    variables(inputs: object = {}): NodeJS.ProcessEnv {
        return { ...this.#variables, INPUTS: JSON.stringify(inputs) };
    }

    /** Runs a command that must succeed; what it said. */
    ok(command: string[], inputs: object = {}, more: NodeJS.ProcessEnv = {}): string {
        const outcome = this.project.runWith({ ...this.variables(inputs), ...more }, ...command);
        return succeeded(command.join(" "), outcome);
    }

    /** Runs an update that must fail; what it said. */
    failing(inputs: object = {}, more: NodeJS.ProcessEnv = {}): string {
        const { status, output } = this.project.runWith({ ...this.variables(inputs), ...more }, ...UP);
        expect(status, output).not.toBe(0);
        return output;
    }

    /** Runs an update whose create goes on for seconds, and gets a signal meanwhile. */
    async signalledInCreate(seconds: number, signal: NodeJS.Signals): Promise<number | null> {
        this.project.write({ started: "" });
        const { status, output } = await this.project.interrupted(
            UP,
            async (command) => {
                await command.said("info from create");
                command.signal(signal);
            },
            this.variables({ log: true, sleep: seconds, sleepIn: "create" }),
        );
        expect(output).toContain("info from create");
        return status;
    }

    objects(): string[] {
        return readdirSync(this.world)
            .map((file) => file.replace(/\.json$/, ""))
            .sort();
    }

    object(id: string): string {
        return readFileSync(join(this.world, `${id}.json`), "utf8");
    }

    /** All that was written about the stack: state, journal and history. */
    written(): string {
        const own = join(this.project.directory, ".maloko");
        const files = readdirSync(own, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
        return files.map((file) => readFileSync(join(file.parentPath, file.name), "utf8")).join("\n");
    }

    /** Waits until no process of the plugin is left; there was at least one. */
    async ends(): Promise<void> {
        expect(this.#started()).not.toEqual([]);
        // It begins to read at once, and before there is a writer a pipe is at its end.
        const pipe = new Socket({ fd: this.#alive, writable: false });
        await once(pipe.resume(), "close");
    }
}

/** Is it in the table of processes, and not only because nobody has asked for its exit code? */
function isAlive(pid: number): boolean {
    const said = spawnSync("ps", ["-o", "stat=", "-p", `${pid}`], { encoding: "utf8" }).stdout.trim();
    return said !== "" && !said.startsWith("Z");
}

const without = (): Plugged => new Plugged();

function plugged(): Plugged {
    const its = new Plugged();
    its.putOnPath();
    return its;
}

test("a plugin's resource and a dynamic one live in one stack", () => {
    const its = plugged();
    expect(its.ok(UP)).toContain("+ 3 created");
    expect(its.objects()).toEqual(["here-thing-1"]);
    const outputs = its.ok(["stack", "output", "--json", "--show-secrets", "--stack", "dev"]);
    expect(JSON.parse(outputs)).toEqual({ url: "http://here-thing-1", token: TOKEN, length: TOKEN.length });

    expect(its.ok(UP)).toContain("3 unchanged");

    expect(its.ok(UP, { text: "new" })).toContain("~ 2 updated");
    expect(JSON.parse(its.object("here-thing-1")).text).toBe("new");

    expect(its.ok(DESTROY)).toContain("- 3 deleted");
    expect(its.objects()).toEqual([]);
    expect(its.project.resources()).toEqual([]);
});

test("a secret of a plugin is never written in plain text", () => {
    const its = plugged();
    const said = its.ok(UP) + its.ok(UP, { text: "new" });
    expect(said).toContain("[secret]");
    expect(said).not.toContain(TOKEN);
    expect(its.written()).toContain("http://here-thing-1");
    expect(its.written()).not.toContain(TOKEN);
});

test("a plugin that is not there is named with what to do", () => {
    const its = without();
    const said = its.failing();
    expect(said).toContain("no resource plugin 'pulumi-resource-probe' found");
    expect(said).toContain("Put its executable into a folder of $PATH");
    expect(said).toContain("plugin install resource probe");
    expect(its.project.resources()).toEqual([]);
});

test.each([
    ["badPort", ["its first line has to be the port on which it listens, and is 'hello'"]],
    ["exitStart", ["it ended before it told its port (exit status: 7)", "cannot start: no licence"]],
    ["configureFails", ["the configuration is refused"]],
])("a plugin that does not start is an error with its last words: %s", async (flag, words) => {
    const its = plugged();
    const said = its.failing({}, { PROBE_FLAGS: flag });
    expect(words.filter((word) => !said.includes(word))).toEqual([]);
    expect(its.project.resources()).toEqual([]);
    await its.ends();
});

test.each([
    ["1", "it has not told its port within 1 s"],
    ["soon", "it must be a whole number of seconds, at least 1"],
])("the environment says how long a plugin may take to start: %s", (seconds, told) => {
    const its = plugged();
    expect(its.failing({}, { PROBE_FLAGS: "hangStart", MALOKO_PLUGIN_START_SECONDS: seconds })).toContain(told);
    expect(its.project.resources()).toEqual([]);
});

test("no plugin is left after a run", async () => {
    const its = plugged();
    its.ok(UP);
    await its.ends();
});

nightly("no plugin is left after a run that failed", async () => {
    const its = plugged();
    expect(its.failing({ fail: "create" })).toContain("create refused");
    await its.ends();
});

test("no plugin is left after a run that was killed", async () => {
    const its = plugged();
    await its.signalledInCreate(3600, "SIGKILL");
    await its.ends();
});

nightly("a create in which the plugin dies stays unresolved", async () => {
    const its = plugged();
    const said = its.failing({ crash: "create" });
    expect(said).toContain("thing failed to create");
    expect(said).toContain("the plugin's process has ended in the middle of the call");
    expect(said).toContain("about to crash");
    const listed = its.ok(["stack", "--stack", "dev"]);
    expect(listed).toContain("1 unresolved create, whose object may exist");
    expect(listed).toContain("probe:index:Thing::thing");
    expect(its.objects()).toEqual([]);

    // An attempt that fails cleanly says nothing of the first one.
    expect(its.failing({ fail: "create" })).toContain("plugins cannot look for them");
    expect(its.ok(["stack", "--stack", "dev"])).toContain("1 unresolved create, whose object may exist");

    const times = (said: string, text: string) => said.split(text).length - 1;
    const named = "an earlier run was interrupted while creating this resource";
    const shown = its.ok(["preview", "--stack", "dev"]);
    expect([times(shown, named), times(shown, "take it over with"), times(shown, "'find'")], shown).toEqual([1, 1, 0]);
    const again = its.ok(UP);
    expect(times(again, named)).toBe(1);
    expect(again).toContain("its plugin cannot look for the object, so it is created again");
    expect(again).not.toContain("operation key");
    expect(its.ok(["stack", "--stack", "dev"])).not.toContain("unresolved");
    expect(its.objects()).toEqual(["here-thing-1"]);
    expect(its.project.resources()).toEqual(["thing", "note"]);
    await its.ends();
});

nightly("an update in which the plugin dies is named by the next preview and update", () => {
    const its = plugged();
    its.ok(UP);
    its.failing({ text: "new", crash: "update" });
    for (const command of [["preview", "--stack", "dev"], UP]) {
        const said = its.ok(command);
        expect(said.split("an earlier run was interrupted while updating this resource"), said).toHaveLength(2);
    }
});

nightly("a stack with nothing but its own resource is refreshed without its program", () => {
    const its = without();
    its.project.write({ "index.js": "" });
    its.ok(UP);
    its.project.write({ "index.js": "throw new Error('the program ran');" });
    const refresh = ["refresh", "--yes", "--skip-preview", "--stack", "dev"];
    expect(its.ok(refresh)).not.toContain("the program ran");
    expect(its.ok([...refresh, "--run-program"])).toContain("the program ran");
});

test("Ctrl-C in a plugin's create ends the run soon", async () => {
    const its = plugged();
    expect(await its.signalledInCreate(3600, "SIGINT")).not.toBe(0);
    expect(its.project.resources()).not.toContain("note");
    await its.ends();
});

nightly("what a plugin logs stands at its resource", () => {
    const said = plugged().ok(UP, { log: true }).split("\n");
    expect(said).toContain("Thing thing: info from create");
    expect(said).toContain("warning: Thing thing: warning from create");
    expect(said.filter((line) => line.includes("debug from"))).toEqual([]);
});

nightly("a secret in what a plugin logs is not shown", () => {
    const its = plugged();
    const said = its.ok(UP, { hush: "very-well-kept" });
    expect(said).toContain("Thing thing: create got [secret]");
    expect(said).not.toContain("very-well-kept");
    expect(its.object("here-thing-1")).toContain("very-well-kept");
});

test("a plugin is told the trace of its call", () => {
    const its = plugged();
    const caller = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    const nobody = ["--otel-traces", "http://127.0.0.1:1"];
    const toldUs = { TRACEPARENT: `00-${caller[0]}-${caller[1]}-01`, TRACESTATE: "vendor=carried" };
    const said = its.ok([...UP, ...nobody], { trace: true }, toldUs);
    const [, trace, span] = /create is below 00-(\w+)-(\w+)-01 of vendor=carried/.exec(said) ?? [];
    expect(trace).toBe(caller[0]);
    expect(span).not.toBe(caller[1]);
    expect(its.ok([...UP, "--replace", "thing"], { trace: true })).toContain("create is below no trace");
});

nightly("a plugin gets the names that the configuration proposes", () => {
    const its = plugged();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the pattern is the engine's to fill in
    const naming = 'pulumi:autonaming={"pattern": "${project}-${name}-${hex(6)}"}';
    its.ok([...UP, "-c", naming], { autoname: true });
    const { fullName } = JSON.parse(its.object("here-thing-1")) as { fullName: string };
    expect(fullName).toMatch(/^.+-thing-[0-9a-f]{6}$/);
    expect(its.ok(UP, { autoname: true, fullName })).toContain("3 unchanged");
});

nightly("a plugin that takes no names is a single warning", () => {
    const its = plugged();
    const told = "pulumi:autonaming has no effect on the package 'probe'";
    const flags = { PROBE_FLAGS: "noAutonaming" };
    const said = its.ok([...UP, "-c", 'pulumi:autonaming={"mode": "verbatim"}'], { autoname: true }, flags);
    expect(said.split(told)).toHaveLength(2);
    expect(its.object("here-thing-1")).not.toContain("fullName");
    const settings = 'pulumi:autonaming={"mode": "verbatim", "providers": {"probe": {"mode": "default"}}}';
    expect(its.ok([...UP, "-c", settings], { autoname: true }, flags)).not.toContain(told);
});

nightly("an object whose plugin asks for it is read before its update", () => {
    const its = plugged();
    const wanted = { readFirst: true, text: "mine" };
    const path = join(its.world, "here-thing-1.json");
    const drifts = () => writeFileSync(path, its.object("here-thing-1").replace("mine", "theirs"));
    its.ok(UP, wanted);
    expect(its.written().replaceAll(" ", "")).toContain('"refreshBeforeUpdate":true');
    expect(its.ok(UP, wanted)).toContain("3 unchanged");
    drifts();
    expect(its.ok(["preview", "--stack", "dev"], wanted)).toContain("2 to update");
    its.ok(UP, wanted);
    expect(JSON.parse(its.object("here-thing-1")).text).toBe("mine");
    rmSync(path);
    its.ok(UP, wanted);
    expect(existsSync(path)).toBe(true);
    // What no longer asks for it is not read.
    its.ok(UP, { text: "mine" });
    drifts();
    expect(its.ok(UP, { text: "mine" })).toContain("3 unchanged");
});

nightly("an asset that a plugin returns by its hash keeps its content", () => {
    const its = plugged();
    const wanted = { echo: true, file: "what is in the file" };
    its.ok(UP, wanted);
    its.ok(["refresh", "--yes", "--skip-preview", "--stack", "dev"], wanted);
    const { deployment } = JSON.parse(its.ok(["stack", "export", "--stack", "dev"]));
    const thing = deployment.resources.find(({ type }: { type: string }) => type === "probe:index:Thing");
    expect([thing.inputs.file.text, thing.outputs.file.text]).toEqual(["what is in the file", "what is in the file"]);
    expect(its.ok(UP, wanted)).toContain("3 unchanged");
});

nightly("an import that differs is updated or refused where that is asked for", () => {
    const its = plugged();
    const there = join(its.world, "there.json");
    writeFileSync(there, JSON.stringify({ color: "blue", size: 1, text: "theirs" }));
    const wanted = { take: "there", text: "mine" };
    for (const command of [["preview", "--stack", "dev"], UP]) {
        const refused = [...command, "--refuse-import-differences"];
        const { status, output } = its.project.runWith(its.variables(wanted), ...refused);
        expect(status, output).not.toBe(0);
        expect(output).toContain('* text: the program has "mine", the object has "theirs"');
    }
    expect(its.project.resources()).toEqual([]);
    its.ok(UP, wanted);
    expect(JSON.parse(readFileSync(there, "utf8")).text).toBe("mine");
    expect(its.ok(UP, wanted)).toContain("3 unchanged");
});

test("a preview makes nothing and shows what is not known", async () => {
    const its = plugged();
    const said = its.ok(["preview", "--stack", "dev"]);
    expect(said).toContain("+ Thing thing create");
    expect(said).toContain("url   : [unknown]");
    expect(its.objects()).toEqual([]);
    expect(its.project.resources()).toEqual([]);
    await its.ends();
});

const WAITING = `
const pulumi = require("@pulumi/pulumi");
const thing = new pulumi.CustomResource("probe:index:Thing", "thing", { size: 1 });
const answer = pulumi.runtime.invokeOutput("probe:index:add", { a: 1, log: true }, { dependsOn: [thing] });
exports.sum = answer.apply((it) => it.sum);
`;

test("a function is called when what it depends on is there", () => {
    const its = plugged();
    its.project.write({ "index.js": WAITING });
    let said = its.ok(["preview", "--stack", "dev"]);
    expect(said).not.toContain("info from invoke");
    expect(said).toContain("sum: [unknown]");
    said = its.ok(UP);
    expect(said).toContain("info from invoke");
    expect(said).toContain("sum: 1");
    expect(its.ok(["preview", "--stack", "dev"])).toContain("info from invoke");
});

nightly("a program that requires another version of Pulumi is refused", () => {
    const requiring = (range: string): Record<string, string> => ({
        "index.js": `module.exports = async () => { await require("@pulumi/pulumi").runtime.requirePulumiVersion("${range}"); };`,
    });
    const project = new Project(requiring(">=3.0.0"));
    succeeded("preview", project.run("preview", "--stack", "dev"));
    project.write(requiring("<2.0.0 || >900.0.0"));
    expect(project.run("preview", "--stack", "dev").output).toContain(
        "Pulumi <2.0.0 || >900.0.0 is required, and maloko behaves as Pulumi 3.",
    );
    project.write({
        "index.js": "",
        "Pulumi.yaml": 'name: test\nruntime: nodejs\nrequiredPulumiVersion: ">=900.0.0"\n',
    });
    const { status, output } = project.run("preview", "--stack", "dev");
    expect(status).not.toBe(0);
    expect(output).toContain("Pulumi.yaml:3: Pulumi >=900.0.0 is required");
});

const WITH_A_FOLDER = "name: test\nruntime: nodejs\nplugins:\n  providers:\n    - name: probe\n      path: ./plugin\n";
const WITH_A_PACKAGE = "name: test\nruntime: nodejs\npackages:\n  probe: ./plugin\n";

test.each([WITH_A_FOLDER, WITH_A_PACKAGE])("a plugin in a folder of the project runs in its environment", (file) => {
    const its = without();
    const runtime = { name: "python", options: { virtualenv: ENVIRONMENT } };
    its.project.write({ "Pulumi.yaml": file, "plugin/PulumiPlugin.yaml": JSON.stringify({ runtime }) });
    cpSync(PROBE, join(its.project.directory, "plugin", "__main__.py"));
    expect(its.ok(UP)).toContain("+ 3 created");
    expect(its.objects()).toEqual(["here-thing-1"]);
});

nightly("an environment that is not there is named", () => {
    const its = without();
    its.project.write({
        "Pulumi.yaml": WITH_A_FOLDER,
        "plugin/PulumiPlugin.yaml": "runtime: python\n",
        "plugin/__main__.py": "",
    });
    const environment = join(its.project.directory, "plugin", "venv");
    const said = its.failing().replaceAll("./", "");
    expect(said).toContain(`needs the Python environment ${environment}, which is not there`);
    expect(its.project.resources()).toEqual([]);
});

nightly("a plugin that runs already is attached and goes on", async () => {
    const its = without();
    const env = { ...process.env, ...its.variables() };
    const running = spawn(PYTHON, [PROBE], { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void running.kill("SIGKILL"));
    const [port] = (await once(createInterface({ input: running.stdout }), "line")) as [string];
    const attached = { PULUMI_DEBUG_PROVIDERS: `probe:${port}` };
    expect(its.ok(UP, { log: true }, attached)).toContain("Thing thing: info from create");
    expect(its.objects()).toEqual(["here-thing-1"]);
    its.ok(DESTROY, {}, attached);
    expect(its.objects()).toEqual([]);
    expect(isAlive(running.pid ?? 0)).toBe(true);
});

nightly("the command import takes over an object of a package", () => {
    const its = plugged();
    writeFileSync(join(its.world, "by-hand.json"), '{"color": "red", "text": "old"}');
    its.project.write({ "index.js": `throw new Error("the program is not needed");` });
    const command = (name: string, id: string) => [
        "import",
        "probe:index:Thing",
        name,
        id,
        "--yes",
        "--skip-preview",
        "--stack",
        "dev",
    ];
    expect(its.ok(command("lamp", "by-hand"))).toMatch(
        /const lamp = new probe\.Thing\("lamp", \{\s*color: "red",\s*text: "old",\s*\}, \{ protect: true \}\);/,
    );
    expect(its.project.resources()).toEqual(["lamp"]);
    const { status, output } = its.project.runWith(its.variables(), ...command("gone", "nothing"));
    expect([status === 0, output.includes("'nothing'")]).toEqual([false, true]);
    its.project.write({
        "index.js": `const pulumi = require("@pulumi/pulumi");
class Thing extends pulumi.CustomResource {
    constructor(name, props, opts) {
        super("probe:index:Thing", name, { url: undefined, token: undefined, ...props }, opts);
    }
}
new Thing("lamp", { color: "red", text: "old" }, { protect: true });
`,
    });
    expect(its.ok(UP)).toContain("2 unchanged");
});
