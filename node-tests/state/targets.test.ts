// What `--target` leaves alone, and what is said of it.
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const PROGRAM = `const pulumi = require("@pulumi/pulumi"); const fs = require("fs");
class Provider {
    async create(inputs) { return { id: "made", outs: inputs }; }
    async read(id, props) { return { id, props }; }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name, dependsOn) { super(new Provider(), name, { name }, { dependsOn }); }
}
const made = {};
for (const [name, needs] of Object.entries(JSON.parse(fs.readFileSync("wanted.json", "utf8")))) {
    made[name] = new Thing(name, needs.map((other) => made[other]));
}
`;
const DIRECTLY = ["--yes", "--skip-preview", "--stack", "dev"];

const urn = (name: string) => `urn:pulumi:dev::test::pulumi-nodejs:dynamic:Resource::${name}`;

const wants = (it: Project, wanted: Record<string, string[]>) => it.write({ "wanted.json": JSON.stringify(wanted) });

/** A stack with `a`, `b`, which depends on it, and `c`. */
function things(): Project {
    const it = project({ "index.js": PROGRAM });
    wants(it, { a: [], b: ["a"], c: [] });
    it.ok("up", ...DIRECTLY);
    return it;
}

interface Told {
    resOutputsEvent?: { metadata: { op: string; urn: string } };
    summaryEvent?: { resourceChanges: Record<string, number> };
}

/** The steps that a command did, as `op name` in alphabetical order, and the summary's counts. */
function told(it: Project, ...args: string[]): { steps: string[]; counts: Record<string, number> | undefined } {
    const events = it
        .ok(...args, ...DIRECTLY, "--json")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Told);
    const steps = events.flatMap(({ resOutputsEvent }) => {
        const step = resOutputsEvent?.metadata;
        return step === undefined ? [] : [`${step.op} ${step.urn.split("::").at(-1)}`];
    });
    const summary = events.find(({ summaryEvent }) => summaryEvent !== undefined)?.summaryEvent;
    return { steps: steps.sort(), counts: summary?.resourceChanges };
}

function failing(it: Project, ...args: string[]): string {
    const { status, output } = it.run(...args, ...DIRECTLY);
    expect(status).not.toBe(0);
    return output;
}

test("in a targeted destroy the resources that stay are told as same and counted", () => {
    const it = things();
    const preview = it.ok("destroy", "--preview-only", "--stack", "dev", "--target", urn("c"));
    expect(preview).toContain("1 to delete");
    expect(preview).toContain("3 unchanged");
    expect(told(it, "destroy", "--target", urn("c"))).toEqual({
        steps: ["delete c", "same a", "same b", "same test-dev"],
        counts: { delete: 1, same: 3 },
    });
    // What an update neither registers nor deletes is told, too.
    wants(it, { a: [], d: [] });
    expect(told(it, "up", "--target", urn("d"))).toEqual({
        steps: ["create d", "same a", "same b", "same test-dev"],
        counts: { create: 1, same: 3 },
    });
    expect(told(it, "destroy", "--exclude", urn("a"))).toEqual({
        steps: ["delete b", "delete d", "same a", "same test-dev"],
        counts: { delete: 2, same: 2 },
    });
    expect(told(it, "destroy").counts).toEqual({ delete: 2 });
});

test("a refresh of targets does not tell of the stack", () => {
    const it = things();
    expect(told(it, "refresh", "--target", urn("a"))).toEqual({ steps: ["same a"], counts: { same: 1 } });
    expect(told(it, "refresh", "--exclude", urn("a")).steps).toEqual(["same b", "same c", "same test-dev"]);
});

test("refusals because of targets have the words that users search for", () => {
    const it = things();
    const destroyed = failing(it, "destroy", "--target", urn("a"));
    expect(destroyed).toContain(`Resource '${urn("b")}' will be destroyed but was not specified in --target list`);
    expect(destroyed).toContain("--target-dependents");
    wants(it, { a: [], b: ["a"], c: [], d: [], e: ["d"] });
    const created = failing(it, "up", "--target", urn("e"));
    expect(created).toContain(
        `Resource '${urn("e")}' depends on '${urn("d")}' which was not specified in --target list`,
    );
    expect(created).toContain(`add --target '${urn("d")}'`);
    const excluded = failing(it, "up", "--exclude", urn("d"));
    expect(excluded).toContain(`depends on '${urn("d")}' which was excluded by --exclude`);
    expect(failing(it, "up", "--target", urn("nobody"))).toContain(
        `Target '${urn("nobody")}' could not be found in the stack`,
    );
});
