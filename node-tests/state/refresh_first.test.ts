import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
type World = Record<string, number>;
const load = (): World => fs.existsSync("world.json") ? JSON.parse(fs.readFileSync("world.json", "utf8")) : {};
function change(edit: (world: World) => void) {
    const world = load();
    edit(world);
    fs.writeFileSync("world.json", JSON.stringify(world));
}
class Shared {
    async diff(id: string, olds: any, news: any) { return { changes: olds.size !== news.size }; }
    async create(props: any) { change((world) => { world[props.name] = props.size; }); return { id: props.name, outs: props }; }
    async read(id: string, props: any) {
        const size = load()[id];
        return size === undefined ? {} : { id, props: { ...props, size } };
    }
    async update(id: string, olds: any, news: any) { change((world) => { world[id] = news.size; }); return { outs: news }; }
    async delete(id: string) {
        change((world) => {
            if (!(id in world)) throw new Error("there is no " + id);
            delete world[id];
        });
    }
}
const makeProvider = () => new (class Own extends Shared { readonly #lock = new Map(); size() { return this.#lock.size; } })();
class Thing extends pulumi.dynamic.Resource {
    constructor(provider: pulumi.dynamic.ResourceProvider, name: string, size: number) { super(provider, name, { name, size }); }
}
new Thing(new Shared() as any, "shared", 1);
new Thing(makeProvider() as any, "own", 1);
new Thing(makeProvider() as any, "lost", 1);`;

const world = (it: Project) => JSON.parse(it.read("world.json")) as Record<string, number>;

/** Three resources, of which two have another size by now and the third is gone. */
function drifted(): Project {
    const it = project({ "index.ts": PROGRAM });
    it.up();
    expect(world(it)).toEqual({ shared: 1, own: 1, lost: 1 });
    it.write({ "world.json": JSON.stringify({ shared: 7, own: 8 }) });
    return it;
}

test("up refresh mends drift and loss in one run", () => {
    const it = drifted();
    expect(it.ok("preview", "--refresh", "--stack", "dev")).toContain("1 to create");
    it.ok("up", "--refresh", "--yes", "--stack", "dev");
    expect(world(it)).toEqual({ shared: 1, own: 1, lost: 1 });
    it.ok("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes", "--stack", "dev");
});

test("destroy refresh does not delete what is gone", () => {
    const it = drifted();
    expect(it.run("destroy", "--yes", "--skip-preview", "--stack", "dev").status).toBe(1);
    it.ok("destroy", "--refresh", "--yes", "--skip-preview", "--remove", "--stack", "dev");
    expect(world(it)).toEqual({});
    expect(it.run("preview", "--stack", "dev").output).toContain("no stack named 'dev'");
});

test("options refresh makes it the rule", () => {
    const it = drifted();
    it.ok("preview", "--expect-no-changes", "--stack", "dev");
    it.write({ "Pulumi.yaml": "name: test\nruntime: nodejs\noptions:\n  refresh: always\n" });
    expect(it.run("preview", "--expect-no-changes", "--stack", "dev").status).toBe(7);
    it.ok("preview", "--expect-no-changes", "--refresh=false", "--stack", "dev");
});
