// Pages: what they show of a stack, of a run, and of one that was killed; who may follow a run; summaries for CI.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataOf, Live, type Shown } from "../support/pages";
import { type Project, project } from "../support/project";

const PROGRAM = `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

class Servers {
    async diff(id: string, olds: any, news: any) {
        const replaces = ["size", "host"].filter((key) => olds[key] !== news[key]);
        return { changes: replaces.length > 0, replaces };
    }

    async create(props: any) {
        writeFileSync("created", "");
        if (existsSync("refuse")) {
            throw new RangeError("the quota is used up");
        }
        while (existsSync("die")) {
            if (readFileSync("run.html", "utf8").includes('"kind":"call","name":"create"')) {
                process.kill(process.pid, "SIGKILL");
            }
            await pause();
        }
        if (existsSync("wait")) {
            writeFileSync("started", "");
        }
        while (existsSync("wait")) {
            await pause();
        }
        return { id: \`\${props.kind}-\${props.size ?? 0}\`, outs: props };
    }
}

class Server extends pulumi.dynamic.Resource {
    constructor(name: string, props: any) {
        super(new Servers(), name, { kind: name, ...props });
    }
}

const db = new Server("db", { size: SIZE });
const web = new Server("web", { host: db.id });
export const address = web.id;
`;
const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const HOSTILE = "</script><script>alert(1)</script><!--\u2028& é";

const program = (size: number) => ({ "index.ts": PROGRAM.replace("SIZE", String(size)) });
const page = (its: Project, name = "run.html") => dataOf(its.read(name));

/** The steps with the names of what they are about, but for those that change nothing. */
function steps(data: Shown) {
    return data.run.steps
        .filter((step: { op: string }) => step.op !== "same")
        .map((step: { resource: number }) => ({ ...step, name: data.resources[step.resource].name }));
}

const named = (list: { name: string }[], name: string) => list.findIndex((each) => each.name === name);

test("the page of a run holds its resources, steps and calls", () => {
    const its = project(program(1));
    its.ok("up", "--yes", "--stack", "dev", "--message", "the first one", "--page", "run.html");
    const data = page(its);
    expect(data).toMatchObject({ format: 1, project: "test", stack: "dev", outputs: { address: "web-0" } });
    const { run, resources } = data;
    expect(run).toMatchObject({ kind: "update", dryRun: false, outcome: "succeeded", message: "the first one" });
    expect(run.changes).toEqual({ create: 3 });
    const places = { db: named(resources, "db"), web: named(resources, "web") };
    const web = resources[places.web];
    expect(web).toMatchObject({ id: "web-0", inputs: { host: "db-1" } });
    expect(web.providerClass).toContain("Servers");
    expect(web.dependencies).toContainEqual({ on: places.db, properties: ["host"] });
    expect(resources[web.parent].type).toBe("pulumi:pulumi:Stack");
    for (const name of ["db", "web"] as const) {
        expect(steps(data)).toContainEqual(expect.objectContaining({ name, op: "create", status: "done" }));
        expect(run.activities).toContainEqual(
            expect.objectContaining({ kind: "call", name: "create", resource: places[name], outcome: "ok" }),
        );
    }
    // What was planned, by the preview of the same command.
    expect(run.plan).toContainEqual({ resource: places.db, op: "create" });
    expect(run.criticalPath.length).toBeGreaterThan(0);
    const total = run.criticalPath.reduce((sum: number, { duration }: { duration: number }) => sum + duration, 0);
    expect(total).toBeLessThanOrEqual(run.duration + 1);
});

