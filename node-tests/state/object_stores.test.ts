// Stacks in an object store: what a killed run left is brought back on another machine.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Project } from "../support/project";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const SERVER = join(ROOT, "engine-stores", "tests", "servers", "moto_server.py");

const PROGRAM = `import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
const maker: pulumi.dynamic.ResourceProvider = {
    async create(props: any) {
        if (props.name === "slow" && existsSync(join(__dirname, "hang"))) {
            writeFileSync(join(__dirname, "started"), "");
            await new Promise((resolve) => setTimeout(resolve, 3600_000));
        }
        return { id: props.name, outs: props };
    },
};
class Made extends pulumi.dynamic.Resource {
    constructor(name: string, opts?: pulumi.CustomResourceOptions) {
        super(maker, name, { name }, opts);
    }
}
const quick = new Made("quick");
new Made("slow", { dependsOn: [quick] });`;

/** The address of an S3 store of its own. */
async function store(): Promise<string> {
    const server = spawn(join(ROOT, ".venv", "bin", "python"), [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void server.stdin.end());
    const port = await new Promise((resolve) => server.stdout.once("data", (line) => resolve(String(line).trim())));
    return `s3://states/team?region=us-east-1&endpoint=http://127.0.0.1:${port}`;
}

/** A machine of its own: another directory, the same store. */
function machine(store: string, init: boolean): Project {
    const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
    return new Project({ "index.ts": PROGRAM }, onTestFinished, { PULUMI_BACKEND_URL: store, ...keys }, init);
}

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

function exported(machine: Project): string {
    return machine.ok("stack", "export", "--stack", "dev");
}

test("a stack lives in a bucket", async () => {
    const bucket = await store();
    const [here, there] = [machine(bucket, true), machine(bucket, false)];
    expect(here.ok(...UP)).toContain("3 created");
    expect(there.ok(...UP)).toContain("3 unchanged");
    // A run that changes nothing writes nothing.
    const history = JSON.parse(there.ok("stack", "history", "--json", "--stack", "dev")) as { kind: string }[];
    expect(history.map(({ kind }) => kind)).toEqual(["update"]);
    there.ok("destroy", "--yes", "--skip-preview", "--stack", "dev", "--remove");
    expect(JSON.parse(here.ok("stack", "ls", "--json"))).toEqual([]);
    expect(existsSync(join(here.directory, ".maloko", ".pulumi"))).toBe(false);
});

test("a run that was killed is recovered on another machine", async () => {
    const bucket = await store();
    const [here, there] = [machine(bucket, true), machine(bucket, false)];
    here.write({ hang: "" });
    await here.interrupted(UP, async (child) => child.signal("SIGKILL"));

    expect(there.run("cancel", "--yes", "--stack", "dev").output).toContain("1 lock of the stack");
    expect(there.run(...UP).output).toContain("an earlier run was interrupted while creating this resource");
    const state = exported(there);
    expect(state.split('"id": "quick"').length).toBe(2);
    expect(state.split('"id": "slow"').length).toBe(2);
});

test("a run that is cancelled on another machine writes nothing more", async () => {
    const bucket = await store();
    const [here, there] = [machine(bucket, true), machine(bucket, false)];
    here.write({ hang: "" });
    let before = "";
    const ended = await here.interrupted(UP, async (child) => {
        // A command that waits for its answer must not keep the child's own output waiting.
        const refused = there.run(...UP);
        expect(refused.status).not.toBe(0);
        expect(refused.output).toContain("is locked by maloko");
        expect(refused.output).toContain("`maloko up`");
        there.ok("cancel", "--yes", "--stack", "dev");
        there.ok(...UP);
        before = exported(there);
        child.signal();
        await child.said("cancelling");
        child.signal();
    });
    expect(ended.status).not.toBe(0);
    expect(exported(there)).toBe(before);
});
