// What a run says is read quickly: failures, plans, drift, and what selects resources.
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const FAILING = `
import { existsSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";

async function post(path: string): Promise<{ id: string }> {
    throw new RangeError(\`HTTP 422 on POST \${path}: the quota is used up\`);
}

class QueueProvider {
    async create(inputs: { name: string }) {
        if (existsSync("healed")) {
            return { id: inputs.name, outs: inputs };
        }
        return { id: (await post("/queues")).id, outs: inputs };
    }
}

class Queue extends pulumi.dynamic.Resource {
    constructor(name: string) {
        super(new QueueProvider(), name, { name });
    }
}

for (let number = 0; number < (existsSync("gone") ? 0 : COUNT); number++) {
    new Queue(\`queue-\${number}\`);
}
`;

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const ERROR = "RangeError: HTTP 422 on POST /queues: the quota is used up";

/** A project whose creates have failed, and what was said of that. */
function failing(count: number): { its: Project; said: string[] } {
    const its = project({ "index.ts": FAILING.replace("COUNT", String(count)) });
    const { status, stdout } = its.run(...UP, "--continue-on-error");
    expect(status).toBe(1);
    return { its, said: stdout.split("\n") };
}

/** The lines that tell of creates that failed. */
const noted = (text: string) => text.split("\n").filter((line) => /raised|unresolved|queue/i.test(line));
const count = (text: string, part: string) => text.split(part).length - 1;

test("a failure reads in three lines", () => {
    const { its, said } = failing(1);
    const first = said.findIndex((line) => line.startsWith("! "));
    expect(said[first]).toMatch(/^! Resource queue-0 failed to create \(.*s\): /);
    expect(said[first]).toContain(`: ${ERROR}`);
    expect(said[first + 1]).toMatch(/^ {4}at post \(index\.ts:\d+\), from QueueProvider\.create \(index\.ts:\d+\)$/);
    expect(said[first + 2]).toContain("1 create raised");
    expect(said[first + 2]).toContain("`maloko stack` shows its error in full");
    // Its three lines are all that there is: the place names the provider's class, too.
    expect(noted(said.join("\n"))).toEqual(said.slice(first, first + 3));
    expect(its.ok("stack", "--stack", "dev")).toContain(ERROR);
    // The frames are there for those who want them, and for programs always.
    expect(count(its.run(...UP, "--show-tracebacks").stdout, "    at post (")).toBe(1);
    expect(count(its.runWith({ MALOKO_SHOW_TRACEBACKS: "true" }, ...UP).stdout, "    at post (")).toBe(1);
    expect(its.run(...UP, "--json").stdout).toContain("    at post (");
});

