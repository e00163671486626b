// What stays although it was to go, or goes without a call: it is said, and counted by itself.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const PROGRAM = `const pulumi = require("@pulumi/pulumi"); const fs = require("fs");
class Provider {
    async diff(id, olds, news) {
        const changes = olds.zone !== news.zone;
        return { changes, replaces: changes ? ["zone"] : [] };
    }
    async create(props) { return { id: props.name + "-" + props.zone, outs: props }; }
    async delete(id) {
        if (fs.existsSync("broken")) throw new Error("the bucket is not empty");
        fs.appendFileSync("deleted", id + "\\n");
    }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name, zone, options) { super(new Provider(), name, { name, zone }, options); }
}
const made = {};
for (const [name, [zone, options]] of Object.entries(JSON.parse(fs.readFileSync("wanted.json", "utf8")))) {
    const known = Object.entries(options).map(([key, value]) => [key, typeof value === "string" ? made[value] : value]);
    made[name] = new Thing(name, zone, Object.fromEntries(known));
}
`;
const STACK = ["--stack", "dev"];
const DIRECTLY = ["--yes", "--skip-preview", ...STACK];

const urn = (name: string) => `urn:pulumi:dev::test::pulumi-nodejs:dynamic:Resource::${name}`;

type Wanted = Record<string, [zone: string, options: Record<string, unknown>]>;
const wants = (it: Project, wanted: Wanted) => it.write({ "wanted.json": JSON.stringify(wanted) });

function things(wanted: Wanted): Project {
    const it = project({ "index.js": PROGRAM });
    wants(it, wanted);
    it.ok("up", ...DIRECTLY);
    return it;
}

const deleted = (it: Project) =>
    existsSync(join(it.directory, "deleted")) ? it.read("deleted").trim().split("\n") : [];

interface Told {
    resOutputsEvent?: { metadata: { op: string; urn: string; countedAs?: string } };
    summaryEvent?: { resourceChanges: Record<string, number> };
}

test("what is retained is told and counted as retained", () => {
    const it = things({ a: ["x", { retainOnDelete: true }], b: ["x", {}] });
    const preview = it.ok("destroy", "--preview-only", ...STACK);
    expect(preview).toContain("< Resource a retain [retainOnDelete]");
    expect(preview).toContain("< 1 to retain");
    expect(preview).toContain("- 2 to delete");
    const plan = JSON.parse(it.ok("preview", "--json", "--replace", urn("a"), ...STACK));
    expect(plan.changeSummary.retain).toBe(1);
    wants(it, {});
    const events = it
        .ok("up", ...DIRECTLY, "--json")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Told);
    const steps = events.flatMap(({ resOutputsEvent }) => (resOutputsEvent ? [resOutputsEvent.metadata] : []));
    const told = Object.fromEntries(steps.map((step) => [step.urn.split("::").at(-1), [step.op, step.countedAs]]));
    // The readers of Pulumi's events know no other operation.
    expect([told.a, told.b]).toEqual([
        ["delete", "retain"],
        ["delete", undefined],
    ]);
    expect(events.at(-2)?.summaryEvent?.resourceChanges).toEqual({ delete: 1, retain: 1, same: 1 });
    expect(deleted(it)).toEqual(["b-x"]);
    expect(it.ok("stack", "history", ...STACK)).toContain("1 delete, 1 retain, 1 same");
});

test("an option that comes with a replacement retains the old object", () => {
    const it = things({ a: ["x", {}] });
    wants(it, { a: ["y", { retainOnDelete: true }] });
    const preview = it.ok("preview", ...STACK);
    expect(preview).toContain("<< Resource a retain original");
    expect(preview).toContain("< 1 to retain");
    const done = it.ok("up", ...DIRECTLY, "--summary", "markdown");
    expect(done).toContain("1 replace, 1 retain, 1 same");
    expect(done).toContain("| retain-replaced | a |");
    expect(deleted(it)).toEqual([]);
});

test("what goes with its owner is told and counted so", () => {
    const it = things({ a: ["x", {}], b: ["x", { deletedWith: "a" }] });
    wants(it, {});
    const done = it.ok("up", ...DIRECTLY);
    expect(done).toContain("- Resource b deleted with owner");
    expect(done).toContain("- 1 deleted\n");
    expect(done).toContain("- 1 deleted with owner");
    expect(deleted(it)).toEqual(["a-x"]);
});

test("a replaced object that is left out is told until it is deleted", () => {
    const it = things({ a: ["x", {}] });
    wants(it, { a: ["y", {}] });
    it.write({ broken: "" });
    expect(it.run("up", ...DIRECTLY).output).toContain("the bucket is not empty");
    rmSync(join(it.directory, "broken"));
    const waits =
        "1 replaced object still waits for deletion: a (id 'a-x'); an `maloko up` without this selection deletes";
    const exclude = ["--exclude", urn("a")];
    for (const command of [
        ["preview", ...STACK],
        ["up", ...DIRECTLY],
    ]) {
        const { status, output } = it.run(...command, ...exclude);
        expect(status).toBe(0);
        expect(output).toContain(waits);
        const refused = it.run(...command, ...exclude, "--expect-no-changes");
        expect(refused.status).toBe(7);
        expect(refused.stderr).toContain("1 replacement of an earlier run did not come to the end");
    }
    expect(it.ok("stack", ...STACK)).toContain(
        "1 replaced object to be deleted by the next `maloko up`:\n    a (id 'a-x')",
    );
    const waiting = () => JSON.parse(it.ok("stack", "--json", ...STACK)).waiting;
    expect(waiting()).toEqual([{ urn: urn("a"), id: "a-x", waitsFor: "deletion" }]);
    const preview = it.ok("preview", ...STACK);
    expect(preview).toContain("-- Resource a delete original [replaced in an earlier run]");
    expect(preview).toContain("- 1 to delete");
    expect(it.run("preview", "--expect-no-changes", ...STACK).status).toBe(7);
    expect(it.ok("up", ...DIRECTLY)).toContain("- 1 deleted");
    expect(deleted(it)).toEqual(["a-x"]);
    expect(waiting()).toEqual([]);
    it.ok("up", ...DIRECTLY, "--expect-no-changes");
});

test("a destroy leaves protected resources and what they need", () => {
    const needs = { protect: true, parent: "base" };
    const it = things({ base: ["x", {}], kept: ["x", needs], other: ["x", {}] });
    expect(it.ok("destroy", "--preview-only", "--exclude-protected", ...STACK)).toContain("- 1 to delete");
    const { output } = it.run("destroy", ...DIRECTLY, "--exclude-protected");
    expect(output.trim()).toMatch(/Left in place: 1 protected resource, and 1 resource that they need\.$/);
    expect(deleted(it)).toEqual(["other-x"]);
    const both = it.run("destroy", ...DIRECTLY, "--exclude-protected", "--target", urn("base"));
    expect(both.status).not.toBe(0);
    expect(both.output).toContain("--exclude-protected");
});
