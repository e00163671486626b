// What the display says of calls that are under way.
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

/** A project whose resources `long-a`, `long-b` and `long-c` are made once there is a file `gate`, after two quick ones. */
function gated(): Project {
    return project({
        open: "",
        "index.js": `const pulumi = require("@pulumi/pulumi");
const fs = require("node:fs");
class Gated {
    async create({ gate }) {
        while (!fs.existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 10));
        return { id: gate, outs: { gate } };
    }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name, gate, ...dependsOn) { super(new Gated(), name, { gate }, { dependsOn }); }
}
const first = new Thing("first", "open");
const second = new Thing("second", "open", first);
for (const name of "abc") new Thing("long-" + name, "gate", second);`,
    });
}

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

test("the display is true: a call that is under way is never shown as waiting", async () => {
    const it = gated();
    const terminal = it.watchedOnTerminal(UP);
    for (const name of "abc") {
        await terminal.shows(new RegExp(`long-${name} +creating \\([\\d.]+s\\)`));
    }
    await terminal.shows(/3 in progress/);
    expect(terminal.view).not.toContain("waiting");
    it.write({ gate: "" });
    await terminal.ends();
});

test("off a terminal each of several long creates is reported as still going", async () => {
    const it = gated();
    it.write({ started: "" });
    const { status, output } = await it.interrupted(
        UP,
        async ({ said }) => {
            for (const name of "abc") {
                await said(`long-${name}: still creating (1`);
            }
            it.write({ gate: "" });
        },
        { MALOKO_PROGRESS_SECONDS: "1" },
    );
    expect(status, output).toBe(0);
    const [, later] = output.split("Resource first created");
    expect(later).toBeDefined();
    expect(later).not.toContain("first: still");
});
