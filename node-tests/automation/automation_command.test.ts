import { realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError, type CommandRunner, LocalWorkspace, PulumiCommand } from "maloko/automation";
import { expect, test } from "vitest";
import { directory, newStack, placed } from "../support/automation-kit";
import { Echo, failureOf, Thing } from "../support/kit";
import { NIGHT } from "../support/night";

test("a command is run with the official signature", async () => {
    const options = placed();
    const { workDir = "", envVars = {} } = options;
    const stack = await newStack(async () => void new Thing(new Echo(), "a"), options);
    await stack.up();
    const command = await PulumiCommand.get();
    const told: string[] = [];
    const listed = await command.run(["stack", "ls", "--json"], workDir, envVars, (text) => told.push(text));
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "dev" }]);
    expect(told.join("")).toBe(listed.stdout);
    expect(listed.code).toBe(0);
    const errors: string[] = [];
    const failed = command.run(["stack", "rm", "nowhere"], workDir, envVars, undefined, (text) => errors.push(text));
    expect(await failureOf(failed)).toBeInstanceOf(CommandError);
    expect(errors.join("")).toContain("nowhere");
    // By day Python asks for this.
    if (!NIGHT) {
        return;
    }
    // An operation runs the program of the directory.
    const own = directory();
    writeFileSync(join(own, "Pulumi.yaml"), "name: own\nruntime: nodejs\n");
    writeFileSync(join(own, "index.js"), "exports.directory = __dirname;");
    symlinkSync(join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules"), join(own, "node_modules"));
    await command.run(["stack", "init", "dev"], own, envVars);
    await command.run(["up", "--yes", "--skip-preview", "--stack", "dev"], own, envVars);
    const outputs = await command.run(["stack", "output", "--json", "--stack", "dev"], own, envVars);
    expect(JSON.parse(outputs.stdout)).toEqual({ directory: realpathSync(own) });
    // So it does wherever its name stands.
    const previewed = await command.run(["--stack", "dev", "preview", "--expect-no-changes"], own, envVars);
    expect(previewed.stdout).toContain("unchanged");
});

/** A command of the caller's own, which notes what it is asked for and may hand it on. */
function noting(inner: CommandRunner | undefined): CommandRunner & { calls: string[][] } {
    const calls: string[][] = [];
    return {
        command: "my-own",
        version: null,
        calls,
        run: async (args, cwd, additionalEnv, onOutput, onError, signal) => {
            calls.push([args.join(" "), cwd, additionalEnv.OWN ?? ""]);
            return inner === undefined
                ? { stdout: "{}", stderr: "", code: 0 }
                : inner.run(args, cwd, additionalEnv, onOutput, onError, signal);
        },
    };
}

test("a workspace runs everything through the command that it was given", async () => {
    const own = noting(await PulumiCommand.get());
    const given = placed({ pulumiCommand: own, envVars: { OWN: "mine" } });
    const stack = await newStack(async () => {
        new Thing(new Echo(), "a");
        return { made: "here" };
    }, given);
    const seen: unknown[] = [];
    const { outputs, summary } = await stack.up({ onEvent: (event) => seen.push(event) });
    expect(outputs.made?.value).toBe("here");
    expect(summary.resourceChanges).toEqual({ create: 2 });
    expect(seen.length).toBeGreaterThan(0);
    expect(own.calls.some(([args]) => args?.startsWith("up "))).toBe(true);
    for (const [, cwd, variable] of own.calls) {
        expect([cwd, variable]).toEqual([given.workDir, "mine"]);
    }
});

test("a command that cannot run an inline program is told so", async () => {
    const given = placed();
    const stack = await newStack(async () => {}, given);
    const own = noting(undefined);
    const workspace = await LocalWorkspace.create({ ...given, pulumiCommand: own, program: async () => {} });
    expect(await workspace.pulumiCommand.run(["anything"], "", {})).toMatchObject({ stdout: "{}" });
    const other = await LocalWorkspace.selectStack(
        { stackName: stack.name, projectName: "project", program: async () => {} },
        { ...given, pulumiCommand: own },
    );
    expect((await failureOf(other.up())).message).toContain("('my-own') cannot run an inline program");
});