test("the page of a run says because of what something is replaced", () => {
    const its = project(program(1));
    its.ok(...UP);
    its.write(program(2));
    its.ok("preview", "--stack", "dev", "--page", "preview.html");
    its.ok(...UP, "--page", "run.html");
    for (const [name, kind] of [
        ["preview.html", "preview"],
        ["run.html", "update"],
    ] as const) {
        const data = page(its, name);
        expect(data.run.kind).toBe(kind);
        const replaced = steps(data).filter(({ op }: { op: string }) => op === "replace");
        const [db, web] = ["db", "web"].map((each) => replaced[named(replaced, each)]);
        expect(db.keys).toEqual(["size"]);
        expect(db).not.toHaveProperty("because");
        expect(db.changes.filter(({ path }: { path: string }) => path === "size")).toEqual([
            { path: "size", kind: "update", replace: true, old: 1, new: 2 },
        ]);
        expect(web.because).toEqual({ resource: db.resource, kind: "property", property: "host" });
    }
    // The operations of the past, newest first.
    const data = page(its);
    const { operations } = data.resources[named(data.resources, "db")];
    expect(operations).toMatchObject([{ version: 1, op: "create" }]);
    expect(data.history).toMatchObject([{ version: 1 }]);
});

test.each(["refresh", "destroy"])("other operations have a page too: %s", (verb) => {
    const its = project(program(1));
    its.ok(...UP);
    its.ok(verb, "--yes", "--skip-preview", "--stack", "dev", "--page", "run.html");
    const data = page(its);
    expect(data.run).toMatchObject({ kind: verb, outcome: "succeeded" });
    expect(data.resources[named(data.resources, "web")].gone ?? false).toBe(verb === "destroy");
});

test("a run that fails has its error on the call", () => {
    const its = project({ ...program(1), refuse: "" });
    expect(its.run(...UP, "--page", "run.html").status).toBe(1);
    const { run, resources } = page(its);
    expect(run.outcome).toBe("failed");
    const failed = run.activities.filter(({ outcome }: { outcome?: string }) => outcome === "failed");
    expect(failed).toHaveLength(1);
    expect(failed[0].name).toBe("create");
    expect(resources[failed[0].resource].name).toBe("db");
    expect(failed[0].error).toContain("the quota is used up");
    expect(failed[0].traceback).toContain("index.ts");
    expect(run.diagnostics).toContainEqual(
        expect.objectContaining({ severity: "error", message: expect.stringContaining("the quota is used up") }),
    );
});

test("a run that is killed leaves a page that says so", () => {
    const its = project({ ...program(1), die: "" });
    expect(its.run(...UP, "--page", "run.html").status).not.toBe(0);
    let data = page(its);
    expect(data.run.outcome).toBe("unfinished");
    expect(steps(data)).toContainEqual(expect.objectContaining({ name: "db", op: "create", status: "running" }));
    const calls = data.run.activities.filter(
        ({ kind, name }: { kind: string; name: string }) => kind === "call" && name === "create",
    );
    expect(calls).toHaveLength(1);
    expect(calls[0]).not.toHaveProperty("duration");
    // The page of the stack knows of it, too.
    its.remove("die");
    its.ok("stack", "page", "-o", "stack.html", "--stack", "dev");
    data = page(its, "stack.html");
    expect(data).not.toHaveProperty("run");
    expect(data.unresolvedCreates).toMatchObject([{ name: "db", inputs: { size: 1 } }]);
    expect(data.unresolvedCreates[0].reason).not.toBe("");
});

test("the page of a stack is named after it", () => {
    const its = project(program(1));
    its.ok(...UP);
    expect(its.ok("stack", "page", "--stack", "dev")).toContain("test-dev.html");
    const data = page(its, "test-dev.html");
    expect(data.resources.map(({ name }) => name)).toEqual(expect.arrayContaining(["db", "web"]));
    expect(data.outputs).toEqual({ address: "web-0" });
    expect(data.history).toMatchObject([{ version: 1 }]);
    expect(dataOf(its.ok("stack", "page", "-o", "-", "--stack", "dev")).resources).toEqual(data.resources);
});

