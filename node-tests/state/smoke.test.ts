// What python-tests/state asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atNight, byDay, NIGHT } from "../support/night";
import { type Project, project } from "../support/project";

const nights = atNight(describe);

// Boxes of a world that is a file, as many as another file wants.
const PROGRAM = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
const load = (name: string): Record<string, any> => JSON.parse(fs.readFileSync(name, "utf8"));
function change(edit: (world: Record<string, any>) => void) {
    const world = load("world.json");
    edit(world);
    fs.writeFileSync("world.json", JSON.stringify(world));
}
class BoxProvider {
    async diff(id: string, olds: any, news: any) { return { changes: olds.size !== news.size }; }
    async create(props: any) {
        change((world) => { world[props.name] = { name: props.name, size: props.size }; });
        fs.writeFileSync("started", "");
        return { id: props.name, outs: { name: props.name, size: props.size } };
    }
    async read(id: string, props: any) {
        const found = load("world.json")[id];
        return found === undefined ? {} : { id, props: found, inputs: found };
    }
    async update(id: string, olds: any, news: any) {
        change((world) => { world[id] = { name: news.name, size: news.size }; });
        return { outs: { name: news.name, size: news.size } };
    }
    async delete(id: string) { change((world) => { delete world[id]; }); }
}
class Box extends pulumi.dynamic.Resource {
    constructor(name: string, size: number, opts: pulumi.CustomResourceOptions) {
        super(new BoxProvider() as any, name, { name, size }, opts);
    }
}
for (const [name, [size, opts]] of Object.entries(load("wanted.json"))) new Box(name, size, opts ?? {});
export const names = Object.keys(load("wanted.json"));`;

const PLACE = "index.ts#BoxProvider";
const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

const wants = (it: Project, boxes: Record<string, [number, object?]>) =>
    it.write({ "wanted.json": JSON.stringify(boxes) });
const has = (it: Project, sizes: Record<string, number>) => {
    const world = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, { name, size }]));
    it.write({ "world.json": JSON.stringify(world) });
};
const sizes = (it: Project): Record<string, number> => {
    const world = JSON.parse(it.read("world.json")) as Record<string, { size: number }>;
    return Object.fromEntries(Object.entries(world).map(([name, { size }]) => [name, size]));
};

/** A project whose program wants these boxes; the world has none. */
function boxes(wanted: Record<string, [number, object?]>): Project {
    const it = project({ "index.ts": PROGRAM, "world.json": "{}" });
    wants(it, wanted);
    return it;
}

nights("import", () => {
    test("objects are taken over by the option, by the command and from a list", () => {
        const it = boxes({ a: [1, { import: "n1" }] });
        has(it, { n1: 2, n2: 5, n3: 6 });
        expect(it.run("preview", "--refuse-import-differences", "--stack", "dev").output).toContain(
            "* size: the program has 1, the object has 2",
        );
        it.ok(...UP);
        expect(sizes(it)).toEqual({ n1: 1, n2: 5, n3: 6 });
        const said = it.ok("import", PLACE, "n2", "n2", "--yes", "--protect=false", "--stack", "dev");
        expect(said).toContain('const n2 = new Box("n2", 5);');
        const type = "pulumi-nodejs:dynamic:Resource";
        it.write({ "list.json": JSON.stringify({ resources: [{ type, name: "n3", id: "n3", provider: PLACE }] }) });
        it.ok("import", "--file", "list.json", "--yes", "--skip-preview", "--stack", "dev");
        expect(it.resources().sort()).toEqual(["a", "n2", "n3"]);
        expect(it.run("import", PLACE, "b", "n9", "--yes", "--stack", "dev").output).toContain(
            "there is no object with the id 'n9'",
        );
    });
});

describe("refresh", () => {
    test("what drifted is shown and stored, and what is gone is forgotten", () => {
        const it = boxes({ left: [1], right: [1] });
        it.ok(...UP);
        has(it, { left: 7 });
        const command = ["refresh", "--stack", "dev"];
        if (NIGHT) {
            expect(it.ok(...command, "--preview-only", "--diff")).toMatch(/~ size *: 1 => 7/);
        }
        expect(it.run(...command, "--preview-only", "--expect-no-changes").status).toBe(7);
        const done = it.ok(...command, "--yes", "--skip-preview");
        expect(done).toContain("1 updated");
        expect(done).toContain("1 deleted");
        expect(it.resources()).toEqual(["left"]);
    });
});

nights("refresh_first", () => {
    test("an update that refreshes mends drift and loss", () => {
        const it = boxes({ left: [1], right: [1] });
        it.ok(...UP);
        has(it, { left: 7 });
        it.ok(...UP, "--refresh");
        expect(sizes(it)).toEqual({ left: 1, right: 1 });
        has(it, { left: 7 });
        it.write({ "Pulumi.yaml": "name: test\nruntime: nodejs\noptions:\n  refresh: always\n" });
        expect(it.run("preview", "--expect-no-changes", "--stack", "dev").status).toBe(7);
    });
});

nights("targets", () => {
    test("what is no target stays, and is counted", () => {
        const it = boxes({ left: [1], right: [1] });
        it.ok(...UP);
        const gone = ["destroy", "--yes", "--skip-preview", "--stack", "dev", "--target", "**::left"];
        expect(it.ok(...gone)).toMatch(/2 unchanged/);
        expect(sizes(it)).toEqual({ right: 1 });
    });
});

nights("what_stays", () => {
    test("what is retained is counted as retained, and its provider is not called", () => {
        const it = boxes({ left: [1, { retainOnDelete: true }] });
        it.ok(...UP);
        wants(it, {});
        expect(it.ok(...UP)).toContain("1 retained");
        expect(sizes(it)).toEqual({ left: 1 });
    });
});

nights("doubted_deletions", () => {
    test("what a killed destroy may have deleted is asked for", () => {
        const it = boxes({ left: [1] });
        it.ok(...UP);
        const destroy = ["destroy", "--yes", "--skip-preview", "--stack", "dev"];
        const dies = "process.kill(process.pid, 'SIGKILL');";
        it.write({ "index.ts": PROGRAM.replace("async delete(id: string) { ", `async delete(id: string) { ${dies}`) });
        expect(it.run(...destroy).status).not.toBe(0);
        it.write({ "index.ts": PROGRAM });
        // Somebody else deletes it: a second delete would not find it.
        has(it, {});
        it.ok(...destroy);
        expect(it.resources()).toEqual([]);
    });
});

nights("plans_and_history", () => {
    test("an update keeps to its plan, and is in the history", () => {
        const it = boxes({ a: [1] });
        it.ok("preview", "--save-plan", "plan.json", "--stack", "dev");
        wants(it, { a: [2] });
        const other = it.run(...UP, "--plan", "plan.json");
        expect(other.status).not.toBe(0);
        expect(other.output).toContain("its input 'size' was planned to be 1");
        wants(it, { a: [1] });
        it.ok(...UP, "--plan", "plan.json", "--message", "as planned");
        const history = JSON.parse(it.ok("stack", "history", "--json", "--stack", "dev")) as object[];
        expect(history[0]).toMatchObject({ kind: "update", result: "succeeded", message: "as planned" });
    });

    test("watch runs the program anew when it changes", async () => {
        const it = boxes({ a: [1] });
        await it.interrupted(["watch", "--stack", "dev"], async (child) => {
            await child.said("Waiting for changes");
            it.write({ "index.ts": PROGRAM.replace("name, size }, opts", "name, size: size + 1 }, opts") });
            await child.said("1 updated");
            child.signal("SIGINT");
        });
        expect(sizes(it)).toEqual({ a: 2 });
    });
});

function below(directory: string): { path: string; mode: string; is: unknown[] }[] {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
    return entries
        .filter(({ name }) => !["lease", "gate"].includes(name))
        .map(({ parentPath, name }) => {
            const path = join(parentPath, name);
            const { ino, mtimeMs, mode } = statSync(path);
            return { path, mode: (mode & 0o7777).toString(8), is: [ino, mtimeMs, readFileSync(path, "utf8")] };
        });
}

describe("unchanged_runs", () => {
    test("a run that changes nothing writes nothing", () => {
        const it = boxes({ a: [1] });
        it.ok(...UP);
        const before = below(join(it.directory, ".maloko", ".pulumi"));
        expect(it.ok(...UP)).toContain("2 unchanged");
        expect(below(join(it.directory, ".maloko", ".pulumi"))).toEqual(before);
    });
});

nights("shared_directories", () => {
    test("what maloko makes from nothing is private", () => {
        const it = boxes({ a: [1] });
        mkdirSync(join(it.directory, "own"), { mode: 0o755 });
        it.ok("stack", "init", "other", "--backend", `file://${it.directory}/own`);
        const modes = below(join(it.directory, "own")).map(({ mode }) => mode);
        expect(new Set(modes)).toEqual(new Set(["600"]));
    });
});

