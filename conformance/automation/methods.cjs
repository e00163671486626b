// The same as methods.py, of the official Automation API of Node: calls each method on real stacks, and prints a line of
// JSON for each. Arguments: an empty folder, the folder whose node_modules has the SDK, and parts (`life`, `errors`, `local`).
const { strict: assert } = require("node:assert");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const { createRequire } = require("node:module");
const path = require("node:path");

const [folder, packages, ...parts] = process.argv.slice(2);
const load = createRequire(path.join(packages, "package.json"));
const pulumi = load("@pulumi/pulumi");
const auto = load("@pulumi/pulumi/automation");
const { LocalWorkspace, Stack } = auto;

// Members of the classes that are no methods for callers.
const INNER = new Set([
    "constructor",
    "serializeArgsForOp",
    "postCommandCallback",
    "runPulumiCmd",
    "runRemoteCmd",
    "isRemote",
    "checkInlineSupport",
    "checkRemoteSupport",
    "createBaseOptions",
    "inlineSourceStackHelper",
    "localSourceStackHelper",
    "readLines",
    "remoteArgs",
    "run",
    "setupEventLog",
]);

const seen = new Set();
let failed = false;

function row(method, result, note = "") {
    seen.add(method);
    failed ||= result === "fails";
    process.stdout.write(`${JSON.stringify({ method, result, note })}\n`);
}

/** `act` calls them, and asserts what they promise. */
async function method(names, act, note = "") {
    let failure;
    try {
        await act();
    } catch (error) {
        failure = `${error.constructor.name}: ${error.message}`;
    }
    for (const name of [names].flat()) {
        row(name, failure === undefined ? "works" : "fails", failure ?? note);
    }
}

/** `act` calls it, and it is refused with this reason in the error. */
async function refusal(name, reason, act) {
    try {
        await act();
        row(name, "fails", "was not refused");
    } catch (error) {
        const refused = error instanceof auto.CommandError && error.message.includes(reason);
        row(name, refused ? "refused" : "fails", refused ? reason : `${error.constructor.name}: ${error.message}`);
    }
}

async function raises(kind, act) {
    const failure = await act().then(
        () => undefined,
        (error) => error,
    );
    assert.equal(failure?.constructor.name, kind.name);
}

class Group extends pulumi.ComponentResource {
    constructor(name) {
        super("test:index:Group", name);
        this.registerOutputs({});
    }
}

let names = ["a", "b"];
const program = async () => {
    for (const name of names) {
        new Group(name);
    }
    return {
        size: new pulumi.Config().get("size"),
        token: pulumi.secret("t0p"),
        who: `${pulumi.getOrganization()}/${pulumi.getProject()}/${pulumi.getStack()}`,
    };
};
const nothing = async () => ({});
const inline = (stackName, of = nothing, projectName = "shop") => ({ stackName, projectName, program: of });

async function lives() {
    let stack;
    await method(["LocalWorkspace.createStack"], async () => {
        stack = await LocalWorkspace.createStack(inline("dev", program));
        assert.equal(stack.name, "dev");
        await stack.workspace.createStack("spare");
    });
    await method("errors.StackAlreadyExistsError", () =>
        raises(auto.StackAlreadyExistsError, () => LocalWorkspace.createStack(inline("dev"))),
    );
    await method("errors.StackNotFoundError", () =>
        raises(auto.StackNotFoundError, () => LocalWorkspace.selectStack(inline("none"))),
    );
    await method(["LocalWorkspace.selectStack", "Stack.select"], async () => {
        stack = await LocalWorkspace.selectStack(inline("dev", program));
        await stack.workspace.selectStack("dev");
        assert.equal((await Stack.select("dev", stack.workspace)).name, "dev");
    });
    await method(["LocalWorkspace.createOrSelectStack", "Stack.createOrSelect"], async () => {
        stack = await LocalWorkspace.createOrSelectStack(inline("dev", program));
        await Stack.createOrSelect("dev", stack.workspace);
    });
    await method("LocalWorkspace.create", async () => {
        const workspace = await LocalWorkspace.create({ projectSettings: { name: "shop", runtime: "nodejs" } });
        assert.equal((await workspace.projectSettings()).name, "shop");
    });
    await method("Stack.create", async () => {
        assert.equal((await Stack.create("other", stack.workspace)).name, "other");
    });
    await method("fullyQualifiedStackName", async () => {
        const full = auto.fullyQualifiedStackName("organization", "shop", "dev");
        assert.equal(full, "organization/shop/dev");
        assert.equal((await LocalWorkspace.selectStack(inline(full, program))).name, full);
    });
    await configuration(stack, "Stack", []);
    await configuration(stack.workspace, "LocalWorkspace", ["dev"]);
    await operations(stack);
    await results(stack);
    return stack;
}

