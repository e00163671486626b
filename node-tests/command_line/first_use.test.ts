// What a new user of the command line meets: words that scripts look for, projects made and set up, errors that help.
import { spawnSync } from "node:child_process";
import {
    chmodSync,
    cpSync,
    existsSync,
    mkdirSync,
    readFileSync,
    realpathSync,
    renameSync,
    rmSync,
    statSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { LocalWorkspace } from "maloko/automation";
import { expect, test } from "vitest";
import { Project, project } from "../support/project";

const HERE = dirname(fileURLToPath(import.meta.url));

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
class LabelProvider {
    async create(props: any) { return { id: "label-" + props.label, outs: props }; }
}
class Label extends pulumi.dynamic.Resource {
    constructor(name: string, label: string, opts?: pulumi.CustomResourceOptions) {
        super(new LabelProvider(), name, { label }, opts);
    }
}
const first = new Label("first", "bug", { protect: true });
new Label("second", "docs", { dependsOn: [first] });
`;

function urnOf(it: Project, name: string): string {
    const found = new RegExp(`urn:pulumi:\\S+::${name}\\b`).exec(it.ok("stack", "--show-urns"));
    return found?.[0] ?? "";
}

/** What a command that must fail says. */
function failing(it: Project, ...args: string[]): string {
    const { status, output } = it.run(...args);
    expect(status, output).not.toBe(0);
    return output;
}

test("texts that scripts match are the reference's", () => {
    const it = project({ "index.ts": PROGRAM });
    expect(it.ok("stack", "history")).toBe("Stack has never been updated\n");
    expect(it.ok("stack")).toContain("No resources currently in this stack");
    it.ok("up", "--yes", "--skip-preview");
    const [first, second] = [urnOf(it, "first"), urnOf(it, "second")];

    expect(it.ok("state", "unprotect", first)).toBe("1 resources unprotected\n");
    expect(it.ok("state", "protect", first, second)).toBe("2 resources protected\n");
    expect(it.ok("state", "unprotect", "--all", "--yes")).toBe("All resources unprotected\n");
    expect(it.ok("state", "protect", "--all", "--yes")).toBe("All resources protected\n");
    expect(it.ok("state", "taint", first)).toBe("1 resources tainted\n");
    expect(it.ok("state", "untaint", "--all", "--yes")).toBe("All resources untainted\n");
    expect(failing(it, "state", "delete", "--yes", second)).toContain(
        `${second} can't be safely deleted because it is protected`,
    );
    expect(failing(it, "state", "delete", "--yes", first)).toContain(
        "can't be safely deleted because the following resources depend on it",
    );
    it.ok("state", "unprotect", "--all", "--yes");
    expect(it.ok("state", "rename", "--yes", second, "third")).toBe("Resource renamed\n");
    expect(it.ok("state", "delete", "--yes", urnOf(it, "third"))).toBe("Resource deleted\n");
    expect(failing(it, "state", "delete", "--yes", second)).toContain(
        `No such resource "${second}" exists in the current state`,
    );
    expect(it.ok("state", "repair", "--yes")).toContain("The snapshot is already valid; skipping repair");

    expect(it.ok("stack")).toContain("Current stack resources (3):");
    expect(it.ok("stack", "output")).toContain(
        "Current stack outputs (0):\n    No output values currently in this stack",
    );
    expect(failing(it, "stack", "output", "none")).toContain("current stack does not have output property 'none'");
    expect(failing(it, "config", "get", "none")).toContain("configuration key 'none' not found for stack 'dev'");
    expect(failing(it, "stack", "init", "dev")).toContain("stack 'dev' already exists");
    it.write({ "state.json": it.ok("stack", "export") });
    expect(it.ok("stack", "import", "--file", "state.json")).toMatch(/^Import complete\.\n/);
    expect(it.ok("stack", "graph", "graph.dot")).toContain("Wrote stack dependency graph to `");
    expect(failing(it, "stack", "rm", "--yes")).toContain("'dev' still has resources; removal rejected");
    expect(it.ok("stack", "rename", "live")).toBe("Renamed dev to live\n");
    expect(it.ok("destroy", "--yes", "--skip-preview")).toContain(
        "The resources in the stack have been deleted, but the history and configuration",
    );
    expect(it.ok("stack", "rm", "--yes", "live")).toBe("Stack 'live' has been removed!\n");
    expect(it.run("state", "delete", "--all", "--yes", "--stack", "live").status).toBe(6);

    const home = { HOME: it.directory };
    const login = it.runWith(home, "login", `file://${it.directory}`).stdout;
    expect(login).toMatch(/^Logged in to \S+ as \S+ \(file:\/\//);
    expect(it.runWith(home, "logout").stdout).toBe(`Logged out of file://${it.directory}\n`);
});

