// Which stack a command works on when none is named.
import { createHash } from "node:crypto";
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Project } from "../support/project";

const UP = ["up", "--yes", "--skip-preview"];

/** A project without a stack. */
function fresh(): Project {
    const files = {
        "index.ts": `import * as pulumi from "@pulumi/pulumi"; export const stack = pulumi.getStack();`,
    };
    const it = new Project(files, onTestFinished, {}, false);
    return it;
}

function failing(it: Project, ...args: string[]): string {
    const { status, output } = it.run(...args);
    expect(status, output).not.toBe(0);
    return output;
}

function forget(it: Project): void {
    rmSync(join(it.directory, ".maloko", "stack"));
}

function deployed(it: Project, ...args: string[]): unknown {
    return JSON.parse(it.ok("stack", "output", "--json", ...args));
}

test("without a selected stack a terminal chooses or creates one", async () => {
    const it = fresh();
    const shown = await it.onTerminal(["up", "--yes"], ["Name of the new stack", "\r"]);
    expect(shown).toContain("Created stack 'dev'");
    expect(deployed(it)).toEqual({ stack: "dev" });
    // It is selected from now on.
    expect(it.ok(...UP)).toContain("unchanged");

    forget(it);
    const again = await it.onTerminal(UP, ["No stack is selected. Which one?", "\r"]);
    expect(again).toContain("(make a new stack)");
    expect(again).toContain("Updating (dev)");
    expect(it.ok(...UP)).toContain("unchanged");

    forget(it);
    const answers: [string, string][] = [
        ["No stack is selected. Which one?", "new\r"],
        ["Name of the new stack", "\b\b\bqa\r"],
    ];
    expect(await it.onTerminal(UP, ...answers)).toContain("Created stack 'qa'");
    expect(deployed(it)).toEqual({ stack: "qa" });
}, 90_000);

test("off a terminal the stacks that can be meant are named", () => {
    const it = fresh();
    const none = failing(it, ...UP);
    expect(none).toContain("no stack is selected, and there is none of the project 'test' in file://");
    expect(none).toContain("maloko stack init NAME");

    it.ok("stack", "init", "dev", "--no-select");
    const one = failing(it, ...UP);
    expect(one).toContain(`the only one of this project in file://${it.directory}`);
    expect(one).toContain("is 'dev'. Add `-s dev`, or select it with `maloko stack select dev`");
    it.ok(...UP, "-s", "dev");
    expect(deployed(it, "-s", "dev")).toEqual({ stack: "dev" });

    it.ok("stack", "init", "qa", "--no-select");
    expect(failing(it, ...UP)).toContain("(there is 'dev', 'qa')");
});

test("the stack that pulumi has selected is taken where it is", () => {
    const it = fresh();
    const team = ["--backend", `file://${join(it.directory, "team")}`];
    mkdirSync(join(it.directory, "team"));
    for (const name of ["dev", "qa"]) {
        it.ok("stack", "init", name, "--no-select", ...team);
    }
    const path = join(realpathSync(it.directory), "Pulumi.yaml");
    const hash = createHash("sha1").update(path).digest("hex");
    it.write({ [`home/workspaces/test-${hash}-workspace.json`]: `{"stack": "organization/test/qa"}` });
    const environment = { PULUMI_HOME: join(it.directory, "home") };
    expect(it.runWith(environment, ...UP, ...team).output).toContain("Updating (qa)");
    // Where it is not, it says nothing.
    expect(it.runWith(environment, ...UP).output).toContain("no stack is selected, and there is none");
});
