// Names, errors and lock files of somebody else: they give no orders to a terminal or a shell, and forge no lines.
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const PROGRAM = String.raw`import * as pulumi from "@pulumi/pulumi";
const EVIL = "evil\x1b[2J\x9b31m\u202e\nForged: line";

class P {
    async create(props: any) {
        if (process.env.FAILS) throw new Error("no \x1b]0;title\x07room ${"`"}\x1b[0m${"``"} here\x9b2J\u202e");
        return { id: "id\x1b[1m\nForged: id", outs: { ...props, ["key\x1b[2J"]: EVIL } };
    }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(name: string) { super(new P() as any, name, { text: EVIL }); }
}
new Thing(EVIL);
if (process.env.FAILS) new Thing("other");
export = { fine: "it's", "$(touch hacked)": "x", "a;touch hacked;b": "x", ["odd\x1b[2J\nForged: output"]: EVIL };
`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ORDERS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** A text, after a look that no terminal obeys anything in it. */
function harmless(text: string): string {
    const at = text.search(ORDERS);
    expect(at < 0 ? "" : JSON.stringify(text.slice(Math.max(0, at - 100), at + 100))).toBe("");
    return text;
}

const UP = ["up", "--yes", "--skip-preview"];

function evil(): Project {
    return project({ "index.ts": PROGRAM });
}

test("names, ids and errors give no orders to a terminal", () => {
    const it = evil();
    for (const form of ["--json", "--output=json"]) {
        expect(harmless(it.runWith({}, "preview", form).stdout)).toContain("evil");
    }
    const shown = [
        [...UP, "--message", "one\x1b[2J\nStatus: Forged:"],
        ["stack", "--show-ids", "--show-urns"],
        ["stack", "history"],
        ["stack", "history", "show", "1"],
        ["stack", "graph", "--short-node-name"],
        ["stack", "output"],
        ["stack", "--json"],
        ["stack", "output", "--json"],
    ].map((command) => harmless(it.ok(...command)));
    for (const text of shown.slice(1, 5)) {
        // The value of an output may have lines; they stand in their column.
        expect(text).not.toMatch(/^ {0,12}(Forged|Status: Forged)/m);
    }
    // What a document says is the same.
    expect(JSON.parse(shown.at(-1) ?? "")["odd\x1b[2J\nForged: output"]).toBe("evil\x1b[2J\x9b31m\u202e\nForged: line");
});

test("an error ends no block of a summary", () => {
    const it = evil();
    const { stdout, stderr } = it.runWith({ FAILS: "1" }, ...UP, "--summary", "markdown");
    harmless(stderr);
    const [, fence = ""] = /^(`+)text$/m.exec(harmless(stdout)) ?? [];
    expect(fence.length, stdout).toBeGreaterThan(3);
    harmless(it.runWith({ FAILS: "1" }, ...UP, "--json").stdout);
});

test("a lock of somebody else gives no orders", () => {
    const it = evil();
    const lock = {
        pid: 1,
        username: "eve\x1b[2J\nForged: line",
        hostname: `${hostname()}-other\x9b2J`,
        timestamp: "2026-01-01T00:00:00Z",
    };
    const place = ".maloko/.pulumi/locks/organization/test/dev/0b7d0ad5-6d0c-4a9c-a7a1-32e5a7b3f3a1.json";
    it.write({ [place]: JSON.stringify(lock) });
    for (const command of [["stack"], UP, ["cancel", "dev", "--yes"]]) {
        const said = harmless(it.run(...command).output);
        expect(said).not.toMatch(/^Forged/m);
        expect(command[0] === "cancel" || said.includes("eve"), said).toBe(true);
    }
});

test("outputs whose names are no variables are left out for a shell", () => {
    const it = evil();
    it.up();
    const script = 'set -e; said=$("$@"); eval "$said"; echo "fine is $fine"';
    const { status, stdout, stderr } = it.runThrough(script, "stack", "output", "--shell");
    expect([status, stdout], stderr).toEqual([0, "fine is it's\n"]);
    expect(existsSync(join(it.directory, "hacked"))).toBe(false);
    const left = "left out: '$(touch hacked)', 'a;touch hacked;b', 'odd Forged: output'";
    expect(harmless(stderr)).toContain(left);
});
