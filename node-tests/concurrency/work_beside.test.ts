// Commands beside another process that works on the same stack.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Interrupted, type Outcome, project } from "../support/project";

const PROGRAM = `import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
appendFileSync("loads", "x");
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
        const loads = it.read("loads");
        seen.refused = it.run("up", "--yes", "-s", "dev");
        expect(it.read("loads"), "the program is not run for nothing").toBe(loads);
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
    expect(refused.status).toBe(10);
    expect(refused.stderr).toContain("error: the stack is currently locked by ");
    expect(refused.stderr.split(who)).toHaveLength(2);
    expect(it.ok("up", "--yes", "-s", "dev")).toContain("unchanged");
}, 60_000);

test("an operation waits for another one as long as it is told", async () => {
    const it = project({ "index.ts": PROGRAM });
    const seen: { waited?: Outcome; told?: string } = {};
    // The flag goes before the variable.
    const variables = { MALOKO_LOCK_TIMEOUT: "0s" };
    const done = await it.interrupted(["up", "--yes", "--skip-preview", "-s", "dev"], async () => {
        const words = ["up", "--yes", "-s", "dev", "--lock-timeout", "4m"];
        const goOn = async (waiting: Interrupted) => {
            await waiting.said("waiting for 240 s at most");
            seen.told = waiting.output();
            const refused = it.runWith(variables, "refresh", "--yes", "--skip-preview", "-s", "dev");
            expect(refused.status, refused.output).toBe(10);
            const wrong = it.runWith({ MALOKO_LOCK_TIMEOUT: "soon" }, "stack", "-s", "dev");
            expect(wrong.status).toBe(2);
            expect(wrong.stderr).toContain("write a number and a unit, such as 90s, 5m or 1h30m");
            writeFileSync(join(it.directory, "go on"), "");
        };
        seen.waited = await it.interrupted(words, goOn, variables);
    });
    expect(done.status, done.output).toBe(0);
    expect(seen.told).toContain("the stack 'dev' is locked by maloko of ");
    expect(seen.waited?.status, seen.waited?.output).toBe(0);
    expect(seen.waited?.stdout).toContain("unchanged");
}, 120_000);