test("ten failures fit a screen", () => {
    const { said } = failing(10);
    expect(count(said.join("\n"), ERROR)).toBe(10);
    expect(count(said.join("\n"), "at post (index.ts")).toBe(1);
    const told = said.slice(0, said.indexOf("Resources:"));
    const rows = told.map((line) => Math.ceil(Math.max(line.length, 1) / 80));
    expect(rows.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(30);
});

test("the next run tells of creates that raised in one line", () => {
    const { its } = failing(10);
    const others = (text: string) => noted(text).filter((line) => !line.startsWith("+ "));
    const planned = others(its.ok("preview", "--stack", "dev"));
    expect(planned).toHaveLength(1);
    expect(planned[0]).toContain(
        "10 creates that raised in an earlier run are tried again by an update: queue-0, queue-1, queue-2 and 7 more",
    );
    expect(planned[0]).toContain("`maloko stack` shows how each failed");
    its.write({ healed: "" });
    const done = others(its.ok(...UP));
    expect(done).toHaveLength(1);
    expect(done[0]).toContain("10 creates that raised in an earlier run were tried again");
});

test("nothing is told of a create that raised once its resource has left the program", () => {
    const { its } = failing(2);
    its.write({ gone: "" });
    expect(noted(its.ok("preview", "--stack", "dev"))).toEqual([]);
    expect(noted(its.ok(...UP))).toEqual([]);
    // It is not forgotten.
    expect(its.ok("stack", "--stack", "dev")).toContain("2 creates raised, which by the SDK's rules made nothing");
});

// Registers its resources in another order each time; the service answers the last one first.
const ORDERED = `
import * as pulumi from "@pulumi/pulumi";

const group = new pulumi.ComponentResource("demo:index:Group", "group");
const all: [string, pulumi.Resource?][] = [["z", group], ["a", group]];
for (let number = 0; number < 12; number++) {
    all.push([\`thing-\${number}\`]);
}
const first = 5 * Number(process.env.TURN);
const things = [...all.slice(first), ...all.slice(0, first)];
const unanswered = things.map(([name]) => name);
const asked = new Map<string, () => void>();

function answer(): void {
    const last = asked.get(unanswered.at(-1) ?? "");
    if (last) {
        unanswered.pop();
        last();
        answer();
    }
}

class ThingProvider {
    async check(_olds: object, news: { name: string }) {
        await new Promise<void>((resolve) => {
            asked.set(news.name, resolve);
            answer();
        });
        return { inputs: news };
    }

    async create(inputs: { name: string }) {
        return { id: inputs.name, outs: inputs };
    }
}

class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, parent?: pulumi.Resource) {
        super(new ThingProvider(), name, { name }, { parent });
    }
}

for (const [name, parent] of things) {
    new Thing(name, parent);
}
`;

test("text previews list in one order that never varies", () => {
    const its = project({ "index.ts": ORDERED });
    const things = Array.from({ length: 12 }, (_, number) => `thing-${number}`);
    const files = new Set<string>();
    for (let turn = 0; turn < 3; turn++) {
        const preview = ["preview", "--stack", "dev", "--parallel", "20", "--import-file", "new.json"];
        const { stdout: said, status } = its.runWith({ TURN: String(turn) }, ...preview);
        expect(status, said).toBe(0);
        const lines = said.split("\n").filter((line) => line.startsWith("+ "));
        expect(lines.map((line) => line.split(" ")[2])).toEqual(["test-dev", "group", "a", "z", ...things]);
        files.add(its.read("new.json"));
    }
    expect(files.size).toBe(1);
});

const CHANGING = `
import { existsSync, readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";

type Props = Record<string, any>;

class ThingProvider {
    async create(inputs: Props) {
        return { id: inputs.name, outs: { ...inputs, tag: inputs.zone } };
    }

    async diff(_id: string, olds: Props, news: Props) {
        const changed = ["zone", "size"].filter((key) => olds[key] !== news[key]);
        return { changes: changed.length > 0, replaces: changed.filter((key) => key === "zone") };
    }

    async update(_id: string, _olds: Props, news: Props) {
        return { outs: { ...news, tag: news.zone } };
    }

    async read(id: string, props: Props) {
        const world: Props = existsSync("world.json") ? JSON.parse(readFileSync("world.json", "utf8")) : {};
        return { id, props: { ...props, ...world[id] } };
    }
}

class Thing extends pulumi.dynamic.Resource {
    declare readonly tag: pulumi.Output<string>;
    constructor(name: string, zone: pulumi.Input<string>, size = "s", opts?: pulumi.CustomResourceOptions) {
        super(new ThingProvider(), name, { name, zone, size, tag: undefined }, opts);
    }
}

PROGRAM
`;

const changing = (program: string) => ({ "index.ts": CHANGING.replace("PROGRAM", program) });

test("preview --refresh separates drift from plan", () => {
    const its = project(changing('new Thing("a", "x"); new Thing("b", "x");'));
    its.ok(...UP);
    its.write({ "world.json": '{"a": {"size": "l"}}', ...changing('new Thing("a", "x"); new Thing("b", "x", "m");') });
    for (const [heading, ...command] of [
        ["Plan:", "preview", "--refresh", "--stack", "dev"],
        ["Update:", ...UP, "--refresh"],
    ]) {
        const lines = its.ok(...command).split("\n");
        const drift = lines.findIndex((line) => line.startsWith("Drift,"));
        const plan = lines.indexOf(heading as string);
        expect(drift).toBeGreaterThan(0);
        expect(plan).toBeGreaterThan(drift);
        const found = lines.slice(drift, plan).join("\n");
        expect(found).toContain("\n~ Resource a changed");
        expect(found).not.toContain("Resource b");
        expect(lines.slice(plan).join("\n")).toContain("\n~ Resource b update");
    }
    its.write({ "world.json": "{}" });
    its.ok(...UP, "--refresh");
    expect(its.ok("preview", "--refresh", "--stack", "dev")).toContain("\nDrift: none\n");
});

test("a cascading replacement says because of what", () => {
    const program = (zone: string) => changing(`const db = new Thing("db", "${zone}"); new Thing("web", db.tag);`);
    const its = project(program("x"));
    its.ok(...UP);
    its.write(program("y"));
    const because = "because Resource db, which it depends on by 'zone', is replaced";
    for (const command of [["preview", "--stack", "dev"], UP]) {
        const lines = its.ok(...command).split("\n");
        const said = lines.filter((line) => line.includes(because));
        expect(said).toHaveLength(1);
        expect(said[0]).toContain("Resource web");
    }
});

test("changes of the state alone are shown", () => {
    const its = project(changing('new Thing("old", "x"); new Thing("kept", "x");'));
    its.ok(...UP);
    its.write(
        changing(`new Thing("new", "x", "s", { aliases: [{ name: "old" }] });
                  new Thing("kept", "x", "s", { protect: true });`),
    );
    const planned = its.ok("preview", "--stack", "dev");
    expect(planned).toContain("Resource new: moved from 'urn:pulumi:dev::test::");
    expect(planned).toContain("Resource kept: protected");
    const done = its.ok(...UP);
    expect(done).toContain("Resource new: moved from 'urn:pulumi:dev::test::");
    expect(done).toContain("Resource kept: protected");
    its.write(changing('new Thing("new", "x"); new Thing("kept", "x");'));
    expect(its.ok(...UP)).toContain("Resource kept: unprotected");
    expect(its.ok("preview", "--stack", "dev")).not.toContain("protected");
});

test("a protected resource that is to go is told with its reason", () => {
    const its = project(changing('new Thing("kept", "x", "s", { protect: true });'));
    its.ok(...UP);
    // What is made before has to be on the disk before more is told.
    its.write(changing('new Thing("new", "x");'));
    const { status, stdout } = its.run(...UP);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^! Resource kept failed to delete .*because it is protected/m);
    expect(stdout).not.toContain("cancelled");
});

