// Many stacks: lists of them, which of them others read, and what was done to them by which run.
import { createHash } from "node:crypto";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { type CommandError, type InlineProgramArgs, LocalWorkspace, mayPass } from "maloko/automation";
import { expect, test } from "vitest";
import { directory, echo, newStack, placed } from "../support/automation-kit";
import { Echo, failureOf, Thing } from "../support/kit";

const MODULES = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");

/** Makes stacks of one state, each with a directory of its own. */
function stacksOf(state: string) {
    return (stackName: string, program: InlineProgramArgs["program"] = echo) =>
        LocalWorkspace.createStack(
            { stackName, projectName: "project", program },
            placed({ envVars: { PULUMI_BACKEND_URL: `file://${state}` } }),
        );
}

const reads = (name: string) => async () => ({ text: new pulumi.StackReference(name).getOutput("text") });

test("stacks are listed by the beginning of their names", async () => {
    const stackNamed = stacksOf(directory());
    await stackNamed("tenant-1");
    await stackNamed("tenant-2");
    const stack = await stackNamed("net");
    await stack.up();
    const workspace = stack.workspace as LocalWorkspace;
    const listed = await workspace.listStacks();
    expect(listed.map(({ name, resourceCount }) => [name, resourceCount])).toEqual([
        ["net", 3],
        ["tenant-1", 0],
        ["tenant-2", 0],
    ]);
    expect(listed.map(({ current }) => current)).toEqual([true, false, false]);
    expect(listed.every(({ lastUpdate }) => lastUpdate !== undefined)).toBe(true);
    const of = async (prefix: string) => (await workspace.listStacks({ prefix })).map(({ name }) => name);
    expect(await of("tenant-")).toEqual(["tenant-1", "tenant-2"]);
    expect([await of("n"), await of("none"), (await of("")).length]).toEqual([["net"], [], 3]);
    expect((await workspace.listStacks({ all: true, prefix: "tenant-2" })).map(({ name }) => name)).toEqual([
        "tenant-2",
    ]);
});

test("a list tells what is there also when the state was written by another tool", async () => {
    const state = directory();
    const stack = await stacksOf(state)("dev");
    await stack.up();
    const file = join(state, ".pulumi/stacks/project/dev.json");
    const stored = JSON.parse(readFileSync(file, "utf8"));
    // As `pulumi` leaves it, with what maloko has kept of its own state still beside it.
    const version = "v3.260.0";
    Object.assign(stored.checkpoint.latest.manifest, {
        time: "2031-02-03T04:05:06.789+01:00",
        version,
        magic: createHash("sha256").update(version).digest("hex"),
    });
    stored.checkpoint.latest.resources.pop();
    writeFileSync(file, JSON.stringify(stored));
    const [listed] = await stack.workspace.listStacks();
    expect([listed?.resourceCount, listed?.lastUpdate]).toEqual([2, "2031-02-03T03:05:06.789Z"]);
});

test("a stack tells which stacks it reads", async () => {
    const stackNamed = stacksOf(directory());
    await (await stackNamed("net")).up();
    const tenant = await stackNamed("tenant", reads("organization/project/net"));
    expect(await tenant.references()).toEqual([]);
    await tenant.up();
    expect(await tenant.references()).toEqual(["project/net"]);
    const workspace = tenant.workspace as LocalWorkspace;
    expect(await workspace.stackReferences(["tenant", "net", "none", "organization/other/none"])).toEqual({
        "project/tenant": ["project/net"],
        "project/net": [],
        "project/none": [],
        "other/none": [],
    });
    expect(await workspace.stackReferences([])).toEqual({});
});

test("a stack that is needed and not there is named", async () => {
    for (const [name, needs] of [
        ["net", "project/net"],
        ["organization/infra/net-eu", "infra/net-eu"],
    ] as const) {
        const stack = await newStack(reads(name));
        for (const operation of [() => stack.preview(), () => stack.up()]) {
            const error = (await failureOf(operation())) as CommandError;
            expect([error.reason, error.needs, mayPass(error.reason)]).toEqual(["needs", needs, false]);
            expect(error.text).toContain("there is no stack");
        }
    }
});

test("a stack that a program of its own process needs is named", async () => {
    const options = placed();
    const workDir = options.workDir as string;
    symlinkSync(MODULES, join(workDir, "node_modules"));
    writeFileSync(join(workDir, "Pulumi.yaml"), "name: project\nruntime: nodejs\n");
    writeFileSync(join(workDir, "index.js"), 'new (require("@pulumi/pulumi").StackReference)("net");\n');
    const stack = await LocalWorkspace.createStack({ stackName: "dev", workDir }, options);
    for (const isolated of [false, true]) {
        const error = (await failureOf(stack.up({ isolated }))) as CommandError;
        expect([error.reason, error.needs]).toEqual(["needs", "project/net"]);
    }
});

test("the history tells which run it was", async () => {
    const stack = await newStack(echo);
    const two = async () => {
        await echo();
        new Thing(new Echo(), "b", {});
    };
    await stack.up({ message: "by hand" });
    const { workDir, envVars, pulumiCommand } = stack.workspace;
    const run = "tenants:up/1";
    for (const attempt of [1, 2]) {
        stack.workspace.envVars = { ...envVars, MALOKO_ATTEMPT: `${run}:${attempt}` };
        await stack.up({ message: `for all, ${attempt}`, program: two });
    }
    const told = await stack.history();
    expect(told.map(({ message, environment: of }) => [message, of["maloko.run"], of["maloko.attempt"]])).toEqual([
        ["for all, 2", run, "2"],
        ["for all, 1", run, "1"],
        ["by hand", undefined, undefined],
    ]);
    // A page is of what the run did, whatever came after it.
    stack.workspace.envVars = envVars;
    await stack.up({ message: "by hand, later", program: echo });
    const asked = ["stack", "history", "--json", "--run", run, "--page-size", "1", "--stack", "dev"];
    const { stdout } = await pulumiCommand.run(asked, workDir, envVars);
    const listed = JSON.parse(stdout) as { version: number; message: string }[];
    expect(listed.map(({ version, message }) => [version, message])).toEqual([[3, "for all, 2"]]);
});
