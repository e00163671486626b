// What programs make of secrets before they show them with Node's own writers. Nothing of it is shown or kept; what goes for each
// language is asked in Python.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project } from "../support/project";

const WORD = "C4nary-of-Gr33n";
const TEXT = `p/<${WORD}>&"it's" ü+\\${Array.from({ length: 11 }, (_, number) => `${(number + 1) * 7919}~${number + 1}`).join("")}`;

const PROGRAM = String.raw`import * as pulumi from "@pulumi/pulumi";
import * as fs from "fs";
import { inspect } from "util";

const SECRET = JSON.parse(process.env.SECRET!);

function escaped(text: string): string[] {
    const unit = (letter: string) => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0");
    const encoded = Buffer.from(text).toString("base64");
    const lines = (width: number) => encoded.match(new RegExp(".{1," + width + "}", "g"))!.join("\n");
    return [
        JSON.stringify(text).replace(/[<>&]/g, unit),
        JSON.stringify(text).replace(/\//g, "\\/"),
        JSON.stringify(JSON.stringify(JSON.stringify({ text }))),
        text.replace(/[<>&'"]/g, (letter) => "&#" + letter.charCodeAt(0) + ";"),
        text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;").replace(/'/g, "&#x27;"),
        encodeURI(text),
        encodeURIComponent(text),
        encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
        new URLSearchParams({ text }).toString(),
        inspect(text),
        inspect({ text: [text] }),
        "'" + text.replace(/'/g, "'\\''") + "'",
        "'" + text.replace(/'/g, "'\"'\"'") + "'",
        Buffer.from(text).toString("hex"),
        Buffer.from(text).toString("hex").toUpperCase(),
        inspect(Buffer.from(text)),
        lines(76),
        lines(64),
    ];
}

class Leaky {
    async create(props: any) {
        for (const form of escaped(SECRET)) {
            const data = Buffer.from(form);
            for (const part of [data.subarray(0, 5), data.subarray(5, 9), data.subarray(9)]) fs.writeSync(1, part);
            fs.writeSync(1, "\n");
            await pulumi.log.warn("in the log: " + form);
        }
        const reasons = escaped(SECRET).map((form) => "refused: " + form);
        throw Object.assign(new Error("not started"), { id: "made", properties: { plain: "visible" }, reasons });
    }
    async update(id: string, olds: any, news: any) { return this.create(news); }
}

class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, props: any) { super(new Leaky() as any, name, props); }
}

new Thing("one", { secret: pulumi.secret(SECRET), plain: "visible" });
`;

test("a secret is hidden in the forms that writers give it", () => {
    const it = project({ "index.ts": PROGRAM });
    const failing = (...args: string[]) => {
        const { status, output } = it.runWith({ SECRET: JSON.stringify(TEXT) }, ...args);
        expect(status, output).not.toBe(0);
        return output;
    };
    const up = ["up", "--yes", "--skip-preview"];
    const left = new Map<string, string>();
    left.set("output", failing(...up, "--page", "up.html", "--event-log", "events.log", "--summary", "markdown"));
    left.set("events", failing(...up, "--json"));
    left.set("history", it.ok("stack", "history", "show", "1"));
    left.set("state", it.ok("stack", "export"));
    for (const entry of readdirSync(it.directory, { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        if (entry.isFile() && entry.name !== "index.ts" && !file.includes("node_modules")) {
            left.set(file, readFileSync(file, "utf8"));
        }
    }
    expect(left.get("state"), "the reasons are kept").toContain("refused: ");
    expect(it.read("up.html")).toContain("in the log: ");
    expect(it.read("events.log")).toContain("in the log: ");

    const encoded = Buffer.from(TEXT).toString("base64");
    const lines = [76, 64].flatMap((width) => encoded.match(new RegExp(`.{1,${width}}`, "g")) ?? []);
    const digits = Buffer.from(WORD).toString("hex");
    const spaced = digits.replace(/..(?!$)/g, "$& ");
    for (const shown of [WORD, ...lines.filter((line) => line.length > 8), digits, digits.toUpperCase(), spaced]) {
        for (const [place, text] of left) {
            const at = text.indexOf(shown);
            expect(at < 0 ? "" : `${place}: ${text.slice(Math.max(0, at - 200), at + 200)}`).toBe("");
        }
    }
});
