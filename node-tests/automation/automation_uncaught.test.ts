import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { placed } from "../support/automation-kit";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Runs a script in a process of its own: `up(program)` gives what came of an update of a stack. */
function run(script: string): { status: number | null; stdout: string; stderr: string } {
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

test("an error in a timer of a program fails its own run only", () => {
    const { status, stdout, stderr } = run(`
        const bad = up(async () => {
            setTimeout(() => { throw new RangeError("late"); }, 10);
            await sleep(200);
            new Thing("a");
        }, "bad");
        const good = up(async () => { await sleep(300); new Thing("a"); }, "good");
        console.log(await bad, await good);`);
    expect([status, stdout, stderr]).toEqual([0, "CommandError: RangeError: late succeeded\n", ""]);
});

test("an error of nobodys run ends the process as ever", () => {
    for (const thrown of [
        "setTimeout(() => { throw new RangeError('mine'); }, 100)",
        "void sleep(100).then(() => { throw new RangeError('mine'); })",
    ]) {
        const { status, stderr } = run(`
            ${thrown};
            console.log(await up(async () => { await sleep(5000); }));`);
        expect([status, stderr]).toEqual([1, expect.stringContaining("RangeError: mine")]);
    }
});

test("a listener for uncaught errors is the callers own", () => {
    const { status, stdout } = run(`
        process.on("uncaughtException", (error) => console.log("heard", error.message));
        setTimeout(() => { throw new RangeError("mine"); }, 50);
        console.log(await up(async () => { await sleep(200); new Thing("a"); }));
        console.log(process.listenerCount("uncaughtException"), process.listenerCount("unhandledRejection"));`);
    expect([status, stdout]).toEqual([0, "heard mine\nsucceeded\n1 0\n"]);
});