test("a target may be given by its name where that is unique", () => {
    const program = (zone: string) =>
        changing(`const top = new pulumi.ComponentResource("demo:index:Group", "group");
                  for (const [name, parent] of [["queue-1"], ["twin"], ["twin", top]] as [string, any?][]) {
                      new Thing(name, "${zone}", "s", { parent });
                  }`);
    const its = project(program("x"));
    // A new resource is meant by its name, too.
    expect(its.ok(...UP, "-t", "queue-1")).toContain("Resource queue-1 created");
    its.ok(...UP);
    its.write(program("y"));
    const planned = its.ok("preview", "--stack", "dev", "-t", "queue-1");
    expect(planned).toContain("Resource queue-1 replace");
    expect(planned).not.toContain("Resource twin");
    const several = its.run("preview", "--stack", "dev", "--target", "twin");
    expect(several.status).not.toBe(0);
    expect(several.output).toContain(
        "--target 'twin': 2 resources have that name; give the URN of the one that is meant:",
    );
    expect(several.output.match(/^ +urn:pulumi:dev::test::.*::twin$/gm)).toHaveLength(2);
    const unknown = its.run("preview", "--stack", "dev", "--exclude", "quee-1");
    expect(unknown.output).toContain(
        "--exclude: Target 'quee-1' could not be found in the stack or in the program; did you mean",
    );
    expect(unknown.output).toContain("::queue-1");
    expect(its.ok("preview", "--stack", "dev", "--exclude", "queue-1")).not.toContain("Resource queue-1");
    // Commands on the state take names as well.
    expect(its.ok("state", "protect", "--yes", "--stack", "dev", "queue-1")).toContain("protected");
    expect(its.run("state", "protect", "--yes", "--stack", "dev", "queue-11").output).toContain("did you mean");
    expect(its.run("state", "delete", "--yes", "--stack", "dev", "twin").output).toContain(
        "2 resources have that name",
    );
    its.ok("stack", "init", "other", "--no-select");
    const move = ["state", "move", "--source", "dev", "--dest", "other", "--yes"];
    expect(its.ok(...move, "queue-1")).toContain("Moved 1 resource from stack 'dev'");
    expect(its.run(...move, "queue-1").output).toContain('No such resource "queue-1"');
    expect(its.run(...move, "twin").output).toContain("2 resources have that name");
});
