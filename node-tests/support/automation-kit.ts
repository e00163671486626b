// Workspaces for tests of the automation API.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { type InlineProgramArgs, LocalWorkspace, type LocalWorkspaceOptions, type Stack } from "maloko/automation";
import { onTestFinished } from "vitest";
import { Echo, Thing } from "./kit";

const PASSPHRASE = "secret";

/** A directory that is removed after the test. */
export function directory(): string {
    const made = mkdtempSync(join(tmpdir(), "maloko-automation-"));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
}

/** Options of a workspace whose state and files are in a directory that is removed after the test. */
export function placed(options: LocalWorkspaceOptions = {}): LocalWorkspaceOptions {
    const state = directory();
    return {
        workDir: directory(),
        ...options,
        envVars: { PULUMI_BACKEND_URL: `file://${state}`, PULUMI_CONFIG_PASSPHRASE: PASSPHRASE, ...options.envVars },
    };
}

/** A program with one resource, whose text the configuration says, and outputs of several kinds. */
export async function echo() {
    const thing = new Thing(new Echo(), "a", { text: new pulumi.Config().get("text") ?? "none" });
    return { text: thing.text, hidden: pulumi.secret("hush"), list: [1, "two"] };
}

/** A new stack `dev` of the project `project`. */
export async function newStack(
    program: InlineProgramArgs["program"],
    options: LocalWorkspaceOptions = placed(),
): Promise<Stack> {
    const args = { stackName: "dev", projectName: "project", program };
    return LocalWorkspace.createStack(args, options);
}

const HERE = dirname(fileURLToPath(import.meta.url));

/** Runs a script in a process of its own: `up(program)` updates a stack and returns the outcome. */
export function runScript(script: string): { status: number | null; stdout: string; stderr: string } {
    const directory = mkdtempSync(join(HERE, "body-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, "main.cjs");
    writeFileSync(
        file,
        `const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("maloko/automation");
const create = async (inputs) => ({ id: "made", outs: inputs });
class Thing extends pulumi.dynamic.Resource { constructor(name) { super({ create }, name, {}); } }
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
async function up(program, stackName = "dev") {
    const stack = await LocalWorkspace.createStack({ stackName, projectName: "project", program }, JSON.parse(process.argv[2]));
    return stack.up().then(({ summary }) => summary.result, (error) => \`\${error.name}: \${error.cause}\`);
}
(async () => {${script}})();`,
    );
    return spawnSync(process.execPath, [file, JSON.stringify(placed())], { encoding: "utf8" });
}
