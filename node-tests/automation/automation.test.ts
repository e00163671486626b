import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import {
    CommandError,
    type CommandRunner,
    type EngineEvent,
    LocalWorkspace,
    type PreviewResult,
    PulumiCommand,
    StackAlreadyExistsError,
    StackNotFoundError,
    type UpResult,
} from "maloko/automation";
import { expect, test } from "vitest";
import { directory, echo, newStack, placed } from "../support/automation-kit";
import { collector } from "../support/collector";
import { Echo, failureOf, type Props, Recording, Thing } from "../support/kit";

test("a stack is made and its outputs are read", async () => {
    const stack = await newStack(echo);
    const result: UpResult = await stack.up({ message: "first" });
    expect(result.outputs).toEqual({
        text: { value: "none", secret: false },
        hidden: { value: "hush", secret: true },
        list: { value: [1, "two"], secret: false },
    });
    expect(await stack.outputs()).toEqual(result.outputs);
    const { kind, result: how, message, version, resourceChanges, startTime, endTime } = result.summary;
    expect({ kind, how, message, version }).toEqual({ kind: "update", how: "succeeded", message: "first", version: 1 });
    expect(resourceChanges).toEqual({ create: 2 });
    expect(startTime).toBeInstanceOf(Date);
    expect(endTime.getTime()).toBeGreaterThanOrEqual(startTime.getTime());
    expect(result.stdout).toContain("2 created");
    expect(result.stdout + result.stderr).not.toContain("hush");
});

test("a stack is made once and selected afterwards", async () => {
    const args = { stackName: "dev", projectName: "project", program: echo };
    const options = placed();
    await expect(LocalWorkspace.selectStack(args, options)).rejects.toBeInstanceOf(StackNotFoundError);
    const made = await LocalWorkspace.createOrSelectStack(args, options);
    await made.up();
    const again = await LocalWorkspace.createOrSelectStack(args, options);
    expect((await again.up()).summary.resourceChanges).toEqual({ same: 2 });
    await expect(LocalWorkspace.createStack(args, options)).rejects.toBeInstanceOf(StackAlreadyExistsError);
    expect((await LocalWorkspace.selectStack(args, options)).name).toBe("dev");
    expect(await again.workspace.listStacks()).toMatchObject([{ name: "dev", current: true, resourceCount: 3 }]);
    expect((await again.workspace.stack())?.name).toBe("dev");
});

test("a preview counts what would be done", async () => {
    const stack = await newStack(echo);
    const preview: PreviewResult = await stack.preview();
    expect(preview.changeSummary).toEqual({ create: 2 });
    expect(preview.stdout).toContain("2 to create");
    expect(await stack.history()).toEqual([]);
    await stack.up();
    expect((await stack.preview()).changeSummary).toEqual({ same: 2 });
    expect((await stack.previewRefresh()).changeSummary).toEqual({ same: 2 });
    expect((await stack.previewDestroy()).changeSummary).toEqual({ delete: 2 });
    expect((await stack.up()).summary.resourceChanges).toEqual({ same: 2 });
});

test("a destroy leaves out what is protected where that is asked for", async () => {
    const stack = await newStack(async () => {
        new Thing(new Recording(), "kept", { text: "a" }, { protect: true });
        new Thing(new Recording(), "left", { text: "a" }, { retainOnDelete: true });
    });
    await stack.up();
    const excludeProtected = true;
    expect((await stack.previewDestroy({ excludeProtected })).changeSummary).toEqual({ retain: 1, same: 2 });
    expect((await stack.destroy({ excludeProtected })).summary.resourceChanges).toEqual({ retain: 1, same: 2 });
    expect((await stack.exportStack()).deployment.resources.at(-1).urn).toContain("::kept");
});