// Stacks in a database and in an object store are made and changed by programs/values_property.test.ts as well.
nights("backends", () => {
    test("a stack moves to another place with its history", () => {
        const it = boxes({ a: [1] });
        it.ok(...UP);
        it.ok("stack", "migrate", "--stack", "dev", "--to", "file://moved", "--remove-source", "--yes");
        const there = ["--stack", "dev", "--backend", "file://moved"];
        expect(JSON.parse(it.ok("stack", "history", "--json", ...there))).toHaveLength(1);
        expect(it.run("stack", "output", "--stack", "dev").output).toContain("no stack named 'dev'");
        const { status, output } = it.runWith(
            { MALOKO_BACKEND_URL: "postgres://maloko@127.0.0.1:1/none" },
            "stack",
            "ls",
        );
        expect(status).not.toBe(0);
        expect(output).toContain("127.0.0.1");
    });
});

describe("object_stores", () => {
    test("a bucket that cannot be reached is named", () => {
        const it = boxes({});
        const store = { PULUMI_BACKEND_URL: "s3://states/team?region=us-east-1&endpoint=http://127.0.0.1:1" };
        const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
        const { status, output } = it.runWith({ ...store, ...keys }, "stack", "ls");
        expect(status).not.toBe(0);
        expect(output).toContain("s3://states/team");
    });
});

