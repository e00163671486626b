// Processes that a program or provider starts: Node's are fresh ones, which know nothing of the run and leave it alone.
import { expect, test } from "vitest";
import { project } from "../support/project";

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

// In Node alone: Node's fork begins a fresh process
test("a forked process has no engine and the run goes on beside it", () => {
    const its = project({
        "child.js": `
            const pulumi = require("@pulumi/pulumi");
            new (class Inner extends pulumi.dynamic.Resource {})({ create: async () => ({ id: "x" }) }, "inner", {});
        `,
        "index.js": `
            const { fork } = require("node:child_process");
            const pulumi = require("@pulumi/pulumi");
            class Forking {
                async create() {
                    const child = fork(require.resolve("./child.js"));
                    const code = await new Promise((resolve) => child.on("exit", resolve));
                    console.log("child", code);
                    return { id: "made", outs: {} };
                }
            }
            new (class First extends pulumi.dynamic.Resource {})(new Forking(), "first", {});
        `,
    });
    const said = its.ok(...UP);
    expect(said).toMatch(/child \d/);
    expect(its.resources()).toEqual(["first"]);
});