test("outputs and summary are left out where nobody wants them", async () => {
    const inner = await PulumiCommand.get();
    let asked: string[] = [];
    const pulumiCommand: CommandRunner = {
        command: "noting",
        version: null,
        run: (args, ...rest) => {
            asked.push(args[0] as string);
            return inner.run(args, ...rest);
        },
    };
    const stack = await newStack(echo, placed({ pulumiCommand }));
    asked = [];
    const up = await stack.up({ outputs: false, summary: false });
    const refreshed = await stack.refresh({ summary: false });
    const destroyed = await stack.destroy({ summary: false });
    expect(asked).toEqual(["up", "refresh", "destroy"]);
    expect([up.summary, refreshed.summary, destroyed.summary]).toEqual([undefined, undefined, undefined]);
    expect(up.outputs).toEqual({});
    expect([up.changes, refreshed.changes, destroyed.changes]).toEqual([{ create: 2 }, { same: 2 }, { delete: 2 }]);
    expect(up.stdout).toContain("2 created");
    const withSummary = await stack.up({ outputs: false });
    expect([withSummary.outputs, withSummary.summary.resourceChanges]).toEqual([{}, withSummary.changes]);
    expect((await stack.up({ summary: false })).outputs.text?.value).toBe("none");
});

test("refresh and destroy run the inline program", async () => {
    const provider = Object.assign(new Recording(), {
        read: async (id: string) => ({ id, props: { text: "drifted" } }),
    });
    const stack = await newStack(async () => void new Thing(provider, "a", { text: "wanted" }));
    await stack.up();
    expect((await stack.refresh()).summary.kind).toBe("refresh");
    const { deployment } = await stack.exportStack();
    expect(deployment.resources.at(-1).outputs.text).toBe("drifted");
    const { summary } = await stack.destroy({ remove: true });
    expect([summary.kind, summary.resourceChanges]).toEqual(["destroy", { delete: 2 }]);
    expect(provider.calls.map(([method]) => method)).toContain("delete");
    expect(await stack.workspace.listStacks()).toEqual([]);
});

test("configuration is set and read", async () => {
    const stack = await newStack(echo);
    await stack.setConfig("text", { value: "plain" });
    await stack.setConfig("token", { value: "--hush", secret: true });
    await stack.setConfig("deep.list[0]", { value: "first" }, true);
    await stack.setAllConfig({ one: { value: "1" }, two: { value: "a=b", secret: true }, "other:key": { value: "x" } });
    expect(await stack.getConfig("token")).toMatchObject({ value: "--hush", secret: true });
    expect(await stack.getConfig("deep.list[0]", true)).toMatchObject({ value: "first", secret: false });
    const keys = ["other:key", "project:deep", "project:one", "project:text", "project:token", "project:two"];
    expect(Object.keys(await stack.getAllConfig()).sort()).toEqual(keys);
    expect((await stack.up()).outputs.text?.value).toBe("plain");
    await stack.removeConfig("deep.list", true);
    await stack.removeAllConfig(["one", "two"]);
    await stack.setAllConfigJson(
        JSON.stringify({ "project:text": { value: "json" }, "project:list": { objectValue: ["a", { "b.c": 1 }] } }),
    );
    expect((await stack.getConfig("text")).value).toBe("json");
    expect(JSON.parse((await stack.getConfig("list")).value)).toEqual(["a", { "b.c": 1 }]);
    await expect(stack.getConfig("one")).rejects.toBeInstanceOf(CommandError);
    expect(Object.keys(await stack.refreshConfig()).sort()).toEqual(keys);
    const settings = readFileSync(join(stack.workspace.workDir, "Pulumi.dev.yaml"), "utf8");
    expect(settings).not.toContain("hush");
});

test("messages for debugging are shown where they are asked for", async () => {
    const stack = await newStack(async () => {
        await pulumi.log.debug("a detail");
    });
    expect((await stack.preview()).stdout).not.toContain("a detail");
    expect((await stack.up({ debug: true })).stdout).toContain("a detail");
});

test("tags of a stack are set, read and removed", async () => {
    const stack = await newStack(echo);
    expect(await stack.listTags()).toEqual({});
    await stack.setTag("team", "web");
    await stack.setTag("cost:center", "-7");
    expect(await stack.getTag("cost:center")).toBe("-7");
    await stack.removeTag("team");
    expect(await stack.listTags()).toEqual({ "cost:center": "-7" });
    await expect(stack.getTag("team")).rejects.toThrow("stack tag 'team' not found for stack 'dev'");
});

