// What a user gets to see when files, stacks, passphrases, permissions or locks are not as they should be.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Project, project } from "../support/project";

const ECHO = `const pulumi = require("@pulumi/pulumi");
class Provider { async create(inputs) { return { id: "made", outs: inputs }; } }
class Thing extends pulumi.dynamic.Resource { constructor(name, props = {}) { super(new Provider(), name, props); } }
`;
const UP = ["up", "--yes", "--stack", "dev"];

/** The complaint about a command: on stderr only, with --json as well, and in one line of plain words. */
function refused(it: Project, args: string[] = UP, environment: NodeJS.ProcessEnv = {}): string {
    const plain = it.runWith(environment, ...args);
    expect([0, 255], plain.output).not.toContain(plain.status);
    const asJson = it.runWith(environment, ...args, "--json");
    expect(asJson).toMatchObject({ status: plain.status, stdout: "" });
    expect(ageless(asJson.stderr)).toBe(ageless(plain.stderr));
    expect(plain.stderr).not.toMatch(/panicked|^ {4}at /m);
    return plain.stderr;
}

/** Without the age of a lock: the clock goes on between two commands. */
const ageless = (said: string) => said.replace(/\d+ seconds? ago/g, "N seconds ago");

const stackFile = (it: Project) => join(it.directory, ".maloko", ".pulumi", "stacks", "test", "dev.json");

test("a missing project file says where it was looked for", () => {
    const it = project({ "index.js": "" });
    rmSync(join(it.directory, "Pulumi.yaml"));
    const said = refused(it);
    expect(said).toContain(`no Pulumi.yaml found in ${it.directory}`);
    expect(said).toContain("maloko new");
});

test("a malformed project file is refused with its line", () => {
    const it = project({ "index.js": "" });
    const file = join(it.directory, "Pulumi.yaml");
    for (const [text, place, reason] of [
        ["name: [a\nruntime: nodejs\n", ":2:", "not valid YAML"],
        ["name: test\n\truntime: nodejs\n", ":2:", "not valid YAML"],
        ["name: test\nruntime: nodejs\nconfig:\n  - a\n", ":3: ", "`config` must be a mapping; it is a list"],
        ["name: test\nruntime: ruby\n", ":2: ", "this project is `ruby`"],
        ["name: a b\nruntime: nodejs\n", ":1: ", "the project name 'a b' may hold only"],
        ["name: test\n", ": ", "`runtime` is missing"],
        ["runtime: nodejs\n", ": ", "`name` is missing"],
        ["", ": ", "this one is empty"],
        ["name: test\nruntime: nodejs\nmain: nowhere\n", ":3: ", "which is not there; correct `main`"],
    ] as const) {
        writeFileSync(file, text);
        const said = refused(it);
        expect(said).toContain(file + place);
        expect(said).toContain(reason);
    }
    writeFileSync(file, Buffer.from("name: test\nruntime: \xff\n", "latin1"));
    expect(refused(it)).toContain(`${file}:2: this is no UTF-8 text`);
});

test("a malformed settings file is refused with its line", () => {
    const it = project({ "index.js": "" });
    const file = join(it.directory, "Pulumi.dev.yaml");
    const good = readFileSync(file, "utf8");
    for (const [text, place, reason] of [
        ["config: [a\n", ":2:", "not valid YAML"],
        [`${good}config: 5\n`, ":2: ", "`config` must be a mapping of keys to values; it is a number"],
        [`${good}config:\n  test:a:\n    secure: v1:xxx\n`, ":3: ", "`test:a`: a secret ('v1:xxx...') cannot be"],
        ["encryptionsalt: v1:garbage\n", ":1: ", "'v1:garbage' is not a salt string"],
        ["a\n", ": ", "this is a text"],
    ] as const) {
        writeFileSync(file, text);
        const said = refused(it);
        expect(said).toContain(file + place);
        expect(said).toContain(reason);
    }
    writeFileSync(file, Buffer.concat([Buffer.from(good), Buffer.from("config:\n  a: \xff\n", "latin1")]));
    expect(refused(it)).toContain(`${file}:3: this is no UTF-8 text`);
    writeFileSync(file, good);
    it.ok(...UP);
});

