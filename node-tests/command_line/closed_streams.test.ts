// Commands that are started with standard descriptors closed, or with a stdout that takes nothing.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project } from "../support/project";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
class Talking { async create() { console.log("from the provider"); return { id: "one", outs: {} }; } }
class Thing extends pulumi.dynamic.Resource { constructor(name: string) { super(new Talking(), name, {}); } }
console.log("from the program");
new Thing("one");
export const answer = 42;`;

test("a run without standard descriptors does its work", () => {
    const it = project({ "index.ts": PROGRAM });
    const { status, output } = it.runRedirected("<&- >&- 2>&-", "up", "--yes", "--stack", "dev");
    expect(status, output).toBe(0);
    // What is shown is not captured again.
    expect(output.split("from the program").length - 1).toBeLessThanOrEqual(2);
    expect(it.outputs()).toEqual({ answer: 42 });
    // Nothing that is shown was written into a file of the state's.
    const state = join(it.directory, ".maloko", ".pulumi");
    for (const name of readdirSync(state, { recursive: true, encoding: "utf8" })) {
        const file = join(state, name);
        expect(statSync(file).isFile() ? readFileSync(file, "utf8") : "", name).not.toContain("from the pro");
    }
});

test("a run that cannot be shown does its work and fails", () => {
    const it = project({ "index.ts": PROGRAM });
    const shown = it.runRedirected("> /dev/full", "up", "--yes", "--stack", "dev");
    expect(shown.status, shown.output).toBe(1);
    expect(shown.stderr).toContain("error: the output could not be written: No space left on device");
    expect(it.outputs()).toEqual({ answer: 42 });
    expect(it.runRedirected("> /dev/full", "stack", "export", "--stack", "dev").status).toBe(1);
});

test("a reader of the help who has gone away is no failure", () => {
    const it = project({ "index.ts": PROGRAM });
    // A pipe whose reader has ended before anything is written.
    const gone = 'rm -f pipe; mkfifo pipe; true < pipe & exec 3> pipe; wait; "$@" >&3; echo "ended with $?" >&2';
    for (const words of [["--help"], ["up", "--help"], ["help", "state"], ["version"]]) {
        expect(it.runThrough(gone, ...words).stderr, words.join(" ")).toBe("ended with 0\n");
    }
});