test("the history tells of every operation", async () => {
    const stack = await newStack(echo);
    await stack.up({ message: "one" });
    await stack.setConfig("token", { value: "hush", secret: true });
    await stack.setConfig("text", { value: "changed" });
    await stack.up({ message: "two" });
    await stack.up();
    await stack.destroy({ message: "three" });
    const history = await stack.history();
    expect(history.map(({ message, kind, version }) => [message, kind, version])).toEqual([
        ["three", "destroy", 4],
        ["", "update", 3],
        ["two", "update", 2],
        ["one", "update", 1],
    ]);
    expect((await stack.history(1, 3)).map(({ message }) => message)).toEqual(["two"]);
    expect((await stack.info())?.environment["exec.kind"]).toBe("auto.inline");
    expect((await stack.info())?.config["project:token"]).toMatchObject({ value: "hush", secret: true });
    expect((await stack.info(false))?.config["project:token"]?.value).toBeUndefined();
});

test("output and events are told while an operation goes on", async () => {
    const [told, events]: [string[], EngineEvent[]] = [[], []];
    let hear = () => {};
    const heard = new Promise<void>((resolve) => {
        hear = resolve;
    });
    const provider = {
        create: async (inputs: Props) => {
            // The event of its beginning is told while the call goes on.
            await heard;
            return { id: "made", outs: inputs };
        },
    };
    const stack = await newStack(async () => void new Thing(provider, "a"));
    const result = await stack.up({
        onOutput: (text) => told.push(text),
        onEvent: (event) => {
            events.push(event);
            if (event.resourcePreEvent?.metadata.urn.endsWith("::a")) {
                hear();
            }
        },
    });
    expect(told.join("")).toBe(result.stdout);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.flatMap(({ summaryEvent }) => summaryEvent?.resourceChanges ?? [])).toEqual([{ create: 2 }]);
    expect(events.at(-1)?.cancelEvent).toBeDefined();
});

test("targets excludes and replacements are named", async () => {
    const stack = await newStack(async () => {
        new Thing(new Echo(), "a");
        new Thing(new Echo(), "b");
    });
    const urn = (name: string) => `urn:pulumi:dev::project::pulumi-nodejs:dynamic:Resource::${name}`;
    await stack.up({ target: [urn("a")] });
    expect((await stack.preview({ exclude: [urn("b")] })).changeSummary.create).toBeUndefined();
    await stack.up({ parallel: 1, continueOnError: true, color: "never", suppressOutputs: true });
    expect((await stack.up({ replace: [urn("b")] })).summary.resourceChanges).toMatchObject({ same: 2, replace: 1 });
});

test("differences of an import are refused where that is asked for", async () => {
    const read = async (id: string) => ({ id, props: { text: `of ${id}` } });
    const update = async (_id: string, _olds: Props, news: Props) => ({ outs: news });
    const provider = Object.assign(new Echo(), { read, update });
    const stack = await newStack(async () => {
        new Thing(provider, "taken", { text: "other" }, { import: "7" });
    });
    for (const operate of [stack.preview.bind(stack), stack.up.bind(stack)]) {
        const error = await failureOf(operate({ refuseImportDifferences: true }));
        expect(error).toBeInstanceOf(CommandError);
        expect(String(error)).toContain("it is not as the program says in text");
    }
    expect((await stack.up()).summary.resourceChanges).toEqual({ same: 1, import: 1, update: 1 });
});

test("an operation sends traces to the collector that it names", async () => {
    class Found extends Echo {
        async read(id: string) {
            return { id, props: { text: "t" } };
        }
    }
    const stack = await newStack(async () => {
        new Thing(new Found(), "echo", { text: "t" });
    });
    stack.workspace.envVars.OTEL_EXPORTER_OTLP_PROTOCOL = "http/json";
    const seen = await collector();
    const otelTraces = seen.address;
    await stack.up({ otelTraces });
    await stack.preview({ otelTraces });
    await stack.refresh({ otelTraces });
    await stack.destroy({ otelTraces });
    const resources = [{ type: "pulumi-nodejs:dynamic:Resource", name: "echo", id: "7" }];
    await stack.import({ resources, protect: false, otelTraces });
    await stack.up();
    const operations = seen.spans.filter(({ parent }) => parent === "").map(({ name }) => name);
    expect(operations).toEqual(["maloko up", "maloko preview", "maloko refresh", "maloko destroy", "maloko import"]);
});

test("a plan is followed", async () => {
    const stack = await newStack(echo);
    const plan = join(stack.workspace.workDir, "plan.json");
    await stack.preview({ plan });
    await stack.setConfig("text", { value: "changed" });
    expect(await failureOf(stack.up({ plan }))).toBeInstanceOf(CommandError);
    await stack.preview({ plan });
    expect((await stack.up({ plan })).outputs.text?.value).toBe("changed");
});