test("environments of the settings are refused wherever configuration is used", () => {
    const it = project({ "index.js": "" });
    const file = join(it.directory, "Pulumi.dev.yaml");
    const good = readFileSync(file, "utf8");
    const line = good.split("\n").length;
    writeFileSync(file, `${good}environment:\n  - my-env\n`);
    const commands = [UP, ["up", "--yes"], ["preview"], ["refresh", "--yes"], ["destroy", "--yes"], ["config"]];
    for (const command of commands) {
        expect(refused(it, command)).toContain(`${file}:${line}: \`environment\` names`);
    }
    expect(refused(it, ["config", "get", "a"])).toContain("this backend does not support environments");
    expect(it.run("check").output).toContain("this backend does not support environments");
    it.ok("config", "set", "a", "1");
    writeFileSync(file, good);
    it.ok(...UP);
});

test("a malformed state is refused and left alone", () => {
    const it = project({ "index.js": `${ECHO}new Thing("a");` });
    it.up();
    const file = stackFile(it);
    const good = readFileSync(file, "utf8");
    type Latest = { manifest: { version: string }; resources: Record<string, unknown>[] };
    const read = () => JSON.parse(good) as { checkpoint: { latest: Latest } };
    // What `pulumi` wrote has no seal of ours to keep to.
    const withResource = (change: (resource: Record<string, unknown>) => void, author = "v3.200.0"): string => {
        const document = read();
        const magic = createHash("sha256").update(author).digest("hex");
        Object.assign(document.checkpoint.latest.manifest, { version: author, magic });
        change(document.checkpoint.latest.resources.at(-1) ?? {});
        return JSON.stringify(document);
    };
    const own = read().checkpoint.latest.manifest.version;
    for (const [text, reason] of [
        ["", "it is missing or empty"],
        ["{", "EOF while parsing"],
        [good.slice(0, -20), "at line 1 column"],
        ['{\n "version": 3,\n "checkpoint": {,}}', "at line 3 column"],
        ["[]", "expected an object with 'version'"],
        ['{"version": 99}', "it has format 99"],
        [withResource((resource) => delete resource.urn), "a resource has no URN"],
        [withResource((resource) => Object.assign(resource, { urn: 5 })), "expected a URN"],
        [withResource((resource) => Object.assign(resource, { outputs: [1] })), "expected an object of properties"],
        [
            withResource((resource) => Object.assign(resource, { parent: "urn:pulumi:dev::test::x::no" })),
            "does not come before it",
        ],
        [
            withResource((resource) => Object.assign(resource, { protect: true }), own),
            "is not as maloko left it: changed resource: urn:",
        ],
    ] as const) {
        writeFileSync(file, text);
        const said = refused(it);
        expect(said).toContain(file);
        expect(said).toContain(reason);
        expect(said).toContain("Nothing was changed");
        expect(readFileSync(file, "utf8")).toBe(text);
    }
    writeFileSync(file, good);
    expect(it.ok(...UP)).toContain("unchanged");
});

test("files that would keep a command busy or out do not", () => {
    const it = project({ "index.ts": "" });
    it.ok(...UP);
    // What a crash of the machine may leave: the system's lock is what counts.
    const lease = join(it.directory, ".maloko", ".pulumi", "maloko", "test", "dev", "lease");
    writeFileSync(lease, Buffer.from("ff fe 20 80 0a".replaceAll(" ", ""), "hex"));
    expect(it.ok(...UP)).toContain("unchanged");
    const settings = join(it.directory, "Pulumi.dev.yaml");
    const kept = existsSync(settings) ? readFileSync(settings, "utf8") : "";
    writeFileSync(settings, `${kept}nested: ${"[".repeat(200_000)}\n`);
    const refused = it.run(...UP);
    expect(refused.status, refused.output).toBe(2);
    expect(refused.output).toContain("more than 1000 brackets are open");
});

test("an unknown stack is named with what to do", () => {
    const it = project({ "index.js": "" });
    const said = refused(it, ["up", "--yes", "--stack", "nope"]);
    expect(said).toContain("no stack named 'nope' found in file://");
    expect(said).toContain("maloko stack init nope");
    expect(it.run("up", "--yes", "--stack", "nope").status).toBe(6);
    for (const name of ["..", "a/b/c/d", "a b"]) {
        expect(refused(it, ["up", "--yes", "--stack", name])).toContain(`'${name}'`);
    }
});

