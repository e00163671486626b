// What python-tests/concurrency asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { describe, expect, test } from "vitest";
import { project } from "../support/project";

describe("work_beside", () => {
    test("another process at work is named to a preview, and what would change something waits or is refused", async () => {
        const it = project({
            "index.js": `const fs = require("fs");
const pulumi = require("@pulumi/pulumi");
const slow = {
    async create() {
        fs.writeFileSync("started", "");
        while (!fs.existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 5));
        return { id: "1", outs: {} };
    },
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(slow, "thing", {});`,
        });
        const done = await it.interrupted(["up", "--yes", "--skip-preview", "--stack", "dev"], async ({ pid }) => {
            const previewed = it.run("preview", "--stack", "dev");
            expect(previewed.status, previewed.output).toBe(0);
            expect(previewed.stderr).toContain(`\`maloko up\`, process ${pid} on `);
            expect(it.run("up", "--yes", "--stack", "dev").status).toBe(10);
            const waiting = ["refresh", "--yes", "--skip-preview", "--stack", "dev", "--lock-timeout", "1s"];
            const waited = it.run(...waiting);
            expect([waited.status, waited.output]).toEqual([10, expect.stringContaining("waiting for 1 s at most")]);
            it.write({ go: "" });
        });
        expect(done.status, done.output).toBe(0);
    });
});
