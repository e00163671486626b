// Runs that change nothing.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { project } from "../support/project";

// Registers its resources in another order each time, and with lists in another order: as the program of many async
// functions does whose services answer now sooner and now later.
const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
let seed = Number(process.env.SEED) + 1;
function random(below: number): number {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
}
function shuffled<T>(items: T[]): T[] {
    const left = [...items];
    return items.map(() => left.splice(random(left.length), 1)[0]);
}
class Thing extends pulumi.dynamic.Resource {
    declare readonly of: pulumi.Output<string>;
    constructor(name: string, inputs: object, options: pulumi.CustomResourceOptions) {
        super({ create: async (props) => ({ id: props.of, outs: props }) }, name, { of: name, ...inputs }, options);
    }
}
async function make(name: string, parent: Thing | undefined, needed: Thing[]): Promise<Thing> {
    for (let left = random(40); left > 0; left--) {
        await null;
    }
    const names = pulumi.all(shuffled(needed).map((each) => each.of)).apply((all) => all.sort());
    return new Thing(name, { names }, { parent, dependsOn: shuffled(needed) });
}
const numbers = (count: number) => [...Array(count).keys()];
async function main(): Promise<void> {
    const groups = await Promise.all(numbers(4).map((n) => make("group-" + n, undefined, [])));
    const firsts = await Promise.all(numbers(12).map((n) => make("first-" + n, groups[n % 4], [])));
    const needed = (n: number) => [firsts[n], firsts[(n + 11) % 12], firsts[(n + 10) % 12]];
    await Promise.all(numbers(12).map((n) => make("second-" + n, groups[n % 4], needed(n))));
}
export = async () => {
    await main();
    return Object.fromEntries(shuffled(["a", "b", "c"]).map((name) => [name, name]));
};`;

/** Every file below a directory: which one it is, when it was written, and its bytes. What says who is at work aside. */
function files(directory: string): Record<string, unknown> {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    const found = entries.filter((entry) => entry.isFile() && entry.name !== "lease" && entry.name !== "gate");
    const told = found.map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const { ino, mtimeMs } = statSync(path);
        return [relative(directory, path), [ino, mtimeMs, readFileSync(path, "utf8")]];
    });
    return Object.fromEntries(told.sort());
}

test("a run that changes nothing writes nothing", () => {
    const it = project({ "index.ts": PROGRAM });
    const state = join(it.directory, ".maloko", ".pulumi");
    const run = (verb: string, seed: number) =>
        it.runWith({ SEED: String(seed) }, verb, "--yes", "--skip-preview", "--stack", "dev");
    expect(run("up", 0).output).toContain("29 created");
    const before = files(state);
    for (let seed = 1; seed <= 10; seed++) {
        expect(run("up", seed).output).toContain("29 unchanged");
        expect(files(state)).toEqual(before);
    }
    run("refresh", 11);
    expect(files(state)).toEqual(before);
}, 120_000);