test("the history has the pages of its runs", () => {
    const its = project(program(1));
    const history = (...words: string[]) => its.run("stack", "history", "page", "--stack", "dev", ...words);
    expect(history().output).toContain("has no history yet");
    its.ok(...UP);
    its.write(program(2));
    its.ok(...UP);
    expect(dataOf(history("1", "-o", "-").stdout).run.changes).toEqual({ create: 3 });
    expect(history().stdout).toContain("test-dev-2.html");
    const newest = page(its, "test-dev-2.html");
    const replaced = steps(newest).filter(({ op }: { op: string }) => op === "replace");
    expect(replaced.map(({ name }: { name: string }) => name).sort()).toEqual(["db", "web"]);
    expect(newest.run.version).toBe(2);
    // What each run did to a resource, property by property; the steps of a replacement are one.
    const { operations } = newest.resources[named(newest.resources, "db")];
    expect(operations).toMatchObject([
        { version: 2, op: "replace", keys: ["size"] },
        { version: 1, op: "create" },
    ]);
    expect(operations[0].changes.map(({ path }: { path: string }) => path)).toContain("size");
    // Neither a version that is not there, nor one that has no page.
    const missing = history("9");
    expect(missing.status).not.toBe(0);
    expect(missing.output).toContain("has no version 9: it has 1 to 2");
    const names = readdirSync(join(its.directory, ".maloko"), { recursive: true, encoding: "utf8" });
    for (const name of names.filter((each) => each.endsWith(".history.json"))) {
        const { malokoRun: _, ...entry } = JSON.parse(its.read(join(".maloko", name)));
        its.write({ [join(".maloko", name)]: JSON.stringify(entry) });
    }
    const { status, output } = history("1");
    expect(status).not.toBe(0);
    expect(output).toContain("version 1 of the stack 'dev' has no page");
});

test("the history shows one run in words", () => {
    const its = project(program(1));
    its.ok(...UP);
    its.write(program(2));
    its.ok(...UP, "--message", "larger");
    const show = (...words: string[]) => its.run("stack", "history", "show", "--stack", "dev", ...words).output;
    for (const part of ["larger", "because db is replaced", "changed: size"]) {
        expect(show()).toContain(part);
    }
    expect(show("1")).toMatch(/create pulumi-nodejs:dynamic:Resource db/);
    expect(show("3")).toContain("has no version 3");
});

test("texts of users are no markup", () => {
    const its = project({
        "index.ts": `
import * as pulumi from "@pulumi/pulumi";

const HOSTILE = ${JSON.stringify(HOSTILE)};

class Provider {
    async create(props: any) {
        if ("fails" in props) {
            throw new Error(HOSTILE);
        }
        return { id: HOSTILE, outs: props };
    }
}

class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, props: any) {
        super(new Provider(), name, props);
    }
}

new Thing(HOSTILE, { [HOSTILE]: HOSTILE });
void pulumi.log.info(HOSTILE);
module.exports = { [HOSTILE]: HOSTILE };
new Thing("failing", { fails: true });
`,
    });
    const plain = its.ok("stack", "page", "-o", "-", "--stack", "dev");
    const { status, stdout } = its.run(...UP, "--page", "run.html", "--message", HOSTILE, "--summary", "markdown");
    expect(status).toBe(1);
    const table = stdout.split("\n").filter((line) => line.startsWith("|"));
    expect(table.filter((line) => line.includes("<script>"))).toEqual([]);
    const printed = [
        ["stack", "page"],
        ["stack", "history", "page"],
    ].map((words) => its.ok(...words, "-o", "-", "--stack", "dev"));
    for (const text of [its.read("run.html"), ...printed]) {
        // The page's own elements alone, whatever is in its data.
        expect(text).not.toContain("<script>alert");
        expect(text.split("</script>")).toHaveLength(plain.split("</script>").length);
        const { resources } = dataOf(text);
        const thing = resources[named(resources, HOSTILE)];
        expect([thing.inputs[HOSTILE], thing.id]).toEqual([HOSTILE, HOSTILE]);
    }
    const { run } = page(its);
    expect(run.message).toBe(HOSTILE);
    expect(run.diagnostics).toContainEqual(
        expect.objectContaining({ severity: "info", message: expect.stringContaining(HOSTILE) }),
    );
    expect(run.activities).toContainEqual(expect.objectContaining({ error: expect.stringContaining(HOSTILE) }));
});

