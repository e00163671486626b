// `refresh`: the state becomes as the world is, and what drifted is shown.
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
type World = Record<string, any>;
const load = (): World => fs.existsSync("world.json") ? JSON.parse(fs.readFileSync("world.json", "utf8")) : {};
function change(edit: (world: World) => void) {
    const world = load();
    edit(world);
    fs.writeFileSync("world.json", JSON.stringify(world));
}
class BoxProvider {
    async diff(id: string, olds: any, news: any) {
        return { changes: ["size", "color"].some((key) => olds[key] !== news[key]) };
    }
    async create(props: any) {
        change((world) => { world[props.name] = { size: props.size, color: props.color }; });
        return { id: props.name, outs: { ...props, tags: { made: "here" } } };
    }
    async read(id: string, props: any) {
        fs.appendFileSync("calls.jsonl", JSON.stringify({ id, props }) + "\\n");
        const found = load()[id];
        if (found === undefined) return {};
        const seen = { name: props.name, size: found.size, color: found.color };
        const outs = { ...props, ...seen, tags: found.tags ?? props.tags };
        return props.tells ? { id, props: outs, inputs: seen } : { id, props: outs };
    }
    async update(id: string, olds: any, news: any) {
        change((world) => { world[id] = { ...world[id], size: news.size, color: news.color }; });
        return { outs: { ...olds, ...news } };
    }
    async delete(id: string) { change((world) => { delete world[id]; }); }
}
class NoRead { async create(props: any) { return { id: "made", outs: props }; } }
class OtherNoRead extends NoRead {}
class Box extends pulumi.dynamic.Resource {
    constructor(name: string, size: number, color: pulumi.Input<string>, tells = false, opts?: pulumi.CustomResourceOptions) {
        super(new BoxProvider() as any, name, { name, size, color, tells, tags: undefined }, opts);
    }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(provider: object, name: string) { super(provider as pulumi.dynamic.ResourceProvider, name, {}); }
}
RESOURCES
`;

const TWO = `new Box("left", 1, "red"); new Box("right", 2, pulumi.secret("blue"));`;

function boxes(resources = TWO): Project {
    const it = project({ "index.ts": PROGRAM.replace("RESOURCES", resources) });
    it.up();
    return it;
}

type Found = Record<string, Record<string, unknown>>;
const world = (it: Project) => JSON.parse(it.read("world.json")) as Found;
const refresh = (it: Project, ...more: string[]) =>
    it.ok("refresh", "--yes", "--skip-preview", "--stack", "dev", ...more);

/** Somebody edits an object behind the engine's back. */
function edit(it: Project, name: string, properties: object): void {
    const now = world(it);
    it.write({ "world.json": JSON.stringify({ ...now, [name]: { ...now[name], ...properties } }) });
}

interface StoredResource {
    urn: string;
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown>;
}

/** The resource's state, with secrets in plain text. */
function resource(it: Project, name: string): StoredResource {
    const text = it.ok("stack", "export", "--show-secrets", "--stack", "dev");
    const { resources } = (JSON.parse(text) as { deployment: { resources: StoredResource[] } }).deployment;
    const found = resources.find(({ urn }) => urn.endsWith(`::${name}`));
    if (found === undefined) {
        throw new Error(`there is no ${name} in the state`);
    }
    return found;
}

test("refresh writes what read returns and shows each property that drifted", () => {
    const it = boxes();
    edit(it, "left", { size: 7, tags: { made: "elsewhere" } });

    const brief = it.ok("refresh", "--preview-only", "--stack", "dev");
    expect(brief).toContain("left update [~size, ~tags]");
    const full = it.ok("refresh", "--preview-only", "--diff", "--stack", "dev");
    expect(full).toMatch(/~ size *: 1 => 7/);
    expect(full).toContain('"here" => "elsewhere"');
    expect(resource(it, "left").outputs.size).toBe(1);

    expect(refresh(it)).toContain("1 updated");
    expect(resource(it, "left").outputs.size).toBe(7);
    expect(resource(it, "left").inputs.size).toBe(1);
    it.up();
    expect(world(it).left?.size).toBe(1);
});

test("read gets the id and the stored outputs", () => {
    const it = boxes();
    refresh(it);
    const calls = it.read("calls.jsonl").trim().split("\n");
    const read = calls.map((line) => JSON.parse(line) as { id: string; props: unknown });
    expect(read.map(({ id }) => id).sort()).toEqual(["left", "right"]);
    expect(read.find(({ id }) => id === "right")?.props).toEqual({
        name: "right",
        size: 2,
        color: "blue",
        tells: false,
        tags: { made: "here" },
    });
});

test("drift is in the json events and secrets are not", () => {
    const it = boxes();
    edit(it, "left", { size: 7 });
    edit(it, "right", { color: "canary-green" });
    const text = refresh(it, "--json");
    type Outputs = { outputs: Record<string, unknown> };
    type Metadata = { urn: string; old: Outputs; new: Outputs; detailedDiff: unknown };
    const events = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { resOutputsEvent?: { metadata: Metadata } });
    const done = (name: string) =>
        events.map((event) => event.resOutputsEvent?.metadata).find((it) => it?.urn.endsWith(`::${name}`));
    const left = done("left");
    expect([left?.old.outputs.size, left?.new.outputs.size]).toEqual([1, 7]);
    expect(left?.detailedDiff).toEqual({ size: { diffKind: "update", inputDiff: false } });
    expect(done("right")?.detailedDiff).toEqual({ color: { diffKind: "update", inputDiff: false } });
    expect(text).not.toContain("canary");
});

test("an empty id means gone", () => {
    const it = boxes();
    it.write({ "world.json": JSON.stringify({ left: world(it).left }) });
    expect(refresh(it)).toContain("1 deleted");
    expect(it.resources()).toEqual(["left"]);
    expect(it.up()).toContain("1 created");
});

test("returned inputs become the new inputs", () => {
    const it = boxes(`new Box("left", 1, "red", true);`);
    edit(it, "left", { color: "green" });
    refresh(it);
    expect({ ...resource(it, "left").inputs, __provider: 0 }).toEqual({
        name: "left",
        size: 1,
        color: "green",
        __provider: 0,
    });
});

test("a provider without read is told of once for its class", () => {
    const it = boxes(`for (const i of [0, 1, 2]) {
        new Thing(new NoRead(), "a" + i);
        new Thing(new OtherNoRead(), "b" + i);
    }`);
    const { output } = it.run("refresh", "--yes", "--skip-preview", "--stack", "dev");
    const told = output.split("\n").filter((line) => line.includes("has no 'read' method"));
    expect(told).toHaveLength(2);
    expect(told.filter((line) => line.includes("OtherNoRead"))).toHaveLength(1);
    refresh(it, "--expect-no-changes");
});

test("what was read is written also where changes are ignored", () => {
    const it = boxes(`new Box("left", 1, "red", false, { ignoreChanges: ["size"] });`);
    edit(it, "left", { size: 7 });
    refresh(it);
    expect(resource(it, "left").outputs.size).toBe(7);
});

test.each(["--target", "--exclude"])("a refresh reads its selection only: %s", (flag) => {
    const it = boxes();
    edit(it, "left", { size: 7 });
    edit(it, "right", { size: 8 });
    refresh(it, flag, "**::left");
    const sizes = [resource(it, "left").outputs.size, resource(it, "right").outputs.size];
    expect(sizes).toEqual(flag === "--target" ? [7, 2] : [1, 8]);
});

test("expect no changes fails where something drifted", () => {
    const it = boxes();
    refresh(it, "--expect-no-changes");
    edit(it, "left", { size: 7 });
    const flags = ["--expect-no-changes", "--stack", "dev"];
    expect(it.run("refresh", "--preview-only", ...flags).status).toBe(7);
    expect(it.run("refresh", "--yes", "--skip-preview", ...flags).status).toBe(7);
    it.up();
    refresh(it, "--expect-no-changes");
});

test("up and preview with refresh show and mend what drifted", () => {
    const it = boxes();
    edit(it, "left", { size: 7 });
    const shown = it.ok("preview", "--refresh", "--diff", "--stack", "dev");
    expect(shown).toContain("1 => 7");
    expect(shown).toContain("7 => 1");
    it.ok("up", "--refresh", "--yes", "--skip-preview", "--stack", "dev");
    expect(world(it).left?.size).toBe(1);
});
