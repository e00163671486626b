// Commands beside another process that works on the same stack.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Outcome, project } from "../support/project";

const PROGRAM = `import { existsSync, writeFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
const slow = {
    async create() {
        writeFileSync("started", "");
        while (!existsSync("go on")) {
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return { id: "1", outs: {} };
    },
    async find() {
        writeFileSync("looked for", "");
        return undefined;
    },
};
class Thing extends pulumi.dynamic.Resource {
    constructor(name: string) {
        super(slow, name, {});
    }
}
new Thing("thing");`;

test("a preview beside another process's live run says who is at work", async () => {
    const it = project({ "index.ts": PROGRAM });
    const seen: { previewed?: Outcome; refused?: Outcome; pid?: number } = {};
    const done = await it.interrupted(["up", "--yes", "--skip-preview", "-s", "dev"], async (running) => {
        seen.pid = running.pid;
        seen.previewed = it.run("preview", "-s", "dev");
        seen.refused = it.run("up", "--yes", "-s", "dev");
        expect(existsSync(join(it.directory, "looked for"))).toBe(false);
        writeFileSync(join(it.directory, "go on"), "");
    });
    expect(done.status, done.output).toBe(0);
    const { previewed, refused } = seen as { previewed: Outcome; refused: Outcome };
    const who = `\`maloko up\`, process ${seen.pid} on `;
    expect(previewed.status, previewed.output).toBe(0);
    expect(previewed.stderr).toContain("warning: the stack 'dev' is locked by maloko of ");
    expect(previewed.stderr).toContain(who);
    expect(previewed.stderr).toContain("preview again when that is done");
    expect(previewed.stdout).toContain("1 to create");
    for (const text of ["interrupted", "when the run ended"]) {
        expect(previewed.output + refused.output).not.toContain(text);
    }
    expect(refused.status).not.toBe(0);
    const [early = "", late = ""] = refused.stderr.split("error: the stack is currently locked by ");
    expect(early.split(who), "it is said before the preview, and once").toHaveLength(2);
    expect(early).toContain("`maloko up` itself cannot begin before that is done");
    expect(late).toContain(who);
    expect(it.ok("up", "--yes", "-s", "dev")).toContain("unchanged");
}, 60_000);