test("a live page follows a run to its end", async () => {
    const its = project({ ...program(1), wait: "" });
    const told: [name: string, data: string][] = [];
    let live: Live | undefined;
    const { stdout, stderr } = await its.interrupted([...UP, "--page-live"], async (run) => {
        live = new Live(run.output());
        const answer = await live.ask("/");
        expect(answer.statusCode).toBe(200);
        expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
        const text = (await answer.setEncoding("utf8").toArray()).join("");
        expect(text).toContain('<script type="application/json" id="maloko-data">');
        for await (const event of live.events()) {
            told.push(event);
            if (existsSync(join(its.directory, "wait"))) {
                its.remove("wait");
            }
        }
    });
    expect(stderr).toContain("Follow the run at http://127.0.0.1:");
    expect(stdout).not.toContain("Follow the run");
    const [first, ...rest] = told.map(([name, text]) => ({ name, data: JSON.parse(text) }));
    expect(first).toMatchObject({ name: "page", data: { run: { outcome: "unfinished" } } });
    expect(new Set(rest.map(({ name }) => name))).toEqual(new Set(["more"]));
    const last = rest.at(-1)?.data.run;
    expect(last.outcome).toBe("succeeded");
    expect(last.criticalPath.length).toBeGreaterThan(0);
    const done: string[] = first?.data.run.steps.map(({ status }: { status: string }) => status);
    for (const { data } of rest) {
        for (const [place, { status }] of data.steps ?? []) {
            done[place] = status;
        }
    }
    expect(new Set(done)).toEqual(new Set(["done"]));
    // Nobody serves it any more.
    await expect(live?.ask("/")).rejects.toThrow("ECONNREFUSED");
});

test("a live page is for its own address alone", async () => {
    const its = project({ ...program(1), wait: "" });
    await its.interrupted([...UP, "--page-live"], async (run) => {
        const live = new Live(run.output());
        const own = live.place.host;
        for (const path of ["/", "/events"]) {
            expect(await live.status(path, { token: "wrong" })).toBe(403);
            expect(await live.status(path, { origin: "http://elsewhere.example" })).toBe(403);
            expect(await live.status(path, { origin: `https://${own}` })).toBe(403);
            expect(await live.status(path, { host: "elsewhere.example" })).toBe(403);
        }
        expect(await live.status("/", { origin: `http://${own}` })).toBe(200);
        expect(await live.status("/", { method: "POST" })).toBe(405);
        expect(await live.status("/other")).toBe(404);
        its.remove("wait");
    });
});

test("a summary for CI is alone on stdout", () => {
    const its = project(program(1));
    const { stdout, stderr } = its.run(...UP, "--summary", "markdown", "--page", "run.html");
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^### Update of `test\/dev` succeeded in /);
    expect(lines).toContain("3 create");
    expect(lines.filter((line) => line.startsWith("| create | web |"))).toHaveLength(1);
    expect(lines.at(-1)).toBe("The page of this run: `run.html`");
    expect(stderr).toContain("Resources:");
    expect(stdout).not.toContain("Resources:");
    its.write(program(2));
    const summary = its.ok("preview", "--stack", "dev", "--summary", "markdown");
    expect(summary).toMatch(/^### Preview of `test\/dev` succeeded/);
    expect(summary).toContain("because db is replaced");
    its.write({ refuse: "" });
    const failed = its.run(...UP, "--summary", "markdown");
    expect(failed.status).toBe(1);
    for (const part of ["### Update of `test/dev` failed", "**Error of db**", "the quota is used up"]) {
        expect(failed.stdout).toContain(part);
    }
});

test("a page that cannot be written is told before anything is done", () => {
    const its = project({ ...program(1), "a-file": "" });
    const { status, output } = its.run(...UP, "--page", "a-file/run.html");
    expect(status).not.toBe(0);
    expect(output).toContain("run.html (from --page) cannot be written");
    expect(existsSync(join(its.directory, "created"))).toBe(false);
});

test("a short run is not explained in the terminal", () => {
    const its = project(program(1));
    const said = its.ok(...UP);
    expect(said).not.toContain("Slowest calls");
    expect(said).not.toContain("Critical path");
});
