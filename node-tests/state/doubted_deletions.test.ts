// A run that is killed in `delete`: the next one asks for the object before anything refers to it.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const PROGRAM = `const pulumi = require("@pulumi/pulumi"); const fs = require("fs");
fs.mkdirSync("world", { recursive: true });
const note = (text) => fs.appendFileSync("calls", text + "\\n");
class Provider {
    async create(props) {
        note("create " + props.name);
        fs.writeFileSync("world/" + props.name, "");
        return { id: props.name, outs: props };
    }
    async delete(id) {
        note("delete " + id);
        if (fs.existsSync("acts")) fs.rmSync("world/" + id);
        if (fs.existsSync("dies")) process.kill(process.pid, "SIGKILL");
        fs.rmSync("world/" + id, { force: true });
    }
}
class Readable extends Provider {
    async read(id, props) {
        note("read " + id);
        return fs.existsSync("world/" + id) ? { id, props } : {};
    }
}
const Kind = fs.existsSync("readable") ? Readable : Provider;
class Thing extends pulumi.dynamic.Resource {
    constructor(name, needs = "") { super(new Kind(), name, { name, needs }); }
}
const base = new Thing("base");
new Thing("above", base.id);
`;
const DIRECTLY = ["--yes", "--skip-preview", "--parallel", "1", "--stack", "dev"];

const urn = (name: string) => `urn:pulumi:dev::test::pulumi-nodejs:dynamic:Resource::${name}`;

/** A destroy that was killed while it deleted `base`, with its object gone or not. */
function killed({ readable, acts }: { readable: boolean; acts: boolean }): Project {
    const it = project({ "index.js": PROGRAM });
    if (readable) {
        it.write({ readable: "" });
    }
    it.ok("up", ...DIRECTLY);
    // Only the deletion of what `above` needs dies.
    it.ok("destroy", ...DIRECTLY, "--target", urn("above"));
    it.write({ dies: "", ...(acts ? { acts: "" } : {}) });
    expect(it.run("destroy", ...DIRECTLY).status).not.toBe(0);
    for (const name of ["dies", "acts", "calls"]) {
        rmSync(join(it.directory, name), { force: true });
    }
    return it;
}

const calls = (it: Project) => (existsSync(join(it.directory, "calls")) ? it.read("calls").trim().split("\n") : []);
const interrupted = (it: Project) => JSON.parse(it.ok("stack", "--json", "--stack", "dev")).interrupted;

test.each([true, false])("an object whose deletion is in doubt is asked for before it is used", (acts) => {
    const it = killed({ readable: true, acts });
    it.ok("up", ...DIRECTLY);
    const made = acts ? ["create base", "create above"] : ["create above"];
    expect(calls(it)).toEqual(["read base", ...made]);
    expect(interrupted(it)).toEqual([]);
    expect(readdirSync(join(it.directory, "world")).sort()).toEqual(["above", "base"]);
});

test("what a killed destroy has deleted is not deleted again", () => {
    const it = killed({ readable: true, acts: true });
    it.ok("destroy", ...DIRECTLY);
    expect(calls(it)).toEqual(["read base"]);
    expect(JSON.parse(it.ok("stack", "export", "--stack", "dev")).deployment.resources ?? []).toEqual([]);
});

test("the doubt stays where nobody can be asked", () => {
    const it = killed({ readable: false, acts: false });
    for (let run = 0; run < 2; run += 1) {
        expect(it.run("up", ...DIRECTLY).output).toContain("interrupted while deleting, and no provider was asked");
        expect(interrupted(it)).toEqual([{ urn: urn("base"), operation: "deleting" }]);
    }
    it.ok("destroy", ...DIRECTLY);
    expect(interrupted(it)).toEqual([]);
});