interface Line {
    result: string;
    duration: number;
    summary: Record<string, number>;
    resources?: { name: string; op: string; failed?: boolean }[];
    errors?: { urn?: string; message: string }[];
}

test("output json prints one line with the result", () => {
    const it = project({ "index.ts": PROGRAM });
    const done = it.run("up", "--yes", "--output", "json");
    const line = JSON.parse(done.stdout) as Line;
    expect(done.stdout.split("\n")).toHaveLength(2);
    expect([line.result, line.summary]).toEqual(["succeeded", { create: 3 }]);
    expect(line.duration).toBeGreaterThan(0);
    expect(line.resources?.map(({ name, op }) => `${op} ${name}`)).toEqual(
        expect.arrayContaining(["create first", "create second"]),
    );
    expect(done.stderr).toMatch(/(Label|Resource) first/);

    const unchanged = JSON.parse(it.ok("preview", "--output", "json")) as Line;
    expect(unchanged.summary).toEqual({ same: 3 });
    expect(unchanged.resources).toBeUndefined();
    expect(it.run("up", "--yes", "--output", "json", "--json").status).toBe(2);

    it.write({ "index.ts": PROGRAM.replace("return {", "throw new RangeError('no route'); return {") });
    it.ok("state", "delete", "--yes", "--force", urnOf(it, "second"));
    const failed = it.run("up", "--yes", "--skip-preview", "--output", "json");
    expect(failed.status).toBe(1);
    const why = JSON.parse(failed.stdout) as Line;
    expect(why.result).toBe("failed");
    expect(why.resources?.filter((it) => it.failed).map(({ name }) => name)).toEqual(["second"]);
    const errors = why.errors?.filter(({ urn }) => urn?.endsWith("::second"));
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining("RangeError: no route") })]);
    expect(failed.stderr).toContain("RangeError: no route");

    for (const words of [["stack", "ls"], ["stack"], ["config"], ["about"], ["whoami"], ["stack", "history"]]) {
        const wanted: unknown = JSON.parse(it.ok(...words, "--json"));
        expect(JSON.parse(it.ok(...words, "--output", "json")), words.join(" ")).toEqual(wanted);
        expect(ageless(it.ok(...words, "--output", "default")), words.join(" ")).toBe(ageless(it.ok(...words)));
    }
});

/** A text without how long ago something was. */
function ageless(text: string): string {
    return text.replace(/\bnow\b|\d+ \w+ ago/g, "");
}

/** Only the files that are given: what the tests share is not installed here. */
function bare(it: Project): void {
    rmSync(join(it.directory, "node_modules"));
}