test("a state is exported and imported", async () => {
    const stack = await newStack(echo);
    await stack.up();
    const state = await stack.exportStack();
    expect([state.version, state.deployment.resources.length]).toEqual([3, 3]);
    await stack.destroy();
    await stack.importStack(state);
    expect((await stack.exportStack()).deployment.resources.length).toBe(3);
    expect((await stack.outputs()).hidden).toEqual({ value: "hush", secret: true });
});

test("a stack is renamed and removed", async () => {
    const stack = await newStack(echo);
    await stack.up();
    const { summary } = await stack.rename({ stackName: "prod" });
    expect([stack.name, summary.kind]).toEqual(["prod", "rename"]);
    await expect(stack.workspace.removeStack("prod")).rejects.toBeInstanceOf(CommandError);
    await stack.workspace.removeStack("prod", { force: true });
    expect(await stack.workspace.listStacks()).toEqual([]);
});

test("objects that exist are taken over", async () => {
    class Found extends Echo {
        async read(id: string) {
            return { id, props: { text: `of ${id}` } };
        }
    }
    const provider = new Found();
    let wanted = false;
    const stack = await newStack(async () => {
        new Thing(provider, "known", { text: "k" });
        if (wanted) {
            new Thing(provider, "taken", { text: "of 7" });
        }
    });
    await stack.up();
    wanted = true;
    const result = await stack.import({
        resources: [{ type: "pulumi-nodejs:dynamic:Resource", name: "taken", id: "7" }],
        protect: false,
    });
    expect(result.summary.resourceChanges).toMatchObject({ import: 1 });
    expect((await stack.up()).summary.resourceChanges).toEqual({ same: 3 });
});

test("settings of projects and stacks are files", async () => {
    const options = placed({
        projectSettings: { name: "named", runtime: "nodejs", description: "of a test" },
        stackSettings: { dev: { config: { "named:text": "from settings" } } },
    });
    const stack = await newStack(echo, options);
    expect(await stack.workspace.projectSettings()).toEqual(options.projectSettings);
    expect((await stack.up()).outputs.text?.value).toBe("from settings");
    const settings = await stack.workspace.stackSettings("dev");
    expect(Object.keys(settings)).toContain("encryptionSalt");
    await stack.workspace.saveStackSettings("dev", { ...settings, config: { "named:text": "saved" } });
    expect(await stack.workspace.stackSettings("dev")).toEqual({ ...settings, config: { "named:text": "saved" } });
    expect(readFileSync(join(stack.workspace.workDir, "Pulumi.dev.yaml"), "utf8")).toContain("encryptionsalt: v1:");
    expect((await stack.up()).outputs.text?.value).toBe("saved");
    await expect(stack.workspace.stackSettings("none")).rejects.toThrow("failed to find stack settings file");
    writeFileSync(join(stack.workspace.workDir, "Pulumi.dev.yaml"), "config: [");
    await expect(stack.workspace.stackSettings("dev")).rejects.toThrow(/Pulumi\.dev\.yaml cannot be read/);
});

test("variables of a workspace are not those of the process", async () => {
    const before = { ...process.env };
    const stack = await newStack(async () => ({ passphrase: process.env.PULUMI_CONFIG_PASSPHRASE ?? "not set" }));
    expect((await stack.up()).outputs.passphrase?.value).toBe("not set");
    expect({ ...process.env }).toEqual(before);
});

test("the state of a temporary workspace must have a place", async () => {
    const { envVars } = placed();
    const args = { stackName: "dev", projectName: "project", program: echo };
    const { PULUMI_BACKEND_URL: url = "", ...without } = envVars ?? {};
    const home = { HOME: directory(), XDG_CONFIG_HOME: directory() };
    await expect(
        LocalWorkspace.createStack(args, { envVars: { ...without, ...home, PULUMI_BACKEND_URL: "" } }),
    ).rejects.toThrow("a temporary directory that nothing finds again");
    const stack = await LocalWorkspace.createStack(args, {
        projectSettings: { name: "project", runtime: "nodejs", backend: { url } },
        envVars: { ...without, PULUMI_BACKEND_URL: "" },
    });
    await stack.up();
    expect(existsSync(join(url.slice("file://".length), ".pulumi"))).toBe(true);
});