async function configuration(target, owner, of) {
    await method([`${owner}.setConfig`, `${owner}.getConfig`], async () => {
        await target.setConfig(...of, "size", { value: "21" });
        await target.setConfig(...of, "key", { value: "-k3y", secret: true });
        await target.setConfig(...of, "deep.list[0]", { value: "1" }, true);
        assert.deepEqual(await target.getConfig(...of, "key"), { value: "-k3y", secret: true });
        assert.equal((await target.getConfig(...of, "deep.list[0]", true)).value, "1");
        await raises(auto.CommandError, () => target.getConfig(...of, "missing"));
    });
    await method([`${owner}.setAllConfig`, `${owner}.getAllConfig`], async () => {
        await target.setAllConfig(...of, { one: { value: "a=b" }, two: { value: "s", secret: true } });
        const everything = await target.getAllConfig(...of);
        assert.deepEqual(everything["shop:one"], { value: "a=b", secret: false });
        assert(everything["shop:two"].secret);
        assert.deepEqual(JSON.parse(everything["shop:deep"].value), { list: [1] });
    });
    await method(`${owner}.setAllConfigJson`, async () => {
        await target.setAllConfigJson(...of, JSON.stringify({ "shop:three": { value: "t", secret: true } }));
        assert((await target.getConfig(...of, "three")).secret);
    });
    await method([`${owner}.removeConfig`, `${owner}.removeAllConfig`], async () => {
        await target.removeConfig(...of, "one");
        await target.removeConfig(...of, "deep.list", true);
        await target.removeAllConfig(...of, ["two", "three", "deep", "missing"]);
        assert.deepEqual(Object.keys(await target.getAllConfig(...of)).sort(), ["shop:key", "shop:size"]);
    });
    await method([`${owner}.setTag`, `${owner}.getTag`, `${owner}.listTags`, `${owner}.removeTag`], async () => {
        assert.deepEqual(await target.listTags(...of), {});
        await target.setTag(...of, "team", "web shop");
        assert.equal(await target.getTag(...of, "team"), "web shop");
        assert.deepEqual(await target.listTags(...of), { team: "web shop" });
        await target.removeTag(...of, "team");
        assert.deepEqual(await target.listTags(...of), {});
    });
    const reason = "belongs to Pulumi ESC";
    await refusal(`${owner}.addEnvironments`, reason, () => target.addEnvironments(...of, "prod"));
    await refusal(`${owner}.listEnvironments`, reason, () => target.listEnvironments(...of));
    await refusal(`${owner}.removeEnvironment`, reason, () => target.removeEnvironment(...of, "prod"));
}