test("a command without a stack says how to choose one", () => {
    const it = project({ "index.js": "" });
    it.ok("stack", "rm", "--yes", "--stack", "dev");
    let said = refused(it, ["up", "--yes"]);
    expect(said).toContain("no stack is selected");
    expect(said).toContain("maloko stack init NAME");
    for (const name of ["dev", "qa"]) {
        it.ok("stack", "init", name, "--no-select");
    }
    said = refused(it, ["up", "--yes"]);
    expect(said).toContain("--stack NAME");
    expect(said).toContain("maloko stack select NAME");
});

test("a wrong or missing passphrase changes nothing", () => {
    const files = { "index.js": `${ECHO}new Thing("a");` };
    const it = new Project(files, onTestFinished, { PULUMI_CONFIG_PASSPHRASE: "test" });
    it.up();
    it.write({ "index.js": `${ECHO}new Thing("b");` });
    const before = readFileSync(stackFile(it), "utf8");
    for (const args of [UP, [...UP, "--skip-preview"], ["preview"], ["destroy", "--yes"]]) {
        const { status, output } = it.runWith({ PULUMI_CONFIG_PASSPHRASE: "wrong" }, ...args);
        expect(status).not.toBe(0);
        expect(output).toContain("incorrect passphrase: the one in PULUMI_CONFIG_PASSPHRASE");
        expect(output).not.toMatch(/\b(created|deleted) \(/);
    }
    const missing = refused(it, UP, { PULUMI_CONFIG_PASSPHRASE: undefined });
    expect(missing).toContain("the passphrase of the stack's secrets is not known");
    expect(missing).toContain("PULUMI_CONFIG_PASSPHRASE_FILE");
    const nowhere = { PULUMI_CONFIG_PASSPHRASE: undefined, PULUMI_CONFIG_PASSPHRASE_FILE: "/nowhere/passphrase" };
    expect(refused(it, UP, nowhere)).toContain("there is no file /nowhere/passphrase");
    expect(readFileSync(stackFile(it), "utf8")).toBe(before);
    it.ok(...UP);
});

// The suites may run as root, whom no mode keeps from writing: a file stands where a directory is needed.
test("a state that cannot be written begins nothing", () => {
    const it = project({ "index.js": `require("fs").writeFileSync("ran", "");${ECHO}new Thing("a");` });
    const locks = join(it.directory, ".maloko", ".pulumi", "locks");
    rmSync(locks, { recursive: true });
    writeFileSync(locks, "");
    const said = refused(it, [...UP, "--skip-preview"]);
    expect(said).toContain(locks);
    expect(said).toContain("a file is where a directory should be");
    expect(existsSync(join(it.directory, "ran"))).toBe(false);
    rmSync(locks);
    it.up();
    it.write({ elsewhere: "" });
    const elsewhere = join(it.directory, "elsewhere");
    expect(refused(it, [...UP, "--backend", `file://${elsewhere}/state`])).toContain(elsewhere);
});

test("a locked stack says who holds it and since when", async () => {
    const it = project({
        "index.js": `const fs = require("fs"); fs.writeFileSync("started", "");
(async () => { while (!fs.existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 5)); })();`,
    });
    const { status } = await it.interrupted([...UP, "--skip-preview"], async ({ pid }) => {
        const said = refused(it, [...UP, "--skip-preview"]);
        expect(said).toContain(`(\`maloko up\`, process ${pid} on `);
        expect(said).toContain("'dev' is locked by maloko of ");
        expect(said).toMatch(/ UTC, \d+ seconds? ago\)\. Wait until it is done\./);
        it.write({ go: "" });
    });
    expect(status).toBe(0);
    it.up();
});