test("install installs the dependencies of the project", async () => {
    const manifest = { name: "t", version: "1.0.0", dependencies: { tiny: "file:tiny" } };
    const it = project({
        "index.js": "",
        "package.json": JSON.stringify(manifest),
        "tiny/package.json": JSON.stringify({ name: "tiny", version: "1.0.0", main: "tiny.js" }),
        "tiny/tiny.js": "module.exports = 7;",
    });
    bare(it);
    expect(it.ok("install", "--no-dependencies")).toBe("");
    const offline = { npm_config_offline: "true", npm_config_audit: "false", npm_config_fund: "false" };
    const said = it.runWith(offline, "install");
    expect(said.status, said.output).toBe(0);
    expect(said.stdout).toContain("Installing dependencies...");
    expect(said.stdout).toContain("Finished installing dependencies");
    const shown = spawnSync(process.execPath, ["-p", "require('tiny')"], { cwd: it.directory, encoding: "utf8" });
    expect(shown.stdout).toBe("7\n");

    it.write({ "package.json": JSON.stringify({ ...manifest, dependencies: { tiny: "file:nowhere.tgz" } }) });
    const failed = it.runWith(offline, "install");
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain("`npm install` ended with");

    // The automation API runs the same command.
    it.write({ "package.json": JSON.stringify({ name: "t", version: "1.0.0" }) });
    const workspace = await LocalWorkspace.create({ workDir: it.directory });
    await workspace.install();
    expect(existsSync(join(it.directory, "node_modules", "tiny"))).toBe(false);
});

// As templates write it.
const placeholder = (name: string): string => `$\{${name}}`;

function template(it: Project): string {
    const folder = join(it.directory, "template");
    it.write({
        "template/.git/config": "not for projects",
        "template/Pulumi.yaml":
            `# kept\nname: ${placeholder("PROJECT")}\ndescription: ${placeholder("DESCRIPTION")}\nruntime: nodejs\n` +
            "template:\n  description: Labels of a repository\n  config:\n" +
            "    color:\n      description: Their colour\n      default: red\n" +
            "    token:\n      secret: true\n",
        "template/package.json": "{}",
        "template/index.ts": `export const project = '${placeholder("PROJECT")}';\n`,
        "template/lib/run.sh": "#!/bin/sh\n",
    });
    writeFileSync(join(folder, "lib", "data.bin"), Buffer.from("ff00247b50524f4a4543547d", "hex"));
    chmodSync(join(folder, "lib", "run.sh"), 0o755);
    return folder;
}

