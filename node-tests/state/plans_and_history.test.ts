// Update plans, the history of a stack, and `watch`, as a user drives them.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
function note(what: string) { fs.mkdirSync(".notes", { recursive: true }); fs.writeFileSync(".notes/" + what, ""); }
class Provider {
    async create(props: any) { note("created-" + props.size); fs.writeFileSync("started", ""); return { id: "one", outs: props }; }
    async update(id: string, olds: any, news: any) { note("updated-" + news.size); return { outs: news }; }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, size: number) { super(new Provider() as any, name, { size }); }
}
new Thing("a", SIZE);`;
const ONCE = ["--yes", "--skip-preview", "--stack", "dev"];

const sized = (size: number) => ({ "index.ts": PROGRAM.replace("SIZE", String(size)) });

function noted(it: Project): string[] {
    try {
        return readdirSync(join(it.directory, ".notes")).sort();
    } catch {
        return [];
    }
}

test("a plan holds the update to what was previewed", () => {
    const it = project(sized(1));
    it.ok("preview", "--save-plan", "plan.json", "--stack", "dev");
    expect(noted(it)).toEqual([]);
    it.write(sized(2));
    const { status, output } = it.run("up", "--plan", "plan.json", ...ONCE);
    expect(status).not.toBe(0);
    expect(output).toContain("'a' does not keep to the plan");
    expect(output).toContain("its input 'size' was planned to be 1");
    expect(noted(it)).toEqual([]);
    it.write(sized(1));
    it.ok("up", "--plan", "plan.json", ...ONCE);
    expect(noted(it)).toEqual(["created-1"]);
});

test("a plan is refused with another configuration", () => {
    const it = project(sized(1));
    it.ok("config", "set", "size", "1", "--stack", "dev");
    it.ok("preview", "--save-plan", "plan.json", "--stack", "dev");
    it.ok("config", "set", "size", "2", "--stack", "dev");
    const { status, output } = it.run("up", "--plan", "plan.json", ...ONCE);
    expect(status).not.toBe(0);
    expect(output).toContain("another configuration: test:size");
    expect(noted(it)).toEqual([]);
});

test("the history lists what was done", () => {
    const it = project(sized(1));
    it.ok("up", ...ONCE);
    it.write(sized(2));
    it.ok("up", "--message", "a larger size", ...ONCE);
    it.write({ "index.ts": 'throw new Error("broken");' });
    expect(it.run("up", ...ONCE).status).not.toBe(0);
    it.write(sized(2));
    it.ok("destroy", ...ONCE);
    const updates = JSON.parse(it.ok("stack", "history", "--json", "--stack", "dev")) as Record<string, unknown>[];
    expect(updates.map(({ version, kind, result }) => [version, kind, result])).toEqual([
        [4, "destroy", "succeeded"],
        [3, "update", "failed"],
        [2, "update", "succeeded"],
        [1, "update", "succeeded"],
    ]);
    expect(updates[2]).toMatchObject({ message: "a larger size", resourceChanges: { same: 1, update: 1 } });
    expect(it.ok("stack", "history", "--stack", "dev")).toContain("a larger size");
});

test("watch updates when the program changes", async () => {
    const it = project(sized(1));
    // Directories take time to be watched: the change comes right after the words, and is not lost.
    for (let number = 0; number < 1000; number++) {
        mkdirSync(join(it.directory, "data", String(number)), { recursive: true });
    }
    await it.interrupted(["watch", "--stack", "dev"], async (child) => {
        await child.said("Waiting for changes");
        it.write(sized(2));
        await child.said("1 updated");
        child.signal("SIGINT");
    });
    expect(noted(it)).toEqual(["created-1", "updated-2"]);
});

test("watch does not run for ever when the program writes in each run", async () => {
    const writing = (size: number) => {
        const program = sized(size)["index.ts"];
        return { "index.ts": `${program}\nfs.writeFileSync("made.yaml", String(process.hrtime.bigint()));` };
    };
    const it = project(writing(1));
    await it.interrupted(["watch", "--stack", "dev"], async (child) => {
        await child.said("made.yaml changes in each run: the program writes it, so it counts only between runs");
        await child.said("Waiting for changes");
        it.write({ "made.yaml": "by hand" });
        await child.said(/Waiting for changes.*made.yaml changed.*Waiting for changes/s);
        it.write(writing(2));
        await child.said("1 updated");
        child.signal("SIGINT");
    });
    expect(noted(it)).toEqual(["created-1", "updated-2"]);
});
