// What programs that were written for Pulumi rely on.
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { newStack, Thing } from "../support/kit";
import { type Project, project } from "../support/project";

const DIRECTLY = ["--yes", "--skip-preview", "--stack", "dev"];
const PROGRAM = `const pulumi = require("@pulumi/pulumi");
class Provider { async create(inputs) { return { id: "made", outs: inputs }; } }
class Thing extends pulumi.dynamic.Resource {
    constructor(name, opts) { super(new Provider(), name, { name }, opts); }
}
`;

interface StoredResource {
    urn: string;
    id: string;
    provider?: string;
}

function state(it: Project): string {
    return it.ok("stack", "export", "--stack", "dev");
}

function states(it: Project): Record<string, StoredResource> {
    const resources = (JSON.parse(state(it)) as { deployment: { resources: StoredResource[] } }).deployment.resources;
    return Object.fromEntries(resources.map((resource) => [resource.urn.split("::").slice(2).join("::"), resource]));
}

function failing(it: Project, ...args: string[]): string {
    const { status, output } = it.run(...args);
    expect(status, args.join(" ")).not.toBe(0);
    return output;
}

test("a stack name with another project is refused", () => {
    const it = project({ "index.js": `${PROGRAM}new Thing(new pulumi.Config().get("name") ?? "unnamed");` });
    const other = "organization/other/dev";
    for (const args of [
        ["stack", "init", other],
        ["stack", "select", "--create", other],
        ["config", "set", "name", "a", "--stack", other],
        ["preview", "--stack", other],
        ["up", "--yes", "--skip-preview", "--stack", other],
        ["destroy", "--yes", "--skip-preview", "--stack", other],
        ["stack", "rm", "--yes", other],
    ]) {
        const said = failing(it, ...args);
        expect(said).toContain(`the stack '${other}' is of the project 'other', which does not match`);
        expect(said).toContain("Pulumi.yaml:1: here is the project 'test'");
    }
    expect(it.runWith({ PULUMI_STACK: other }, "up", "--yes").output).toContain("is of the project 'other'");
    expect(it.ok("stack", "ls", "--all")).not.toContain(other);
    it.ok("up", "--yes", "--skip-preview", "--stack", "organization/test/dev");
});

test("an explicit provider of the dynamic package itself works", () => {
    const explicit = `${PROGRAM}class Explicit extends pulumi.ProviderResource {
    constructor(name, props = {}) { super("pulumi-nodejs", name, props); }
}
class Group extends pulumi.ComponentResource {
    constructor(name, opts) {
        super("tests:index:Group", name, {}, opts);
        new Thing(name + "-child", { parent: this });
    }
}
`;
    const it = project({
        "index.js": `${explicit}const it = new Explicit("p", { token: pulumi.secret("t0ken-t0ken") });
new Thing("a", { provider: it }); new Group("g", { providers: [it] }); new Thing("b");`,
    });
    expect(it.ok("preview", "--stack", "dev")).toContain("+ 6 to create");
    it.ok("up", ...DIRECTLY);
    const made = states(it);
    const provider = made["pulumi:providers:pulumi-nodejs::p"];
    const reference = `${provider?.urn}::${provider?.id}`;
    expect(provider?.id).toHaveLength(36);
    expect(provider).not.toHaveProperty("provider");
    expect(made["pulumi-nodejs:dynamic:Resource::a"]?.provider).toBe(reference);
    expect(made["tests:index:Group$pulumi-nodejs:dynamic:Resource::g-child"]?.provider).toBe(reference);
    expect(made["pulumi-nodejs:dynamic:Resource::b"]?.provider).toContain("::default::");
    expect(state(it)).not.toContain("t0ken-t0ken");
    it.ok("up", ...DIRECTLY, "--expect-no-changes");
    it.ok("refresh", ...DIRECTLY, "--expect-no-changes");
    // Other inputs update it; its id stays, and nothing happens to those that refer to it.
    it.write({
        "index.js": `${explicit}const it = new Explicit("p", { token: "open" }); new Thing("a", { provider: it });`,
    });
    expect(it.ok("up", ...DIRECTLY)).toContain("~ 1 updated");
    expect(states(it)["pulumi:providers:pulumi-nodejs::p"]?.id).toBe(provider?.id);
    // One that goes takes nothing along: its resources go on with the default provider.
    it.write({ "index.js": `${explicit}new Thing("a");` });
    expect(it.ok("up", ...DIRECTLY)).toContain("- 1 deleted");
    expect(states(it)["pulumi-nodejs:dynamic:Resource::a"]?.provider).toContain("::default::");
    it.ok("destroy", ...DIRECTLY);
});

