// What providers print is told on the resource whose call printed it.
import { expect, test } from "vitest";
import { project } from "../support/project";

interface Told {
    urn?: string;
    message?: string;
    severity: string;
}

/** What is told of an `up` of resources `a` and `b`, whose `create` has this body; `name` is the resource's. */
function told(body: string): Told[] {
    const it = project({
        "index.js": `const pulumi = require("@pulumi/pulumi");
class Printing {
    async create({ name }) {
        ${body}
        return { id: name, outs: {} };
    }
}
class Thing extends pulumi.dynamic.Resource { constructor(name) { super(new Printing(), name, { name }); } }
new Thing("a");
new Thing("b");`,
    });
    const lines = it.ok("up", "--yes", "--skip-preview", "--json", "--stack", "dev").trim().split("\n");
    return lines.flatMap((line) => (JSON.parse(line) as { diagnosticEvent?: Told }).diagnosticEvent ?? []);
}

function linesOf(all: Told[], resource: string): string[] {
    return all.filter(({ urn }) => urn?.endsWith(`::${resource}`)).map(({ message }) => message?.trim() ?? "");
}

test("a printed line is told on the resource of the call", () => {
    const all = told("console.log('made by', name); console.error('on stderr of', name);");
    expect(linesOf(all, "a").sort()).toEqual(["made by a", "on stderr of a"]);
    expect(linesOf(all, "b").sort()).toEqual(["made by b", "on stderr of b"]);
});

test("a carriage return ends a line too", () => {
    // Progress bars write one.
    expect(linesOf(told("process.stdout.write('10 %\\r20 %\\r\\ndone\\n');"), "a")).toEqual(["10 %", "20 %", "done"]);
});

test("lines of calls that run at a time stay whole", () => {
    const all = told(`for (const part of ["one ", "two ", "three\\n"]) {
        process.stdout.write(name + part);
        await new Promise((resolve) => setImmediate(resolve));
    }`);
    expect(linesOf(all, "a")).toEqual(["aone atwo athree"]);
    expect(linesOf(all, "b")).toEqual(["bone btwo bthree"]);
});

test("what is begun is told when it is flushed or at the end", () => {
    const all = told("process.stdout.write('begun by ' + name);");
    expect(linesOf(all, "a")).toEqual(["begun by a"]);
    expect(linesOf(all, "b")).toEqual(["begun by b"]);
});

test("a message of a provider method is on its resource", () => {
    const all = told("pulumi.log.warn('from a method of ' + name);");
    const warnings = all.filter(({ severity }) => severity === "warning");
    expect(linesOf(warnings, "a")).toEqual(["from a method of a"]);
    expect(linesOf(warnings, "b")).toEqual(["from a method of b"]);
});
