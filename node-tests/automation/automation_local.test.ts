import { symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
    CommandError,
    type EngineEvent,
    LocalWorkspace,
    type LocalWorkspaceOptions,
    type Stack,
} from "maloko/automation";
import { expect, onTestFinished, test } from "vitest";
import { directory, placed } from "../support/automation-kit";
import { failureOf } from "../support/kit";
import { atNight, NIGHT } from "../support/night";

const nightly = atNight(test);

const MODULES = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");

const THING = `
import * as pulumi from "@pulumi/pulumi";

class Provider {
    async create(inputs) {
        if (inputs.text.startsWith("bad")) {
            throw new RangeError(\`too \${inputs.text}\`);
        }
        return { id: "made", outs: inputs };
    }
    async delete() {}
}

class Thing extends pulumi.dynamic.Resource {
    declare readonly text: pulumi.Output<string>;
    constructor(name: string, text: pulumi.Input<string>) {
        super(new Provider() as pulumi.dynamic.ResourceProvider, name, { text });
    }
}
`;

/** A stack `dev` of a project with this program. */
function local(
    program: string,
    project = "name: local\nruntime: nodejs\n",
    options: LocalWorkspaceOptions = {},
): Promise<Stack> {
    const workDir = directory();
    writeFileSync(join(workDir, "Pulumi.yaml"), project);
    writeFileSync(join(workDir, "package.json"), "{}");
    writeFileSync(join(workDir, "index.ts"), THING + program);
    symlinkSync(MODULES, join(workDir, "node_modules"));
    return LocalWorkspace.createOrSelectStack({ stackName: "dev", workDir }, placed(options));
}

test("a local program runs in its own directory", async () => {
    const stack = await local(`
        const config = new pulumi.Config();
        export const text = new Thing("a", config.get("text") ?? "none").text;
        export const hidden = config.getSecret("token");
        export const directory = process.cwd();
        export const variable = process.env.OF_WORKSPACE;
        console.log("printed by the program");
    `);
    stack.workspace.envVars.OF_WORKSPACE = "set";
    await stack.setConfig("text", { value: "configured" });
    await stack.setConfig("token", { value: "hush", secret: true });
    const events: EngineEvent[] = [];
    const told: string[] = [];
    const before = process.cwd();
    const result = await stack.up({ onEvent: (event) => events.push(event), onOutput: (text) => told.push(text) });
    expect(result.outputs).toMatchObject({
        text: { value: "configured", secret: false },
        hidden: { value: "hush", secret: true },
        directory: { value: stack.workspace.workDir },
        variable: { value: "set" },
    });
    expect([process.cwd(), process.env.OF_WORKSPACE]).toEqual([before, undefined]);
    expect(result.summary.resourceChanges).toEqual({ create: 2 });
    expect(result.summary.environment).toMatchObject({ "exec.kind": "auto.local" });
    expect(result.stdout).toContain("printed by the program");
    expect(told.join("")).toBe(result.stdout);
    expect(events.filter(({ summaryEvent }) => summaryEvent !== undefined).length).toBe(1);
    // Each is a process of its own.
    if (NIGHT) {
        expect((await stack.preview()).changeSummary).toEqual({ same: 2 });
        expect((await stack.refresh()).summary.kind).toBe("refresh");
    }
    expect((await stack.destroy()).summary.resourceChanges).toEqual({ delete: 2 });
});

nightly("a local program may be in a relative directory", async () => {
    const { workspace } = await local("export const made = true;");
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    process.chdir(dirname(workspace.workDir));
    const args = { stackName: "dev", workDir: basename(workspace.workDir) };
    const stack = await LocalWorkspace.selectStack(args, { envVars: workspace.envVars });
    expect((await stack.up()).outputs.made?.value).toBe(true);
});

nightly("an error of a local program names resource and method", async () => {
    const stack = await local(`new Thing("a", "bad");`);
    const error = (await failureOf(stack.up())) as CommandError;
    expect(error).toBeInstanceOf(CommandError);
    expect([error.urn?.split("::").at(-1), error.method, error.code]).toEqual(["a", "create", 1]);
    const cause = error.cause as Error;
    expect([cause.name, cause.message]).toEqual(["RangeError", "too bad"]);
    expect(cause.stack).toMatch(/index\.ts/);
    expect(error.stdout).toContain("RangeError: too bad");
});

test("an error of a local program has no secret", async () => {
    const stack = await local(`new Thing("a", new pulumi.Config().requireSecret("token"));`);
    await stack.setConfig("token", { value: "bad-but-kept", secret: true });
    const error = (await failureOf(stack.up())) as CommandError;
    const cause = error.cause as Error;
    expect(cause.message).toBe("too [secret]");
    expect(cause.stack).toContain("RangeError: too [secret]");
    expect(`${cause.stack}${error.stdout}${error.stderr}`).not.toContain("bad-but-kept");
});

test("a local program that ends its process is told", async () => {
    const stack = await local(`process.kill(process.pid, "SIGKILL");`);
    const error = (await failureOf(stack.up())) as CommandError;
    expect([error.code, error.stderr]).toEqual([255, expect.stringContaining("was ended by SIGKILL")]);
});

nightly("a local program that ends its process with 0 has failed", async () => {
    const stack = await local(`(process as unknown as { reallyExit(code: number): never }).reallyExit(0);`);
    const error = (await failureOf(stack.up())) as CommandError;
    expect(error).toBeInstanceOf(CommandError);
    expect(error.stderr).toContain("the program ended the process with process.reallyExit(0)");
    expect(error.stderr).toContain("was ended with exit code 1 before the operation was over");
});

test("a local operation is ended by a signal", async () => {
    const stack = await local(`
        import { currentCall } from "maloko";
        class Slow {
            async create(inputs) {
                console.log("begun");
                // It ends once the run is cancelled, however long that takes.
                const { signal } = currentCall();
                await new Promise((resolve) => signal.aborted ? resolve(0) : signal.addEventListener("abort", resolve));
                return { id: "made", outs: inputs };
            }
        }
        class Waits extends pulumi.dynamic.Resource {}
        const first = new Waits(new Slow() as pulumi.dynamic.ResourceProvider, "a", {});
        new Waits(new Slow() as pulumi.dynamic.ResourceProvider, "b", { first: first.id });
    `);
    const stop = new AbortController();
    const onEvent = (event: EngineEvent) => {
        if (event.resourcePreEvent?.metadata.urn.endsWith("::a")) {
            stop.abort(new Error("enough"));
        }
    };
    const error = (await failureOf(stack.up({ signal: stop.signal, onEvent }))) as CommandError;
    expect([error.code, error.cause]).toEqual([8, stop.signal.reason]);
    const { deployment } = await stack.exportStack();
    const names = deployment.resources.map(({ urn }: { urn: string }) => urn.split("::").at(-1));
    expect(names).not.toContain("b");
});

// In Node alone: the module systems, TypeScript and its compiler
nightly("flags of the interpreter are the projects own", async () => {
    const stack = await local(
        "export const flags = process.execArgv;",
        "name: local\nruntime:\n  name: nodejs\n  options:\n    nodeargs: --title=of-project\n",
    );
    expect((await stack.up()).outputs.flags?.value).toEqual(["--title=of-project"]);
});

nightly("a project of another language is refused", async () => {
    const stack = await local("", "name: local\nruntime: python\n").catch((error: unknown) => error as Error);
    const error = stack instanceof Error ? stack : await failureOf(stack.up());
    expect(error).toBeInstanceOf(CommandError);
    expect(error.message).toContain("python");
});
