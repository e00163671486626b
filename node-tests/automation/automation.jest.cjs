// The automation API under jest, whose tests run in a realm of their own.
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const pulumi = require("@pulumi/pulumi");
const { CommandError, LocalWorkspace, StackAlreadyExistsError } = require("maloko/automation");

const directory = mkdtempSync(join(tmpdir(), "maloko-jest-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

class Thing extends pulumi.dynamic.Resource {}

const options = {
    workDir: directory,
    envVars: { PULUMI_BACKEND_URL: `file://${directory}`, PULUMI_CONFIG_PASSPHRASE: "secret" },
};

// In Node alone: the same package in jest, as far as it could differ
test("a stack is made, worked on and removed", async () => {
    const create = jest.fn(async (inputs) => ({ id: "made", outs: inputs }));
    const program = async () => ({ n: new Thing({ create }, "a", { n: 1 }).n });
    const args = { stackName: "dev", projectName: "project", program };
    const stack = await LocalWorkspace.createStack(args, options);
    await stack.setConfig("key", { value: "v", secret: true });
    const events = [];
    const { outputs, summary } = await stack.up({ onEvent: (event) => events.push(event) });
    expect([outputs, summary.resourceChanges]).toEqual([{ n: { value: 1, secret: false } }, { create: 2 }]);
    expect(summary.startTime).toBeInstanceOf(Date);
    expect(events.length).toBeGreaterThan(3);
    await expect(LocalWorkspace.createStack(args, options)).rejects.toBeInstanceOf(StackAlreadyExistsError);
    expect((await stack.destroy({ remove: true })).summary.resourceChanges).toEqual({ delete: 2 });
});

test("the error of a provider is the cause", async () => {
    const boom = new Error("boom");
    const program = async () => void new Thing({ create: () => Promise.reject(boom) }, "a", {});
    const args = { stackName: "failing", projectName: "project", program };
    const stack = await LocalWorkspace.createStack(args, options);
    const error = await stack.up().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(CommandError);
    expect([error.cause, error.method]).toEqual([boom, "create"]);
});
