// Resources of provider plugins beside dynamic ones, on the command line: real plugins in processes of their own. What the engine
// does with them is the same Rust code in both languages, and asked in Python: here is what values and signals do in Node.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
    chmodSync,
    constants,
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
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { Project, succeeded } from "../support/project";

const nightly = atNight(test);

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PROBE = join(ROOT, "conformance", "plugins", "plugins", "probe.py");
const PYTHON = join(ROOT, ".venv", "bin", "python");

// `INPUTS` are inputs of the resource of the plugin, as JSON.
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
    constructor(name, props) { super("probe:index:Thing", name, { url: undefined, token: undefined, ...props }); }
}

const inputs = JSON.parse(process.env.INPUTS ?? "{}");
const thing = new Thing("thing", { size: 1, ...inputs });
const note = new Note("note", { token: thing.token, url: thing.url, text: inputs.text });
exports.url = thing.url;
exports.token = thing.token;
exports.length = note.length;
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const DESTROY = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
const TOKEN = "token-here-thing-1";

/** A project with the program, the plugin on its PATH, and the plugin's outside world. */
class Plugged {
    readonly project = new Project({ "index.js": PROGRAM });
    readonly world = join(this.project.directory, "world");
    readonly #pids = join(this.project.directory, "pids");
    readonly #alive: number;

    /**
     * Each process of the plugin writes down its id before it begins, and holds a pipe open as long as it lives. It does not outlive
     * the test.
     */
    constructor(plugin = PROBE) {
        mkdirSync(this.world);
        const pipe = join(this.project.directory, "alive");
        spawnSync("mkfifo", [pipe]);
        this.#alive = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
        const script = `#!/bin/sh\necho $$ >> "${this.#pids}"\nexec 9> "${pipe}"\nexec "${PYTHON}" "${plugin}" "$@"\n`;
        this.project.write({ "bin/pulumi-resource-probe": script });
        chmodSync(join(this.project.directory, "bin", "pulumi-resource-probe"), 0o755);
        onTestFinished(() => {
            for (const pid of this.#started().filter(isAlive)) {
                process.kill(pid, "SIGKILL");
            }
        });
    }

    #started(): number[] {
        return existsSync(this.#pids) ? readFileSync(this.#pids, "utf8").trim().split("\n").map(Number) : [];
    }