async function operations(stack) {
    await method("Stack.preview", async () => {
        const events = [];
        const previewed = await stack.preview({ onEvent: (event) => events.push(event), diff: true });
        assert.deepEqual(previewed.changeSummary, { create: 3 });
        assert("cancelEvent" in events.at(-1));
        assert.deepEqual(
            events.map(({ sequence }) => sequence),
            [...events.keys()],
        );
    });
    await method("Stack.up", async () => {
        let output = "";
        const onOutput = (text) => {
            output += text;
        };
        const made = await stack.up({ message: "first", onOutput, userAgent: "tool/1" });
        assert.deepEqual(
            [made.summary.kind, made.summary.result, made.summary.message],
            ["update", "succeeded", "first"],
        );
        assert.deepEqual(made.summary.resourceChanges, { create: 3 });
        assert.deepEqual(made.outputs, {
            size: { value: "21", secret: false },
            token: { value: "t0p", secret: true },
            who: { value: "organization/shop/dev", secret: false },
        });
        assert(!(made.stdout + made.stderr).includes("t0p"));
        assert(output.includes("+ 3 created"));
        names = ["a"];
        assert.deepEqual((await stack.up()).summary.resourceChanges, { delete: 1, same: 2 });
        assert.deepEqual((await stack.up({ expectNoChanges: true })).summary.resourceChanges, { same: 2 });
    });
    await method("Stack.refresh", async () => {
        assert.equal((await stack.refresh()).summary.kind, "refresh");
    });
    await method("Stack.previewRefresh", async () => {
        assert(Object.values((await stack.previewRefresh()).changeSummary).length > 0);
    });
    await method("Stack.previewDestroy", async () => {
        assert.deepEqual((await stack.previewDestroy()).changeSummary, { delete: 2 });
    });
    await method(["Stack.refreshConfig", "LocalWorkspace.refreshConfig"], async () => {
        await stack.setConfig("size", { value: "1" });
        assert.equal((await stack.refreshConfig())["shop:size"].value, "21");
        assert.equal((await stack.workspace.refreshConfig("dev"))["shop:size"].value, "21");
    });
}

async function results(stack) {
    const { workspace } = stack;
    await method(["Stack.outputs", "LocalWorkspace.stackOutputs"], async () => {
        for (const outputs of [await stack.outputs(), await workspace.stackOutputs("dev")]) {
            assert.deepEqual(outputs, {
                size: { value: "21", secret: false },
                token: { value: "t0p", secret: true },
                who: { value: "organization/shop/dev", secret: false },
            });
        }
    });
    await method("Stack.history", async () => {
        const entries = await stack.history();
        assert.deepEqual(
            entries.map(({ kind, version }) => [kind, version]),
            [
                ["refresh", 4],
                ["update", 3],
                ["update", 2],
                ["update", 1],
            ],
        );
        const [newest] = entries;
        assert(newest.startTime instanceof Date && newest.endTime instanceof Date);
        assert(newest.startTime <= newest.endTime);
        assert.equal(entries.at(-1).environment["exec.kind"], "auto.inline");
        assert.equal(entries.at(-1).environment["exec.agent"], "tool/1");
        assert.equal((await stack.history(1, 4, true))[0].config["shop:key"].value, "-k3y");
    });
    await method("Stack.info", async () => {
        assert.equal((await stack.info()).version, 4);
        assert.equal(await (await LocalWorkspace.selectStack(inline("other"))).info(), undefined);
    });
    const both = (...methods) => methods.flatMap((name) => [`Stack.${name}`, `LocalWorkspace.${name}`]);
    await method(both("exportStack", "importStack"), async () => {
        const exported = await stack.exportStack();
        assert.equal(exported.version, 3);
        const urns = ({ deployment }) => deployment.resources.map(({ urn }) => urn);
        assert.deepEqual(
            urns(exported).map((urn) => urn.split("::").at(-1)),
            ["shop-dev", "a"],
        );
        await stack.importStack(exported);
        await workspace.importStack("dev", exported);
        assert.deepEqual(urns(await workspace.exportStack("dev")), urns(exported));
    });
    await method(["LocalWorkspace.listStacks", "LocalWorkspace.stack"], async () => {
        const listed = await workspace.listStacks();
        assert.deepEqual(listed.map(({ name }) => name).sort(), ["dev", "other", "spare"]);
        const dev = listed.find(({ name }) => name === "dev");
        assert.deepEqual([dev.resourceCount, dev.updateInProgress], [2, false]);
        assert(!Number.isNaN(new Date(dev.lastUpdate).getTime()));
        await workspace.selectStack("dev");
        assert.equal((await workspace.stack()).name, "dev");
        assert((await workspace.listStacks({ all: true })).length >= 3);
    });
    await method("LocalWorkspace.whoAmI", async () => {
        const who = await workspace.whoAmI();
        assert(who.user && who.url.startsWith("file://"));
    });
    const organizations = "do not support organizations";
    await refusal("Stack.orgGetDefault", organizations, () => stack.orgGetDefault());
    await refusal("Stack.orgSetDefault", organizations, () => stack.orgSetDefault("acme"));
    await method("Stack.cancel", () => stack.cancel(), "of a stack that nobody has locked, too");
}

