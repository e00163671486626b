// State in a PostgreSQL database, and on the way there and back, as a user drives it.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Interrupted, Project } from "../support/project";

const SERVER = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "engine-stores", "tests", "postgres-server");
const PROGRAM = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
class Provider {
    async create(props: any) {
        if (props.wait > 0) fs.writeFileSync("started", "");
        await new Promise((done) => setTimeout(done, props.wait * 1000));
        return { id: "one", outs: props };
    }
    async update(id: string, olds: any, news: any) { return { outs: news }; }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, wait: number, options?: any) { super(new Provider() as any, name, { wait, size: SIZE }, options); }
}
const a = new Thing("a", 0);
new Thing("b", WAIT, { dependsOn: [a] });
export const size = SIZE;
export const token = pulumi.secret("hush");`;
const ONCE = ["--yes", "--skip-preview", "--stack", "dev"];

const program = (size = 1, wait = 0) => ({
    "index.ts": PROGRAM.replaceAll("SIZE", String(size)).replace("WAIT", String(wait)),
});

let server: ChildProcess;
let address: string;
let number = 0;

beforeAll(async () => {
    server = spawn(SERVER, { stdio: ["pipe", "pipe", "inherit"] });
    for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
        address = line;
        break;
    }
    expect(address, "no server; what is missing is said above").toBeTruthy();
}, 60_000);

afterAll(() => server.stdin?.end());

/** A project whose stack is in a schema of its own. */
function inDatabase(files: Record<string, string>): { it: Project; url: string } {
    number += 1;
    const url = `${address}&schema=node_${number}&lease=5`;
    const it = new Project({ ...files, "Pulumi.yaml": "name: test\nruntime: nodejs\n" }, undefined, {
        MALOKO_BACKEND_URL: url,
    });
    return { it, url };
}

test("a stack lives in a database", () => {
    const { it } = inDatabase(program());
    it.up();
    it.write(program(2));
    it.up();
    expect(it.outputs()).toMatchObject({ size: 2 });
    const history = JSON.parse(it.ok("stack", "history", "--json", "--stack", "dev")) as { kind: string }[];
    expect(history.map(({ kind }) => kind)).toEqual(["update", "update"]);
    const said = it.ok("whoami", "--verbose");
    expect(said).toContain("Backend URL: postgres://maloko@/postgres?host=");
    expect(said).toContain("Chosen by: MALOKO_BACKEND_URL\nState: 1 stack");
    it.ok("destroy", ...ONCE, "--remove");
    expect(JSON.parse(it.ok("stack", "ls", "--json"))).toEqual([]);
    expect(existsSync(join(it.directory, ".maloko", ".pulumi"))).toBe(false);
});

test("who is locked out learns who works on the stack", async () => {
    const { it } = inDatabase(program(1, 60));
    await it.interrupted(["up", ...ONCE], async (child: Interrupted) => {
        const { status, output } = it.run("destroy", ...ONCE, "--no-program");
        expect(status).not.toBe(0);
        expect(output).toContain("'dev' is locked by maloko of");
        expect(output).toContain("`maloko up`");
        expect(output).toContain(`process ${child.pid} on`);
        expect(it.ok("cancel", "--yes", "--stack", "dev")).toContain("1 lock of the stack 'dev' removed");
        child.signal("SIGKILL");
    });
});

test("a run that was killed is brought in without anybodys help", async () => {
    const { it } = inDatabase(program(1, 60));
    await it.interrupted(["up", ...ONCE], async (child: Interrupted) => {
        child.signal("SIGKILL");
    });
    it.write(program());
    const { status, output } = it.run("up", ...ONCE);
    expect(status, output).toBe(0);
    expect(output).toContain("a run of maloko was interrupted");
    expect(it.resources()).toEqual(["a", "b"]);
});

test("a stack moves to a directory and back with its history", () => {
    const { it, url } = inDatabase(program());
    it.up();
    const look = (...where: string[]) => [
        it.ok("stack", "export", "--stack", "dev", ...where),
        it.ok("stack", "history", "--json", "--stack", "dev", ...where),
    ];
    const before = look();
    const withoutPassphrase = (...args: string[]) => {
        const done = it.runWith({ PULUMI_CONFIG_PASSPHRASE: "" }, "stack", "migrate", "--stack", "dev", ...args);
        expect(done.status, done.output).toBe(0);
    };
    withoutPassphrase("--to", "file://moved", "--remove-source", "--yes");
    expect(it.run("stack", "output", "--stack", "dev").output).toContain("no stack named 'dev'");
    const there = ["--backend", "file://moved"];
    expect(look(...there)).toEqual(before);
    withoutPassphrase(...there, "--to", url, "--remove-source", "--yes");
    expect(look()).toEqual(before);
    expect(it.ok("stack", "output", "token", "--show-secrets", "--stack", "dev")).toContain("hush");
    expect(it.up()).toContain("3 unchanged");
});
