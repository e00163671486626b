// Programs that fail: at import, midway, asynchronously, by a signal; and errors as their authors threw them.
import { expect, test } from "vitest";
import { newStack, Thing } from "../support/kit";
import { byDay, NIGHT } from "../support/night";
import { type Project, project } from "../support/project";

const ECHO = `const pulumi = require("@pulumi/pulumi");
class Provider { async create(inputs) { return { id: "made", outs: inputs }; } }
class Thing extends pulumi.dynamic.Resource { constructor(name, props = {}, it = new Provider()) { super(it, name, props); } }
`;
const RUN = ["up", "--yes", "--skip-preview", "--stack", "dev"];

/** What is said of a program that fails, with --json nothing but events; what was there stays. */
function failed(it: Project, program: string, withJson = NIGHT): string {
    it.write({ "index.js": `${ECHO}new Thing("kept");` });
    it.up();
    it.write({ "index.js": ECHO + program });
    if (withJson) {
        const asJson = it.run(...RUN, "--json");
        expect(asJson).toMatchObject({ status: 1, stderr: "" });
        const events = asJson.stdout
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as Record<string, unknown>);
        expect(events.some(({ diagnosticEvent }) => diagnosticEvent !== undefined)).toBe(true);
    }
    const { status, output } = it.run(...RUN);
    expect(status).toBe(1);
    expect(it.resources()).toContain("kept");
    expect(output).not.toMatch(/maloko.dist|node:internal|@pulumi.pulumi/);
    return output;
}

test("a program that raises midway deletes nothing", () => {
    const it = project({});
    const said = failed(it, `new Thing("made");\nthrow new TypeError("midway");`, true);
    expect(said).toContain("TypeError: midway");
    expect(it.resources().sort()).toEqual(["kept", "made"]);
    it.write({ "index.js": `${ECHO}new Thing("kept"); new Thing("made");` });
    expect(it.up()).toContain("unchanged");
});

test("an error that nobody awaits fails the program", () => {
    const it = project({});
    const programs = [
        `Promise.reject(new TypeError("not awaited"));`,
        `(async () => { await null; throw new TypeError("not awaited"); })();`,
        `setTimeout(() => { throw new TypeError("not awaited"); }, 1);`,
        `new Thing("x").id.apply(() => { throw new TypeError("not awaited"); });`,
    ];
    for (const program of byDay(programs, (_program, place) => place === 2)) {
        expect(failed(it, program)).toContain("TypeError: not awaited");
    }
});

test("an error that somebody handles does not fail the program", () => {
    const it = project({ "index.js": `Promise.reject(new Error("handled")).catch(() => {});` });
    expect(it.up()).not.toContain("handled");
});

test("a syntax error is shown with its line and nothing else", () => {
    const said = failed(project({}), "if x {\n");
    expect(said).toContain("SyntaxError: Unexpected identifier 'x'");
    expect(said).toMatch(/at .*index\.js:4\n\s+if x \{/);
});

class RefusedError extends Error {}

function deeper(): never {
    throw new RangeError("no token");
}

async function errors(create: () => unknown): Promise<string> {
    const result = await newStack().run("update", () => void new Thing({ create: async () => create() }, "a"));
    expect(result.outcome).toBe("failed");
    const shown = result.diagnostics.filter(({ severity, urn }) => severity === "error" && urn?.endsWith("::a"));
    const said = shown.map(({ message }) => message).join("\n");
    expect(said).not.toMatch(/maloko.dist|node:internal/);
    return said;
}

test("the causes of an error are shown with their frames", async () => {
    const said = await errors(() => {
        try {
            deeper();
        } catch (cause) {
            throw new RefusedError("not allowed", { cause });
        }
    });
    expect(said).toMatch(
        /^RefusedError: not allowed \(caused by RangeError: no token\)\n {4}at .*bad_input_program\.test\.ts/,
    );
    expect(said).toMatch(/caused by RangeError: no token\n {4}at deeper .*bad_input_program\.test\.ts/);
});

test("the members of a group of errors are shown with their frames", async () => {
    const said = await errors(() => {
        try {
            deeper();
        } catch (error) {
            throw new AggregateError([new TypeError("no route"), error], "two things");
        }
    });
    expect(said).toContain("AggregateError: two things");
    expect(said).toContain("1. TypeError: no route");
    expect(said).toMatch(/2\. RangeError: no token\n {6}at deeper/);
});
