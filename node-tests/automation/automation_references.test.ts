// Which stacks a stack reads, as its state has it, the error for one that does not exist, and the run that a history's entry is of.
import { symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { type CommandError, LocalWorkspace, type LocalWorkspaceOptions, mayPass } from "maloko/automation";
import { expect, test } from "vitest";
import { directory, echo, newStack, placed } from "../support/automation-kit";
import { failureOf } from "../support/kit";

const MODULES = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");
const NET = "organization/net/prod";

const refers = async () => ({ text: new pulumi.StackReference(NET).getOutput("text") });

const commandErrorOf = async (failing: Promise<unknown>) => (await failureOf(failing)) as CommandError;

async function makeNet({ envVars }: LocalWorkspaceOptions) {
    const args = { stackName: "prod", projectName: "net", program: echo };
    await (await LocalWorkspace.createStack(args, { workDir: directory(), envVars })).up();
}

test("a stack that the program refers to and that is missing is named", async () => {
    const options = placed();
    const stack = await newStack(refers, options);
    for (const operation of [() => stack.preview(), () => stack.up()]) {
        const error = await commandErrorOf(operation());
        expect([error.reason, error.needs, mayPass(error.reason)]).toEqual(["needs", "net/prod", false]);
        expect(error.text).toContain(`the stack '${NET}' cannot be read: there is no stack '${NET}' in `);
    }
    await makeNet(options);
    expect((await stack.up()).outputs.text?.value).toBe("none");
    // A failure of another kind names none.
    stack.workspace.envVars = { ...stack.workspace.envVars, PULUMI_CONFIG_PASSPHRASE: "wrong" };
    expect((await commandErrorOf(stack.up())).needs).toBeUndefined();
});

test("a program in a process of its own names the missing stack too", async () => {
    const options = placed();
    const workDir = options.workDir as string;
    symlinkSync(MODULES, join(workDir, "node_modules"));
    writeFileSync(join(workDir, "Pulumi.yaml"), "name: project\nruntime: nodejs\n");
    const program = `new (require("@pulumi/pulumi").StackReference)(${JSON.stringify(NET)});`;
    writeFileSync(join(workDir, "index.js"), program);
    const stack = await LocalWorkspace.createStack({ stackName: "dev", workDir }, options);
    for (const isolated of ["false", "true"]) {
        await stack.setConfig("maloko:isolated", { value: isolated });
        const error = await commandErrorOf(stack.up());
        expect([error.reason, error.needs]).toEqual(["needs", "net/prod"]);
    }
});

test("references are those of the last run", async () => {
    const options = placed();
    await makeNet(options);
    const stack = await newStack(refers, options);
    expect(await stack.references()).toEqual([]);
    await stack.up();
    expect(await stack.references()).toEqual(["net/prod"]);
    await stack.workspace.removeStack("dev", { force: true });
    expect(await stack.references()).toEqual([]);
});

test("the history says of which run an entry is and keeps the message", async () => {
    const stack = await newStack(echo, placed({ envVars: { MALOKO_ATTEMPT: "tenants:7:2" } }));
    await stack.up({ message: "the first one" });
    const { workspace } = stack;
    const { MALOKO_ATTEMPT: _, ...others } = workspace.envVars;
    workspace.envVars = others;
    await stack.refresh({ message: "by hand" });
    const listed = async (...flags: string[]) => {
        const words = ["stack", "history", "--stack", "dev", ...flags];
        return (await workspace.pulumiCommand.run(words, workspace.workDir, workspace.envVars)).stdout;
    };
    expect((await stack.history()).map(({ message }) => message)).toEqual(["by hand", "the first one"]);
    const ofRun = await listed("--run", "tenants:7");
    expect(ofRun).toContain("Version: 1\n");
    expect(ofRun).toContain("Message: the first one\n");
    expect(ofRun).toContain("maloko.run: tenants:7\n");
    expect(ofRun).toContain("maloko.attempt: 2\n");
    expect(ofRun).not.toContain("by hand");
    expect(await listed("--run", "tenants:7", "--json")).toContain('"maloko.attempt": "2"');
    expect(await listed("--json", "--page-size", "1")).not.toContain("maloko.run");
    expect(await listed("--run", "tenants")).toBe("The stack's history has nothing of the run 'tenants'\n");
});
