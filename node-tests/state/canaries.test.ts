// Secrets are in plain text nowhere: canaries in every place that can hold a secret, and a search through all that is left.
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { collectorInto } from "../support/collector";
import { dataOf, Live } from "../support/pages";
import { Project } from "../support/project";
import { CANARIES, files, hits, inPage, LINES } from "./canaries";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
import { TypedProvider } from "maloko";
import { spawnSync } from "child_process";
import * as fs from "fs";
import { inspect } from "util";

const WORLD = JSON.parse(fs.readFileSync(process.env.WORLD!, "utf8"));
const config = new pulumi.Config();
const MODE = config.get("mode") ?? "";

class Holder { #secret: string; constructor(secret: string) { this.#secret = secret; } handler() { return this.#secret; } }

const encoded = (text: string) => Buffer.from("user:" + text).toString("base64");
const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;").replace(/'/g, "&#39;");

function say(text: string) {
    for (const stream of [1, 2]) {
        fs.writeSync(stream, "said in two pieces: " + text.slice(0, 7));
        fs.writeSync(stream, text.slice(7) + "\\n");
    }
    console.log(text, inspect(text), JSON.stringify(text), { x: text });
    console.error(encoded(text), encodeURIComponent(text), new URLSearchParams({ x: text }).toString(), escaped(text));
    spawnSync("printf", ["%s\\\\n", "from a child: " + text], { stdio: "inherit" });
    for (const log of [pulumi.log.debug, pulumi.log.info, pulumi.log.warn]) void log("in the log: " + text);
}

class Leaky {
    private apiToken: string;
    constructor(token: string) { this.apiToken = token; }
    async create(props: any) {
        for (const secret of [config.require("password"), config.require("pem"), props.secret, props.deep[0].nested, this.apiToken]) say(secret);
        const secret = props.secret;
        if (props.mode === "raise") {
            const error = new Error("Basic " + encoded(secret));
            throw new Error("401 for /?key=" + encodeURIComponent(secret) + " with " + inspect(new Holder(secret)) + " and " + this.apiToken, { cause: error });
        }
        if (props.mode === "partial") {
            throw Object.assign(new Error("not started"), { id: "made", properties: { ...props, made: WORLD.result }, reasons: [secret + " was refused", encoded(secret), this.apiToken] });
        }
        if (props.mode === "unwritable") return { id: "made", outs: { ...props, bad: new Holder(secret), worse: () => secret, worst: Symbol(secret) } };
        const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
        while (props.mode === "kill") {
            if (fs.readFileSync("killed.html", "utf8").includes('"kind":"call","name":"create"')) process.kill(process.pid, "SIGKILL");
            await pause();
        }
        if (fs.existsSync("wait")) fs.writeFileSync("started", "");
        while (fs.existsSync("wait")) await pause();
        return { id: "made", outs: { ...props, made: WORLD.result } };
    }
    async read(id: string, props: any) {
        say(props.made ?? "nothing was made");
        return { id, props: { ...props, made: WORLD.read } };
    }
    async update(id: string, olds: any, news: any): Promise<any> {
        say(olds.made);
        throw new Error("cannot update " + olds.made + " to " + inspect(news));
    }
    async delete(id: string, props: any) {
        say(props.made ?? "nothing was made");
        if (fs.existsSync("refuse")) throw new Error("cannot delete " + inspect(props) + ": " + Buffer.from(props.made).toString("base64"));
    }
}

class Typed extends TypedProvider<any, any> {
    static override inputs: any = {
        "~standard": { validate: (value: any) => (Number.isInteger(value.size) ? { value } : { issues: [{ message: "must be a whole number", path: ["size"] }] }) },
    };
    async create(inputs: any) { return { id: "typed", outs: inputs }; }
}

const hook = new pulumi.ResourceHook("look", async (args: any) => {
    if (MODE === "hook") throw new Error("the hook saw " + inspect(args.newInputs));
});

class Thing extends pulumi.dynamic.Resource {
    declare readonly made: pulumi.Output<string>;
    declare readonly secret: pulumi.Output<string>;
    constructor(name: string, props: any) {
        const inputs = { secret: pulumi.secret(WORLD.input), deep: [{ nested: pulumi.secret(WORLD.nested) }], made: undefined, ...props };
        super(new Leaky(WORLD.token) as any, name, inputs, {
            additionalSecretOutputs: ["made"],
            transforms: [async (args: any) => { console.log("transform", args.name); return undefined; }],
            hooks: { beforeCreate: [hook] },
        });
    }
}

if (MODE === "program") pulumi.secret(WORLD.input).apply((text: string) => { throw new Error("the program failed with " + text); });
say(config.require("password"));
let thing: Thing | undefined;
if (MODE !== "nothing") {
    thing = new Thing("one", { mode: MODE, size: config.getNumber("size") ?? 1 });
    if (MODE === "types") new pulumi.dynamic.Resource(new Typed() as any, "two", { size: pulumi.secret(WORLD.input) });
}
export const exported = pulumi.secret(WORLD.exported);
export const made = thing?.made;
`;

/** What each trial begins with; the commands that made it are those of the first test. */
const begun = mkdtempSync(join(tmpdir(), "maloko-trial-"));
afterAll(() => rmSync(begun, { recursive: true, force: true }));

/** A project, all that its commands said, and where they could leave files. */
class Trial {
    readonly #outside = mkdtempSync(join(tmpdir(), "maloko-canaries-"));
    readonly #temporary = mkdtempSync(join(tmpdir(), "maloko-temporary-"));
    readonly #traces = join(this.#temporary, "traces");
    readonly #collector = collectorInto(this.#traces);
    readonly #said: { place: string; content: Buffer }[] = [];
    readonly project: Project;

    /** From its first command on, or as a copy of one that has a stack with its configuration. */
    constructor(init = false) {
        for (const directory of [this.#outside, this.#temporary]) {
            onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
        }
        writeFileSync(join(this.#outside, "world.json"), JSON.stringify(CANARIES));
        this.project = new Project({ "index.ts": PROGRAM }, onTestFinished, {}, init);
        if (!init) {
            if (readdirSync(begun).length === 0) {
                const { directory } = new Trial(true).project;
                cpSync(directory, begun, { recursive: true, filter: (name) => !name.endsWith("/node_modules") });
            }
            cpSync(begun, this.project.directory, { recursive: true });
            return;
        }
        this.run("stack", "init", "trial");
        this.run("config", "set", "--secret", "password", CANARIES.config);
        this.run("config", "set", "--secret", "pem", "--", LINES.join("\n"));
    }

    #environment(): NodeJS.ProcessEnv {
        return {
            WORLD: join(this.#outside, "world.json"),
            TMPDIR: this.#temporary,
            HOME: join(this.project.directory, "home"),
            PULUMI_CONFIG_PASSPHRASE: CANARIES.passphrase,
            OTEL_EXPORTER_OTLP_ENDPOINT: this.#collector,
            OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        };
    }

    #run(fails: boolean, args: string[]): string {
        const { status, output } = this.project.runWith(this.#environment(), ...args);
        expect(status !== 0, output).toBe(fails);
        const shown = args.filter((text) => !Object.values(CANARIES).includes(text) && !text.includes("CANARY"));
        this.#said.push({ place: shown.join(" "), content: Buffer.from(output) });
        return output;
    }

    run(...args: string[]): string {
        return this.#run(false, args);
    }

    failing(...args: string[]): string {
        return this.#run(true, args);
    }

    /** Runs a command with somebody who looks at its live page. */
    async follow(...args: string[]): Promise<void> {
        this.project.write({ wait: "" });
        const follow = async (run: { output(): string }) => {
            for await (const [name, text] of new Live(run.output()).events()) {
                this.#said.push({ place: `the event ${name}`, content: Buffer.from(text) });
                rmSync(join(this.project.directory, "wait"), { force: true });
            }
        };
        const { status, output } = await this.project.interrupted(args, follow, this.#environment());
        expect(status, output).toBe(0);
    }

    /** Makes every page that there is of the stack and its past. */
    pages(): void {
        this.run("stack", "page", "-o", "stack.html");
        for (const { version } of JSON.parse(this.run("stack", "history", "--json")) as { version: number }[]) {
            const page = this.run("stack", "history", "page", String(version), "-o", "-");
            expect(dataOf(page).run.outcome).not.toBe("unfinished");
            this.run("stack", "history", "show", String(version));
        }
    }

    mode(mode: string): void {
        this.run("config", "set", "mode", mode);
    }

    leave(name: string, text: string): void {
        writeFileSync(join(this.#temporary, name), text);
    }

    leaks(): string[] {
        const secrets = { ...CANARIES, "a line of the key": LINES[1], "another line of the key": LINES[2] };
        return [
            ...this.#said.flatMap(({ place, content }) => hits(place, content, secrets as Record<string, string>)),
            ...[this.project.directory, this.#temporary]
                .flatMap((root) => files(root))
                .flatMap(({ name, content }) => hits(name, content, secrets as Record<string, string>)),
        ];
    }

    /** Has a collector got spans and metrics? */
    isTraced(): boolean {
        return ["traces", "metrics"].every((signal) => readdirSync(this.#traces).some((name) => name.includes(signal)));
    }

    /** Is there a journal of a run that was killed? */
    hasJournal(): boolean {
        return files(this.project.directory).some(({ name }) => name.endsWith("/journal"));
    }
}

const ONCE = ["--yes", "--skip-preview"];

test("a canary in every place shows up nowhere while all goes well", async () => {
    const trial = new Trial(true);
    trial.run("preview", "--diff");
    trial.run("preview", "--json");
    trial.run("preview", "--save-plan", "plan.json", "--page", "preview.html");
    await trial.follow("up", ...ONCE, "--page", "up.html", "--page-live");
    expect(trial.run("up", "--yes")).toContain("[secret]");
    trial.run("up", "--yes", "--json", "--skip-preview");
    trial.run("refresh", "--yes", "--diff", "--message", CANARIES.config, "--page", "refresh.html");
    for (const command of [
        ["stack"],
        ["stack", "--show-urns", "--show-ids"],
        ["stack", "output"],
        ["stack", "output", "--json"],
        ["stack", "export"],
        ["stack", "export", "--file", "export.json"],
        ["stack", "history", "--json"],
        ["stack", "graph", "graph.dot"],
        ["config"],
        ["config", "--json"],
        ["about"],
        ["state", "reseal", "--yes"],
    ]) {
        trial.run(...command);
    }
    trial.pages();
    trial.run("stack", "import", "--file", "export.json");
    trial.run("destroy", "--yes", "--diff", "--page", "destroy.html", "--summary", "markdown");
    expect(trial.isTraced()).toBe(true);
    expect(trial.leaks()).toEqual([]);
});

test.each([
    "raise",
    "partial",
    "unwritable",
    "hook",
    "program",
    "types",
])("a canary in every place shows up nowhere when a run fails: %s", (mode) => {
    const trial = new Trial();
    trial.mode(mode);
    trial.failing("up", ...ONCE);
    trial.failing("up", ...ONCE, "--json");
    trial.failing("up", ...ONCE, "--page", "run.html", "--summary", "markdown");
    trial.pages();
    trial.run("stack");
    trial.run("stack", "export");
    trial.mode("nothing");
    trial.run("up", ...ONCE);
    expect(trial.leaks()).toEqual([]);
});

test("a canary in every place shows up nowhere when a run is killed", () => {
    const trial = new Trial();
    trial.mode("kill");
    trial.failing("up", ...ONCE, "--page", "killed.html");
    trial.run("stack", "page", "-o", "stack.html");
    expect(trial.hasJournal()).toBe(true);
    expect(trial.leaks()).toEqual([]);
    trial.run("preview");
    trial.mode("");
    trial.run("up", ...ONCE);
    trial.run("stack");
    expect(trial.leaks()).toEqual([]);
});

test("a canary in every place shows up nowhere when changes and deletions fail", () => {
    const trial = new Trial();
    trial.run("up", ...ONCE);
    trial.run("config", "set", "size", "2");
    trial.failing("up", ...ONCE, "--page", "changes.html", "--summary", "markdown");
    trial.project.write({ refuse: "" });
    trial.mode("nothing");
    trial.failing("up", ...ONCE, "--diff");
    trial.failing("destroy", ...ONCE, "--no-program", "--page", "destroy.html");
    trial.pages();
    expect(trial.leaks()).toEqual([]);
});

test("the search for canaries finds what is asked for", () => {
    const trial = new Trial();
    trial.run("up", ...ONCE);
    trial.run("stack", "output", "--show-secrets");
    trial.run("stack", "export", "--show-secrets", "--file", "plain.json");
    trial.leave("log", `GET /?key=${CANARIES.token}`);
    trial.leave("page.html", inPage(JSON.stringify(CANARIES.read)));
    const leaks = trial.leaks();
    for (const [place, name] of [
        ["stack output", "exported"],
        ["plain.json", "input"],
        ["log", "token"],
        ["page.html", "read"],
    ] as const) {
        expect(leaks.some((leak) => leak.startsWith(place) && leak.includes(`'${name}'`))).toBe(true);
    }
});
