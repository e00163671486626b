// What a new user of the command line meets: words that scripts look for, projects made and set up, errors that help.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { LocalWorkspace } from "maloko/automation";
import { expect, test } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { type Project, project } from "../support/project";

const nightly = atNight(test);

const HERE = dirname(fileURLToPath(import.meta.url));

/** What a command that must fail says. */
function failing(it: Project, ...args: string[]): string {
    const { status, output } = it.run(...args);
    expect(status, output).not.toBe(0);
    return output;
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
    if (NIGHT) {
        expect(it.ok("install", "--no-dependencies")).toBe("");
    }
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

    if (!NIGHT) {
        return;
    }
    // The automation API runs the same command.
    it.write({ "package.json": JSON.stringify({ name: "t", version: "1.0.0" }) });
    const workspace = await LocalWorkspace.create({ workDir: it.directory });
    await workspace.install();
    expect(existsSync(join(it.directory, "node_modules", "tiny"))).toBe(false);
});

nightly("new writes an install line that works before and after publication", () => {
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
    rmSync(file);
    expect(said("file:maloko-9.9.9.tgz")).toContain("  npm install\n");
    if (NIGHT) {
        expect(said("^9.9.9")).toContain("  npm install\n");
    }
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
    if (NIGHT) {
        const said = failing(it, "preview");
        expect(said).toContain(`error: SyntaxError: Unexpected ";" (${place}:1:21)\n`);
        expect(said).not.toContain("esbuild");
    }
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
    // By day where a method of a provider asks.
    if (NIGHT) {
        const said = failing(it, "preview");
        expect(said).toContain("Missing required configuration variable 'store:zone'");
        expect(said).toContain("using the command `maloko config set store:zone <value>`");
        it.write({ "index.ts": `${asking}Secret("zone");\n` });
        expect(failing(it, "preview")).toContain("using the command `maloko config set --secret store:zone <value>`");
    }
    it.write({ "index.ts": ASKING });
    const late = failing(it, "up", "--yes", "--skip-preview", "--show-tracebacks");
    expect(late).toContain("using the command `maloko config set store:zone <value>`");
    expect(late).not.toContain("pulumi config set");
    // What others say is theirs.
    if (NIGHT) {
        it.write({ "index.ts": 'throw new Error("run `pulumi config set a b`");\n' });
        expect(failing(it, "preview")).toContain("Error: run `pulumi config set a b`");
    }
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