async function errors() {
    await method("errors.CommandError of an inline program", async () => {
        const broken = async () => {
            throw new Error("out of luck");
        };
        const stack = await LocalWorkspace.createStack(inline("broken", broken));
        for (const act of [() => stack.up(), () => stack.preview()]) {
            const failure = await act().then(
                () => undefined,
                (error) => error,
            );
            assert(failure instanceof auto.CommandError);
            assert.match(failure.message, /out of luck/);
        }
    });
    await method("errors.ConcurrentUpdateError", async () => {
        let begun = () => {};
        let finish = () => {};
        const running = new Promise((resolve) => {
            begun = resolve;
        });
        const end = new Promise((resolve) => {
            finish = resolve;
        });
        const waits = async () => {
            begun();
            await end;
        };
        const busy = await LocalWorkspace.createStack(inline("busy", waits));
        const first = busy.up();
        await Promise.race([running, first]);
        try {
            const second = await LocalWorkspace.selectStack(inline("busy"));
            await raises(auto.ConcurrentUpdateError, () => second.up());
        } finally {
            finish();
        }
        assert.equal((await first).summary.result, "succeeded");
    });
    await method(
        "several stacks at once",
        async () => {
            const make = async (name) => {
                const of = async () => {
                    new Group(name);
                    return { who: pulumi.getStack() + name };
                };
                const stack = await LocalWorkspace.createStack(inline(name, of, "many"));
                return (await stack.up()).outputs.who.value;
            };
            assert.deepEqual(await Promise.all(["x", "y", "z"].map(make)), ["xx", "yy", "zz"]);
        },
        "from one process, each with its own program",
    );
}