    #variables(inputs: object): NodeJS.ProcessEnv {
        const PATH = `${join(this.project.directory, "bin")}:${process.env.PATH}`;
        // Which build of a plugin it is, is no input.
        const { build, ...others } = inputs as { build?: number };
        return { PATH, PROBE_WORLD: this.world, INPUTS: JSON.stringify(others), BUILD: `${build ?? 1}` };
    }

    /** Runs a command that must succeed; what it said. */
    ok(command: string[], inputs: object = {}): string {
        return succeeded(command.join(" "), this.project.runWith(this.#variables(inputs), ...command));
    }

    /** Runs a command that must fail; what it said. */
    failing(command: string[], inputs: object = {}): string {
        const { status, output } = this.project.runWith(this.#variables(inputs), ...command);
        expect(status).not.toBe(0);
        return output;
    }

    /** Runs an update whose create goes on for an hour, and gets a signal meanwhile. */
    async signalledInCreate(signal: NodeJS.Signals): Promise<number | null> {
        this.project.write({ started: "" });
        const { status, output } = await this.project.interrupted(
            UP,
            async (command) => {
                await command.said("info from create");
                command.signal(signal);
            },
            this.#variables({ log: true, sleep: 3600, sleepIn: "create" }),
        );
        expect(output).toContain("info from create");
        return status;
    }

    objects(): string[] {
        return readdirSync(this.world);
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

test("a plugin's resource and a dynamic one live in one stack", () => {
    const its = new Plugged();
    expect(its.ok(UP)).toContain("+ 3 created");
    expect(its.objects()).toEqual(["here-thing-1.json"]);
    const outputs = its.ok(["stack", "output", "--json", "--show-secrets", "--stack", "dev"]);
    expect(JSON.parse(outputs)).toEqual({ url: "http://here-thing-1", token: TOKEN, length: TOKEN.length });

    if (NIGHT) {
        expect(its.ok(UP)).toContain("3 unchanged");
    }

    expect(its.ok(UP, { text: "new" })).toContain("~ 2 updated");
    expect(readFileSync(join(its.world, "here-thing-1.json"), "utf8")).toContain('"new"');

    expect(its.ok(DESTROY)).toContain("- 3 deleted");
    expect(its.objects()).toEqual([]);
    expect(its.project.resources()).toEqual([]);
});

nightly("a secret of a plugin is never written in plain text", () => {
    const its = new Plugged();
    const said = its.ok(UP) + its.ok(UP, { text: "new" });
    expect(said).toContain("[secret]");
    expect(said).not.toContain(TOKEN);
    expect(its.written()).toContain("http://here-thing-1");
    expect(its.written()).not.toContain(TOKEN);
});

test("bytes of a plugin are kept and handed back and the program is told of them", () => {
    const its = new Plugged();
    expect(its.failing(UP, { raw: "AP/+" })).toContain(
        "the program's SDK cannot take the value of the property 'bytes'",
    );
    const exported = JSON.parse(its.ok(["stack", "export", "--stack", "dev"]));
    expect([exported.version, exported.features]).toEqual([4, ["byteString"]]);
    expect(its.ok(DESTROY)).toContain("delete got b'\\x00\\xff\\xfe'");
    expect(its.objects()).toEqual([]);
});

nightly("views of a resource are shown kept and deleted with it", () => {
    const its = new Plugged();
    const views = (): Record<string, number> => {
        const { deployment } = JSON.parse(its.ok(["stack", "export", "--stack", "dev"]));
        const parts = (deployment.resources ?? []).filter((it: { type: string }) => it.type === "probe:index:Part");
        return Object.fromEntries(
            parts.map((it: { urn: string; inputs: { value: number } }) => [it.urn.split("::").at(-1), it.inputs.value]),
        );
    };
    expect(its.ok(UP, { parts: { a: 1, b: 2 } })).toContain("+ 5 created");
    expect(views()).toEqual({ a: 1, b: 2 });
    its.ok(UP, { parts: { b: 3, c: 4 } });
    expect(views()).toEqual({ b: 3, c: 4 });
    expect(its.ok(DESTROY)).toContain("- 5 deleted");
    expect(views()).toEqual({});
});

nightly("an object whose plugin asks for it is read before its update", () => {
    const its = new Plugged();
    const wanted = { readFirst: true, text: "mine" };
    its.ok(UP, wanted);
    expect(its.ok(["stack", "export", "--stack", "dev"])).toContain('"refreshBeforeUpdate": true');
    const made = join(its.world, "here-thing-1.json");
    const text = (): string => JSON.parse(readFileSync(made, "utf8")).text;
    writeFileSync(made, readFileSync(made, "utf8").replace("mine", "theirs"));
    its.ok(UP, wanted);
    expect(text()).toBe("mine");
    rmSync(made);
    its.ok(UP, wanted);
    expect(text()).toBe("mine");
});

nightly("another build of a plugin gets the old state and upgrades it", () => {
    const its = new Plugged(join(ROOT, "python-tests", "plugins", "two_builds_plugin.py"));
    const calls = (method: string): { [bag: string]: Record<string, unknown> }[] =>
        readFileSync(join(its.world, ".calls"), "utf8")
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line))
            .filter((call) => call.method === method);
    its.ok(UP, { build: 1 });
    expect(its.ok(UP, { build: 2 })).toContain("3 unchanged");
    expect(calls("Check").at(-1)).toMatchObject({ olds: { cents: 100 }, old_outputs: { cents: 100 } });
    expect(calls("Diff").at(-1)).toMatchObject({ old_inputs: { cents: 100 }, news: { price: { cents: 100 } } });
    its.ok(["refresh", "--yes", "--skip-preview", "--stack", "dev"], { build: 2 });
    expect(calls("Read").at(-1)).toMatchObject({ properties: { cents: 100 }, inputs: { price: { cents: 100 } } });
    its.ok(UP, { build: 2, size: 2 });
    expect(calls("Update").at(-1)).toMatchObject({ olds: { price: { cents: 100 } }, news: { price: { cents: 200 } } });
    its.ok(DESTROY, { build: 2 });
});

nightly("no plugin is left after a run", async () => {
    const its = new Plugged();
    its.ok(UP);
    await its.ends();
});

nightly("no plugin is left after a run that was killed", async () => {
    const its = new Plugged();
    await its.signalledInCreate("SIGKILL");
    await its.ends();
});

test("Ctrl-C in a plugin's create ends the run soon", async () => {
    const its = new Plugged();
    expect(await its.signalledInCreate("SIGINT")).not.toBe(0);
    expect(its.project.resources()).not.toContain("note");
    await its.ends();
});

const WAITING = `
const pulumi = require("@pulumi/pulumi");
const thing = new pulumi.CustomResource("probe:index:Thing", "thing", { size: 1 });
const answer = pulumi.runtime.invokeOutput("probe:index:add", { a: 1, log: true }, { dependsOn: [thing] });
exports.sum = answer.apply((it) => it.sum);
`;

nightly("a function is called when what it depends on is there", () => {
    const its = new Plugged();
    its.project.write({ "index.js": WAITING });
    let said = its.ok(["preview", "--stack", "dev"]);
    expect(said).not.toContain("info from invoke");
    expect(said).toContain("sum: [unknown]");
    said = its.ok(UP);
    expect(said).toContain("info from invoke");
    expect(said).toContain("sum: 1");
    if (NIGHT) {
        expect(its.ok(["preview", "--stack", "dev"])).toContain("info from invoke");
    }
});

test("a program that requires another version of Pulumi is refused", () => {
    const requiring = (range: string): Record<string, string> => ({
        "index.js": `module.exports = async () => { await require("@pulumi/pulumi").runtime.requirePulumiVersion("${range}"); };`,
    });
    const project = new Project(requiring(">=3.0.0"));
    if (NIGHT) {
        project.ok("preview", "--stack", "dev");
    }
    project.write(requiring("<2.0.0 || >900.0.0"));
    expect(project.run("preview", "--stack", "dev").output).toContain(
        "Pulumi <2.0.0 || >900.0.0 is required, and maloko behaves as Pulumi 3.",
    );
});