const CANARY = `t0p-s3cret~/+?&<"'>`;

describe("canaries", () => {
    test.each(
        byDay(["raise", "unwritable", "program"], (mode) => mode !== "unwritable"),
    )("a secret is in no output and no file when a run fails: %s", (mode) => {
        const it = project({
            "index.ts": `import * as pulumi from "@pulumi/pulumi"; import { inspect } from "util";
class Holder { #secret: string; constructor(secret: string) { this.#secret = secret; } handler() { return this.#secret; } }
class Leaky {
    async create(props: any) {
        const secret = props.secret;
        console.log(secret, inspect(secret), JSON.stringify(secret), Buffer.from("user:" + secret).toString("base64"));
        process.stderr.write(encodeURIComponent(secret) + "\\n");
        void pulumi.log.warn("in the log: " + secret);
        if ("${mode}" === "unwritable") return { id: "made", outs: { ...props, bad: new Holder(secret), worse: () => secret, worst: Symbol(secret) } };
        throw new Error("401 for /?key=" + encodeURIComponent(secret) + inspect(new Holder(secret)), { cause: new Error(secret) });
    }
}
class Thing extends pulumi.dynamic.Resource { constructor(secret: any) { super(new Leaky() as any, "one", { secret }); } }
const secret = pulumi.secret(new pulumi.Config().require("token"));
if ("${mode}" === "program") secret.apply((text) => { throw new Error("the program failed with " + text); });
new Thing(secret);`,
        });
        it.ok("config", "set", "--secret", "token", CANARY, "--stack", "dev");
        const commands = [UP, [...UP, "--json"], [...UP, "--page", "run.html"], ["stack", "--stack", "dev"]];
        // By day in text and on a page at once, and as the stack is shown.
        const told = byDay(commands, (_command, place) => place >= 2).map((command) => it.run(...command).output);
        expect(told.join("")).toContain("[secret]");
        const base64 = Buffer.from(CANARY).toString("base64").slice(4, -4);
        const forms = [CANARY, JSON.stringify(CANARY).slice(1, -1), encodeURIComponent(CANARY), base64];
        const files = readdirSync(it.directory, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
            .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
        expect([...told, ...files].filter((text) => forms.some((form) => text.includes(form)))).toEqual([]);
    });
});
