// What python-tests/isolated asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { describe, expect, test } from "vitest";
import { atNight } from "../support/night";
import { Project, succeeded } from "../support/project";

const nightly = atNight(test);

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";

const wish = new pulumi.Config().get("wish");

class Things implements pulumi.dynamic.ResourceProvider {
    async create(inputs: { name: string }) {
        if (wish === "raise") {
            throw new RangeError("no such thing");
        }
        if (wish === "die") {
            process.stderr.write("the last words\\n");
            process.kill(process.pid, "SIGSEGV");
            await new Promise(() => {});
        }
        console.log("made", inputs.name);
        return { id: \`id-\${inputs.name}\`, outs: { ...inputs, pid: process.pid, list: [1, { deep: true }] } };
    }
}

class Thing extends pulumi.dynamic.Resource {
    declare readonly pid: pulumi.Output<number>;
    declare readonly list: pulumi.Output<unknown[]>;
    constructor(provider: Things, name: string) {
        super(provider, name, { name, pid: undefined, list: undefined });
    }
}

console.log("the program is", process.pid);
const shared = new Things();
const made = ["m0", "m1", "m2"].map((name) => new Thing(shared, name));
export const pid = made[0].pid;
export const list = made[0].list;
`;

const UP = ["up", "--yes", "--skip-preview", "--isolated", "--stack", "dev"];

describe("isolated", () => {
    test("a program in a process of its own makes what it says, and its errors have their class", () => {
        const it = new Project({ "index.ts": PROGRAM });
        expect(succeeded("up", it.run(...UP))).toContain("made m1");
        const outputs = JSON.parse(succeeded("output", it.run("stack", "output", "--json", "--stack", "dev")));
        expect(outputs.list).toEqual([1, { deep: true }]);
        expect(() => process.kill(outputs.pid, 0)).toThrow("ESRCH");
        succeeded("destroy", it.run("destroy", "--yes", "--isolated", "--stack", "dev"));
        succeeded("config", it.run("config", "set", "wish", "raise", "--stack", "dev"));
        const failed = it.run(...UP);
        expect(failed.status).toBe(1);
        expect(failed.stdout + failed.stderr).toContain("RangeError: no such thing");
    });

    nightly("a process that dies in native code leaves an engine that records and reports", () => {
        const it = new Project({ "index.ts": PROGRAM });
        succeeded("config", it.run("config", "set", "wish", "die", "--stack", "dev"));
        const died = it.run(...UP, "--parallel", "1");
        expect(died.status).toBe(1);
        expect(died.stdout + died.stderr).toContain("was ended by signal 11 (SIGSEGV)");
        expect(died.stdout + died.stderr).toContain("the last words");
    });
});