test("config is the old name of the settings directory", () => {
    const it = project({ "index.js": `${PROGRAM}new Thing(new pulumi.Config().require("name"));` });
    it.write({
        "Pulumi.yaml": "name: test\nruntime: nodejs\nconfig: settings\n",
        "settings/Pulumi.dev.yaml": "config:\n  test:name: from-there\n",
    });
    it.ok("config", "set", "other", "x", "--stack", "dev");
    expect(it.read("settings/Pulumi.dev.yaml")).toContain("test:other: x");
    it.ok("up", ...DIRECTLY);
    expect(states(it)).toHaveProperty(["pulumi-nodejs:dynamic:Resource::from-there"]);
    it.write({ "Pulumi.yaml": "name: test\nruntime: nodejs\nconfig: settings\nstackConfigDir: settings\n" });
    expect(failing(it, "preview", "--stack", "dev")).toContain(
        "both name the directory of the settings files; keep `stackConfigDir` only",
    );
});

test("provider methods have the configuration in a variable", async () => {
    const seen: Record<string, unknown[]> = {};
    let arrived = 0;
    let open: () => void = () => {};
    const both = new Promise<void>((resolve) => {
        open = resolve;
    });
    class Asking {
        async create(inputs: object) {
            const before = process.env.PULUMI_CONFIG;
            if (++arrived === 2) {
                open();
            }
            await both;
            const told = JSON.parse(process.env.PULUMI_CONFIG ?? "{}") as Record<string, string>;
            const place = told["project:place"] ?? "nowhere";
            const same = before === process.env.PULUMI_CONFIG;
            seen[place] = [same, "PULUMI_CONFIG" in process.env, new pulumi.Config().get("place")];
            return { id: place, outs: inputs };
        }
    }
    const run = (place: string) =>
        newStack({ config: { "project:place": place } }).up(() => void new Thing(new Asking(), "a"));
    await Promise.all([run("here"), run("there")]);
    expect(seen).toEqual({ here: [true, true, "here"], there: [true, true, "there"] });
    expect("PULUMI_CONFIG" in process.env).toBe(false);
});

test("the event log has the default providers events", () => {
    const it = project({ "index.js": `${PROGRAM}new Thing("a");` });
    type Step = { metadata: { op: string; urn: string } };
    type Logged = { sequence: number; resourcePreEvent?: Step; resOutputsEvent?: Step; summaryEvent?: object };
    const parsed = (text: string) =>
        text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as Logged);
    const shown = parsed(it.ok("up", ...DIRECTLY, "--json", "--event-log", "log.jsonl"));
    const logged = parsed(it.read("log.jsonl"));
    const steps = (events: Logged[]) =>
        events.flatMap((event) =>
            (["resourcePreEvent", "resOutputsEvent"] as const).flatMap((kind) => {
                const step = event[kind]?.metadata;
                return step === undefined ? [] : [`${kind} ${step.op} ${step.urn.split("::").at(-1)}`];
            }),
        );
    const isDefault = (step: string) => step.endsWith(" default");
    expect(steps(logged).filter(isDefault)).toEqual([
        "resourcePreEvent create default",
        "resOutputsEvent create default",
    ]);
    expect(steps(shown)).toEqual(steps(logged).filter((step) => !isDefault(step)));
    expect(logged.map(({ sequence }) => sequence)).toEqual([...logged.keys()]);
    const summaries = logged.flatMap(({ summaryEvent }) => summaryEvent ?? []);
    expect(summaries).toMatchObject([{ resourceChanges: { create: 2 } }]);
});
