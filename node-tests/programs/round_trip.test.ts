// What goes in comes out the same: values of every kind, by themselves and deep inside others.
//
// program -> provider -> state -> the next run's `olds` -> outputs -> stack output -> `stack output --json`.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Project } from "../support/project";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
const note = (...entry: unknown[]) => fs.appendFileSync("seen.jsonl", JSON.stringify(entry) + "\\n");
class Keeping {
    async check(olds: any, news: any) { note("check", news.kind, olds, news); return { inputs: news }; }
    async diff(_id: string, olds: any, news: any) {
        note("diff", news.kind, olds, news);
        return { changes: JSON.stringify(olds) !== JSON.stringify(news) };
    }
    async create(props: any) { note("create", props.kind, props); return { id: "made", outs: props }; }
}
class Kept extends pulumi.dynamic.Resource {
    value!: pulumi.Output<any>; deep!: pulumi.Output<any>;
    constructor(kind: string, value: any) {
        super(new Keeping(), kind, { kind, value, deep: [{ a: { "odd key [0].x": [0, value] } }] });
    }
}
const owner = new Kept("owner", "x");
const asset = pulumi.asset;
const VALUES: Record<string, any> = {
    "text": 'ž \\u{1f40e} "quoted" \\\\ \\n\\u2028',
    "empty text": "",
    "number": 0.1,
    "large number": 1e300,
    "whole number": -3,
    "truth": false,
    "list": [1, [], [[2]], null],
    "object": { a: {}, b: { "": 1 } },
    "secret": pulumi.secret("hidden-text"),
    "secret part": { plain: 1, hidden: pulumi.secret([1, { x: "hidden-text" }]) },
    "text asset": new asset.StringAsset("content"),
    "file asset": new asset.FileAsset("asset.txt"),
    "remote asset": new asset.RemoteAsset("file://" + process.cwd() + "/asset.txt"),
    "archive": new asset.AssetArchive({ a: new asset.StringAsset("A"), d: new asset.FileArchive("folder") }),
    "folder": new asset.FileArchive("folder"),
    "output": owner.value.apply((text) => [text, 1]),
    "resource": owner,
};
const outputs: Record<string, any> = {};
for (const [kind, value] of Object.entries(VALUES)) {
    const kept = new Kept(kind, value);
    outputs[kind] = kept.value;
    outputs[kind + " deep"] = kept.deep;
}
export = outputs;`;

const PLAIN: Record<string, unknown> = {
    text: 'ž \u{1f40e} "quoted" \\ \n\u2028',
    "empty text": "",
    number: 0.1,
    "large number": 1e300,
    "whole number": -3,
    truth: false,
    list: [1, [], [[2]], null],
    object: { a: {}, b: { "": 1 } },
    secret: "hidden-text",
    "secret part": { plain: 1, hidden: [1, { x: "hidden-text" }] },
    output: ["x", 1],
    resource: "made",
};
const CONTENT = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
const ASSETS: [string, string, unknown][] = [
    ["text asset", "text", "content"],
    ["file asset", "path", "asset.txt"],
    ["remote asset", "uri", undefined],
    ["archive", "assets", undefined],
    ["folder", "path", "folder"],
];
const SIGNATURE = "4dabf18193072939515e22adb298388d";

type Bag = Record<string, any>;

const deep = (value: unknown) => [{ a: { "odd key [0].x": [0, value] } }];

let it: Project;
let calls: [string, string, ...Bag[]][];
let outputs: Bag;
let hidden: Bag;
let resources: Record<string, Bag>;

beforeAll(() => {
    it = new Project({ "index.ts": PROGRAM, "asset.txt": "content", "folder/b.txt": "B" }, () => {});
    it.up();
    it.ok("up", "--yes", "--skip-preview", "--stack", "dev", "--expect-no-changes");
    calls = it
        .read("seen.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    outputs = JSON.parse(it.ok("stack", "output", "--json", "--show-secrets", "--stack", "dev"));
    hidden = it.outputs() as Bag;
    const { deployment } = JSON.parse(it.ok("stack", "export", "--show-secrets", "--stack", "dev"));
    resources = Object.fromEntries(
        deployment.resources.map((resource: Bag) => [resource.urn.split("::").at(-1), resource]),
    );
});

afterAll(() => rmSync(it.directory, { recursive: true, force: true }));

function call(method: string, kind: string, number = 0): Bag[] {
    const [, , ...bags] = calls.filter((entry) => entry[0] === method && entry[1] === kind)[number] ?? ["", ""];
    return bags;
}

test.each(Object.keys(PLAIN))("values come out as they went in: %s", (kind) => {
    const value = PLAIN[kind];
    const [made] = call("create", kind);
    expect([made?.value, made?.deep]).toEqual([value, deep(value)]);
    expect(call("check", kind, 1)).toEqual([made, made]);
    expect(call("diff", kind)).toEqual([made, made]);
    expect([outputs[kind], outputs[`${kind} deep`]]).toEqual([value, deep(value)]);
    expect(resources[kind]?.inputs).toEqual(resources[kind]?.outputs);
});

test.each(ASSETS)("assets come out as they went in: %s", (kind, member, content) => {
    const [made] = call("create", kind);
    const value = made?.value;
    if (content !== undefined) {
        expect(value[member]).toEqual(content);
    }
    expect(made?.deep).toEqual(deep(value));
    if (kind.includes("asset")) {
        expect(value.hash).toBe(CONTENT);
    }
    expect(call("check", kind, 1)).toEqual([made, made]);
    const kept = resources[kind]?.outputs.value;
    expect(kept).toEqual(value);
    expect(resources[kind]?.inputs.value).toEqual(kept);
    const { [SIGNATURE]: signature, hash } = value;
    const [olds, news] = call("diff", kind);
    expect([olds?.value, news?.value]).toEqual([
        { [SIGNATURE]: signature, hash },
        { [SIGNATURE]: signature, hash },
    ]);
    // As a stack output the SDK makes a plain object of it.
    const output = outputs[kind];
    expect(Object.keys(output)).toEqual([member]);
    if (kind !== "archive") {
        expect(output[member]).toEqual(kept[member]);
    }
    expect(outputs[`${kind} deep`]).toEqual(deep(output));
});

test("secrets stay secret where they are and nothing else does", () => {
    expect([hidden.secret, hidden["secret deep"]]).toEqual(["[secret]", "[secret]"]);
    const secret = { [SIGNATURE]: "1b47061264138c4ac30d75fd1eb44270" };
    const part = resources["secret part"]?.outputs.value;
    expect(part).toEqual({ plain: 1, hidden: { ...secret, plaintext: '[1,{"x":"hidden-text"}]' } });
    expect(resources.secret?.outputs.deep).toEqual(deep({ ...secret, plaintext: '"hidden-text"' }));
    const state = join(it.directory, ".maloko", ".pulumi");
    for (const entry of readdirSync(state, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())) {
        expect(readFileSync(join(entry.parentPath, entry.name), "utf8"), entry.name).not.toContain("hidden-text");
    }
});