test("new takes a template folder", async () => {
    const it = project({ "index.ts": "" });
    const folder = template(it);
    const said = it.ok("new", folder, "--dir", "made", "--name", "labels", "--yes", "-c", "token=hush-hush-1");
    expect(said).toContain("Created project 'labels'");
    expect(said).toContain("Created stack 'dev'");
    const text = it.read("made/Pulumi.yaml");
    expect(text).toMatch(/^# kept\nname: labels\ndescription: Labels of a repository\nruntime: nodejs\n/);
    expect(text).not.toContain("template");
    expect(it.read("made/index.ts")).toContain("'labels'");
    expect(readFileSync(join(it.directory, "made/lib/data.bin")).toString("hex")).toBe("ff00247b50524f4a4543547d");
    expect(statSync(join(it.directory, "made/lib/run.sh")).mode & 0o777).toBe(0o755);
    expect(existsSync(join(it.directory, "made/.git"))).toBe(false);
    expect(it.ok("config", "get", "color", "--cwd", "made")).toBe("red\n");
    expect(it.ok("config", "get", "token", "--cwd", "made")).toBe("hush-hush-1\n");
    expect(it.read("made/Pulumi.dev.yaml")).not.toContain("hush-hush-1");
    it.ok("up", "--yes", "--skip-preview", "--cwd", "made");
    expect(it.ok("stack", "output", "project", "--cwd", "made")).toBe("labels\n");

    expect(failing(it, "new", "nowhere", "--dir", "other")).toContain("there is no such folder");
    mkdirSync(join(it.directory, "many"));
    const inside = join(it.directory, "many", "one");
    renameSync(folder, inside);
    const refused = failing(it, "new", "many", "--dir", "other");
    expect(refused).toContain("is no template");
    expect(refused).toContain(realpathSync(inside));

    const envVars = { PULUMI_CONFIG_PASSPHRASE: "test", PULUMI_BACKEND_URL: `file://${it.directory}` };
    const workspace = await LocalWorkspace.create({ workDir: it.directory, envVars });
    await workspace.new({ templateOrUrl: inside, dir: "again", name: "again", stack: "live", config: ["color=blue"] });
    expect(it.runWith(envVars, "config", "get", "color", "--stack", "live", "--cwd", "again").stdout).toBe("blue\n");
    await workspace.new({ templateOrUrl: inside, dir: "files", name: "files", generateOnly: true });
    expect(it.ok("stack", "ls", "--cwd", "files")).not.toContain("dev");
});

test("new writes an install line that works before and after publication", () => {
    const it = project({ "index.js": "" });
    bare(it);
    // Another installation, which says what it was asked for.
    const shared = realpathSync(join(HERE, "..", "node_modules"));
    mkdirSync(join(it.directory, "node_modules"));
    for (const name of ["@pulumi", "acorn", "tsx", "esbuild", "@esbuild", "get-tsconfig", "yaml"]) {
        if (existsSync(join(shared, name))) {
            symlinkSync(join(shared, name), join(it.directory, "node_modules", name));
        }
    }
    cpSync(join(shared, "maloko"), join(it.directory, "node_modules", "maloko"), { recursive: true });
    let count = 0;
    const said = (wanted: string): string => {
        it.write({ "package.json": JSON.stringify({ devDependencies: { maloko: wanted } }) });
        const command = join(it.directory, "node_modules", "maloko", "bin", "maloko.js");
        const done = spawnSync(process.execPath, [command, "new", "--dir", `fresh${count++}`], {
            cwd: it.directory,
            encoding: "utf8",
            env: { ...process.env, PULUMI_CONFIG_PASSPHRASE: "test" },
        });
        expect(done.status, done.stdout + done.stderr).toBe(0);
        return done.stdout;
    };
    const file = join(it.directory, "maloko-9.9.9.tgz");
    writeFileSync(file, "");
    expect(said("file:maloko-9.9.9.tgz")).toContain(`  npm install ${realpathSync(file)}\n`);
    // From a registry, or when the file is gone: by name.
    expect(said("^9.9.9")).toContain("  npm install\n");
    rmSync(file);
    expect(said("file:maloko-9.9.9.tgz")).toContain("  npm install\n");
});

test("output json says what changes, and with diff from what to what", () => {
    const withToken = PROGRAM.replace("{ label }, opts", '{ label, token: pulumi.secret("t-" + label) }, opts');
    expect(withToken).not.toBe(PROGRAM);
    const it = project({ "index.ts": withToken });
    it.ok("up", "--yes", "--skip-preview");
    it.write({ "index.ts": withToken.replace('"bug"', '"wart"') });
    const first = (...flags: string[]): Record<string, unknown> => {
        const said = it.ok("preview", "--output", "json", ...flags);
        expect(said).not.toContain("t-bug");
        expect(said).not.toContain("t-wart");
        const line = JSON.parse(said) as { resources: Record<string, unknown>[] };
        return line.resources.find(({ name }) => name === "first") ?? {};
    };
    expect(first().op).toBe("update");
    expect(first().diffReasons).toEqual(["label", "token"]);
    expect(first().detailedDiff).toMatchObject({ label: { kind: "update" } });
    expect(first().diff).toBeUndefined();
    expect(first("--diff").diff).toMatchObject({
        label: { kind: "update", old: "bug", new: "wart" },
        token: { kind: "update", old: "[secret]", new: "[secret]" },
    });
});

const LAZY = `import * as pulumi from "@pulumi/pulumi";
class Lazy {
    async create() { return { id: String(require("./other")) }; }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name: string) { super(new Lazy(), name, {}); }
}
new Thing("a");
`;

test("a syntax error's summary names the error", () => {
    const it = project({ "index.ts": "export const size = (;\n" });
    const place = join(realpathSync(it.directory), "index.ts");
    const said = failing(it, "preview");
    expect(said).toContain(`error: SyntaxError: Unexpected ";" (${place}:1:21)\n`);
    expect(said).not.toContain("esbuild");
    it.write({ "index.ts": 'import "./other";\n', "other.ts": "export const size = 1;\nconst a = [;\nconst b = {;\n" });
    const other = failing(it, "preview");
    const mistake = `SyntaxError: Unexpected ";" (${join(dirname(place), "other.ts")}:2:11)\n`;
    expect(other).toContain(`error: ${mistake}`);
    expect(other).not.toContain("esbuild");
    expect(other).not.toContain("Transform failed");
    // And where a method of a provider meets it.
    it.write({ "index.ts": LAZY });
    const late = failing(it, "up", "--yes", "--skip-preview");
    expect(late).toContain(mistake);
    expect(late).not.toContain("Transform failed");
});

test("an error of the program begins with what it is and where", () => {
    const it = project({ "index.ts": "const size = 1;\nthrow new RangeError(String(size));\n" });
    const place = join(realpathSync(it.directory), "index.ts");
    const [first, second] = failing(it, "preview").split("error: ")[1]?.split("\n") ?? [];
    expect(first).toBe("RangeError: 1");
    expect(second).toContain(`${place}:2:`);
    // What was behind it is told below.
    it.write({ "index.ts": 'throw new Error("no token", { cause: new TypeError("empty") });\n' });
    const said = failing(it, "preview");
    expect(said).toContain("error: Error: no token\n");
    expect(said).toContain("caused by TypeError: empty");
    expect(said.split("no token")).toHaveLength(2);
});

const ASKING = `import * as pulumi from "@pulumi/pulumi";
class Asking {
    async create() { return { id: new pulumi.Config("store").require("zone") }; }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name: string) { super(new Asking(), name, {}); }
}
new Thing("a");
`;

test("missing configuration is set with a command that is there", () => {
    const asking = 'import * as pulumi from "@pulumi/pulumi";\nnew pulumi.Config("store").require';
    const it = project({ "index.ts": `${asking}("zone");\n` });
    const said = failing(it, "preview");
    expect(said).toContain("Missing required configuration variable 'store:zone'");
    expect(said).toContain("using the command `maloko config set store:zone <value>`");
    it.write({ "index.ts": `${asking}Secret("zone");\n` });
    expect(failing(it, "preview")).toContain("using the command `maloko config set --secret store:zone <value>`");
    it.write({ "index.ts": ASKING });
    const late = failing(it, "up", "--yes", "--skip-preview", "--show-tracebacks");
    expect(late).toContain("using the command `maloko config set store:zone <value>`");
    expect(late).not.toContain("pulumi config set");
    // What others say is theirs.
    it.write({ "index.ts": 'throw new Error("run `pulumi config set a b`");\n' });
    expect(failing(it, "preview")).toContain("Error: run `pulumi config set a b`");
});

test("yes with preview-only works", () => {
    const it = project({ "index.ts": PROGRAM });
    for (const verb of ["up", "refresh", "destroy"]) {
        expect(it.ok(verb, "--yes", "--preview-only")).toContain("Preview");
    }
    expect(it.ok("up", "--yes", "--preview-only")).toContain("to create");
    expect(it.resources()).toEqual([]);
    expect(it.run("up", "--skip-preview", "--preview-only").status).toBe(2);
});

test("stack init with a slash explains itself", () => {
    const it = project({ "index.ts": "" });
    const refused = it.run("stack", "init", "feature/x");
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("a '/' separates the parts of organization/project/stack");
    expect(refused.stderr).toContain("without slashes it could be 'feature-x'");
    expect(failing(it, "stack", "init", "feature/x/y/z")).toContain("feature-x-y-z");
});

test("a backend directory that does not exist is asked about or refused", () => {
    const it = project({ "index.ts": "" });
    const nowhere = join(it.directory, "sate dir");
    const refused = it.run("stack", "init", "other", "--backend", `file://${nowhere}`);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(`there is no directory ${nowhere} (--backend)`);
    expect(refused.stderr).toContain(`mkdir -p '${nowhere}'`);
    expect(existsSync(nowhere)).toBe(false);
    mkdirSync(nowhere);
    it.ok("stack", "init", "other", "--backend", `file://${nowhere}`);
    expect(existsSync(join(nowhere, ".pulumi"))).toBe(true);
});

test("messages name help topics instead of paths of the repository", () => {
    const it = project({ "index.ts": "" });
    const listed = it.ok("--help");
    expect(listed).toContain("maloko help TOPIC");
    const topics = [...(listed.split("Topics")[1] ?? "").matchAll(/^ {2}([a-z-]+) +\S/gm)].map(
        ([, name]) => name ?? "",
    );
    expect(topics).toEqual(expect.arrayContaining(["state", "backends", "command-line", "importing"]));
    for (const topic of topics) {
        const text = it.ok("help", topic);
        expect(text).toMatch(/^# /);
        expect(text, topic).not.toMatch(/\]\([^)]*\.md/);
    }
    expect(it.ok("help", "up")).toBe(it.ok("up", "--help"));
    expect(it.ok("help", "stack", "init")).toBe(it.ok("stack", "init", "--help"));
    const unknown = failing(it, "help", "nonsense");
    expect(unknown).toContain("neither a command nor a topic 'nonsense'");
    expect(unknown).toContain("backends");
    const variables = { PULUMI_BACKEND_URL: "s3://bucket", AWS_EC2_METADATA_DISABLED: "true" };
    expect(it.runWith(variables, "stack", "ls").stderr).not.toContain(".md");
});

test.each(["variable", "file"])("a wrong key beside another one names both once (%s)", (given) => {
    const it = new Project({ "index.ts": "", "secret.txt": "another one\n" }, undefined, {}, false);
    const own = { PULUMI_BACKEND_URL: undefined, PULUMI_CONFIG_PASSPHRASE: undefined, HOME: it.directory };
    for (const words of [
        ["stack", "init", "other"],
        ["config", "set", "--secret", "token", "hush", "--stack", "other"],
    ]) {
        const { status, output } = it.runWith(own, ...words);
        expect(status, output).toBe(0);
    }
    const [variable, value] =
        given === "variable"
            ? ["PULUMI_CONFIG_PASSPHRASE", "another one"]
            : ["PULUMI_CONFIG_PASSPHRASE_FILE", join(it.directory, "secret.txt")];
    const refused = it.runWith({ ...own, [variable]: value }, "config", "--show-secrets", "--stack", "other").stderr;
    expect(refused).toContain("incorrect passphrase");
    expect(refused.split(join(realpathSync(it.directory), ".maloko", "passphrase"))).toHaveLength(2);
    expect(refused).toContain("goes before the key file");
    expect(refused).toContain(`unset ${variable}`);
});

test("code printed by import uses the resource's own constructor", () => {
    const it = project({
        "labels.ts": `import * as pulumi from "@pulumi/pulumi";
export class LabelProvider {
    async create(props: any) { return { id: "label-" + props.label, outs: props }; }
    async read(id: string) { return { id, props: { label: id.replace("label-", ""), color: "red" } }; }
}
export class Label extends pulumi.dynamic.Resource {
    constructor(name: string, label: string, color = "blue", opts?: pulumi.CustomResourceOptions) {
        super(new LabelProvider(), name, { label, color }, opts);
    }
}
`,
        "index.ts": 'import { Label } from "./labels";\nnew Label("bug", "bug");\n',
    });
    it.up();
    const said = it.ok("import", "labels.ts#LabelProvider", "docs", "label-docs", "--yes", "--skip-preview");
    expect(said).toContain('import { Label } from "./labels";\n');
    expect(said).toContain('const docs = new Label("docs", "docs", "red", { protect: true });');
    expect(said).not.toContain("class Label");
    const code = said.slice(said.indexOf("import * as pulumi"));
    it.write({ "index.ts": `${code}\nnew Label("bug", "bug");\n` });
    expect(it.ok("up", "--yes", "--skip-preview")).toContain("3 unchanged");
});