/** Serves the archive of a plugin `acme` 1.2.3. */
async function pluginServer() {
    const program = "pulumi-resource-acme";
    fs.writeFileSync(path.join(folder, program), "#!/bin/sh\n", { mode: 0o755 });
    const archive = execFileSync("tar", ["-czf", "-", "-C", folder, program]);
    const server = http.createServer(({ url }, response) => {
        const found = url.split("/").at(-1).startsWith("pulumi-resource-acme-v1.2.3-");
        response.writeHead(found ? 200 : 404).end(found ? archive : "");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return server;
}

async function plugins(workspace) {
    const server = await pluginServer();
    const address = `http://127.0.0.1:${server.address().port}`;
    const installed = async () => (await workspace.listPlugins()).map(({ name, version }) => [name, version]);
    await method(["LocalWorkspace.installPluginFromServer", "LocalWorkspace.listPlugins"], async () => {
        assert.deepEqual(await installed(), []);
        await workspace.installPluginFromServer("acme", "v1.2.3", address);
        assert.deepEqual(await installed(), [["acme", "1.2.3"]]);
    });
    await method("LocalWorkspace.removePlugin", async () => {
        await workspace.removePlugin("acme", ">=1.0.0");
        assert.deepEqual(await installed(), []);
    });
    await method("LocalWorkspace.installPlugin", async () => {
        workspace.envVars.PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES = `acme=${address}`;
        await workspace.installPlugin("acme", "v1.2.3");
        assert.deepEqual(await installed(), [["acme", "1.2.3"]]);
        await workspace.removePlugin();
    });
    server.close();
    server.closeAllConnections();
}

async function localPrograms() {
    const workDir = path.join(folder, "local");
    fs.mkdirSync(workDir);
    fs.symlinkSync(path.join(packages, "node_modules"), path.join(workDir, "node_modules"));
    const write = (name, text) => fs.writeFileSync(path.join(workDir, name), text);
    write("Pulumi.yaml", "name: local\nruntime: nodejs\n");
    write("package.json", '{"main": "index.js"}');
    write("index.js", 'exports.x = "y";\n');
    let stack;
    await method(
        "local program",
        async () => {
            stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", workDir });
            assert.equal((await stack.up()).outputs.x.value, "y");
        },
        "a folder with Pulumi.yaml",
    );
    const { workspace } = stack;
    await method("errors.CommandError of a local program", async () => {
        write("index.js", 'throw new Error("out of luck");\n');
        const failure = await stack.up().catch((error) => error);
        assert(failure instanceof auto.CommandError);
        assert.match(failure.message, /out of luck/);
    });
    await method(["LocalWorkspace.projectSettings", "LocalWorkspace.saveProjectSettings"], async () => {
        const settings = await workspace.projectSettings();
        assert.deepEqual([settings.name, settings.runtime], ["local", "nodejs"]);
        await workspace.saveProjectSettings({ ...settings, description: "by hand" });
        assert.equal((await workspace.projectSettings()).description, "by hand");
    });
    await method(["LocalWorkspace.stackSettings", "LocalWorkspace.saveStackSettings"], async () => {
        await stack.setConfig("size", { value: "1" });
        const kept = await workspace.stackSettings("dev");
        assert.deepEqual({ ...kept.config }, { "local:size": "1" });
        kept.config["local:more"] = "2";
        await workspace.saveStackSettings("dev", kept);
        assert.equal((await stack.getConfig("more")).value, "2");
    });
    await plugins(workspace);
    const bare = () => workspace.install({ noDependencies: true });
    await method("LocalWorkspace.install", bare, "tried without dependencies");
    await method("Stack.destroy", async () => {
        write("index.js", "");
        const { summary } = await stack.destroy();
        assert.deepEqual([summary.kind, summary.result], ["destroy", "succeeded"]);
        assert.deepEqual((await stack.exportStack()).deployment.resources ?? [], []);
    });
    await method("LocalWorkspace.removeStack", async () => {
        await workspace.removeStack("dev");
        assert.deepEqual(await workspace.listStacks(), []);
    });
}

async function theEnd(before) {
    let stack = before;
    await method("Stack.rename", async () => {
        await stack.workspace.removeStack("spare");
        const { summary } = await stack.rename({ stackName: "live" });
        assert.deepEqual([summary.kind, summary.result], ["rename", "succeeded"]);
        stack = await LocalWorkspace.selectStack(inline("live", program));
        assert.equal((await stack.outputs()).size.value, "21");
    });
    await method(
        "Stack.import",
        async () => {
            const resources = [{ type: "test:index:Group", name: "c", component: true }];
            const imported = await stack.import({ resources, protect: false, generateCode: false });
            assert.equal(imported.summary.result, "succeeded");
        },
        "tried with a component",
    );
    await method("Stack.destroy, inline", async () => {
        assert.equal((await stack.destroy({ remove: true })).summary.result, "succeeded");
    });
}

async function main() {
    const wanted = (part) => parts.length === 0 || parts.includes(part);
    const stack = wanted("life") ? await lives() : undefined;
    if (wanted("errors")) {
        await errors();
    }
    if (wanted("local")) {
        await localPrograms();
    }
    if (stack !== undefined) {
        await theEnd(stack);
    }
    process.exitCode = failed ? 1 : 0;
    if (parts.length > 0) {
        return;
    }
    for (const owner of [LocalWorkspace, Stack]) {
        const members = [...Object.getOwnPropertyNames(owner.prototype), ...Object.getOwnPropertyNames(owner)];
        for (const name of new Set(members)) {
            const member = Object.getOwnPropertyDescriptor(owner.prototype, name)?.value ?? owner[name];
            const full = `${owner.name}.${name}`;
            if (typeof member === "function" && !INNER.has(name) && !seen.has(full)) {
                row(full, "fails", "is not called");
            }
        }
    }
    process.exitCode = failed ? 1 : 0;
}

main();