test("a plugin that is missing is named and the rest stays", () => {
    const it = project({
        "index.js": `${ECHO}new Thing("a");new pulumi.CustomResource("aws:s3/bucket:Bucket", "pictures", {});`,
    });
    for (const args of [["preview"], UP, [...UP, "--skip-preview"]]) {
        const { status, output } = it.run(...args);
        expect(status).not.toBe(0);
        expect(output).toContain("no resource plugin 'pulumi-resource-aws' found");
    }
    const { stdout, stderr } = it.run(...UP, "--skip-preview", "--json");
    const events = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { diagnosticEvent?: { urn?: string } });
    expect(events.some(({ diagnosticEvent }) => diagnosticEvent?.urn?.includes("pulumi:providers:aws::default"))).toBe(
        true,
    );
    expect(stderr).toBe("");
    it.write({ "index.js": `require("@pulumi/pulumi").runtime.invoke("aws:index/getRegion:getRegion", {});` });
    expect(it.run("preview").output).toContain("no resource plugin 'pulumi-resource-aws' found");
    expect(it.run("check").output).toContain("index.js:1: the package 'aws' is used");
    const pet = "class Pet extends pulumi.CustomResource {\nconstructor(name) {\n";
    it.write({ "index.js": `${pet}super("random:index/randomPet:RandomPet", name); } }` });
    expect(it.run("check").output).toContain("index.js:3: the package 'random' is used");
    it.write({ "index.js": `${ECHO}new Thing("a");` });
    it.ok(...UP);
});

test("an SDK that is not installed is named as that", () => {
    const it = project({ "index.js": `const pulumi = require("@pulumi/pulumi");\nrequire("@pulumi/acme/web");` });
    const { output } = it.run("check");
    expect(output).toContain("index.js:2: the SDK '@pulumi/acme' is imported and not installed");
    expect(output).toMatch(/run `[^`]*maloko install`/);
    expect(output).not.toContain("no resource plugin");
});

test("an entry point that is missing is named once with what is used in its place", () => {
    const it = project({ "package.json": '{"main": "bin/index.js"}', "index.js": `${ECHO}new Thing("a");` });
    const output = it.ok("up", "--yes");
    const said = `could not find the entry point ${it.directory}/bin/index.js that ${it.directory}/package.json names; using ${it.directory}/index.js in its place`;
    expect(output.split(said)).toHaveLength(2);
    expect(output.split("could not find the entry point")).toHaveLength(2);
});

test("a remote component without its plugin ends the run", () => {
    const site = `class Site extends pulumi.ComponentResource {
    constructor(name) { super("acme:web:Site", name, {}, { version: "1.2.3" }, true /* remote */); }
}
`;
    const it = project({ "index.js": `${ECHO}${site}new Thing("a");new Site("front");` });
    for (const args of [["preview"], UP, [...UP, "--skip-preview"]]) {
        const { status, output } = it.run(...args);
        expect(status).not.toBe(0);
        expect(output).toContain("no resource plugin 'pulumi-resource-acme' found in the workspace at version v1.2.3");
    }
    expect(it.run("check").output).toContain("index.js:5: the package 'acme' is used: no resource plugin");
    // So do its methods and functions, and packages that are made from another one's parameters.
    const runtime = `require("@pulumi/pulumi").runtime`;
    it.write({ "index.js": `${runtime}.call("acme:web:Site/check", {});` });
    expect(it.run("preview").output).toContain("no resource plugin 'pulumi-resource-acme' found");
    it.write({ "index.js": `${runtime}.invoke("acme:web:list", {}, { version: "2.0.0" });` });
    expect(it.run("preview").output).toContain(
        "no resource plugin 'pulumi-resource-acme' found in the workspace at version v2.0.0",
    );
    const parameters = `{ baseProviderName: "terraform", baseProviderVersion: "0.5.0", baseProviderDownloadUrl: "",
        packageName: "random", packageVersion: "3.6.0", base64Parameter: "e30=" }`;
    it.write({
        "index.js": `const pulumi = require("@pulumi/pulumi");
class Pet extends pulumi.CustomResource {
    constructor(name) { super("random:index:Pet", name, {}, {}, false, ${runtime}.registerPackage(${parameters})); }
}
new Pet("rex");`,
    });
    expect(it.run("preview").output).toContain(
        "no resource plugin 'pulumi-resource-terraform' found in the workspace at version v0.5.0",
    );
    it.write({ "index.js": `${ECHO}new Thing("a");` });
    it.ok(...UP);
});

test("another runtime is named with the command that serves it", () => {
    const it = project({ "index.js": "" });
    it.write({ "Pulumi.yaml": "name: test\nruntime: python\n" });
    expect(refused(it)).toContain("python -m maloko");
});
