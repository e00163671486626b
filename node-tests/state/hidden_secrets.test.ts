// What programs make of secrets before they show them: colours, escapes, encodings. Nothing of it is shown or kept.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const WORD = "C4nary-of-Gr33n";
const TEXT = `p/<${WORD}>&"it's" ü+\\${Array.from({ length: 11 }, (_, number) => `${(number + 1) * 7919}~${number + 1}`).join("")}`;

const PROGRAM = String.raw`import * as pulumi from "@pulumi/pulumi";
import * as fs from "fs";
import { inspect } from "util";

const SECRET = JSON.parse(process.env.SECRET!);

function interleaved(text: string): string[] {
    const middle = text.length >> 1;
    const all = ["\x1b[1;31m", "\x1b[0m\x1b[K", "\x1b]8;;https://example.com\x07", "\0", "\x7f", "\u200b", "\u2060", "\xad"];
    return all.flatMap((between) => {
        const cut = text.slice(0, middle) + between + text.slice(middle);
        return [cut, [...text].join(between), JSON.stringify(cut)];
    });
}

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

function numbers(number: number): string[] {
    return [String(number), number.toLocaleString("en-US"), JSON.stringify({ a: number }), number.toFixed(1), number.toExponential()];
}

function forms(): string[] {
    switch (process.env.FORMS) {
        case "interleaved": return interleaved(SECRET);
        case "escaped": return escaped(SECRET);
        default: return [SECRET.deep[0].card, SECRET.pin, SECRET.port].flatMap(numbers);
    }
}

class Leaky {
    async create(props: any) {
        for (const form of forms()) {
            const data = Buffer.from(form);
            for (const part of [data.subarray(0, 5), data.subarray(5, 9), data.subarray(9)]) fs.writeSync(1, part);
            fs.writeSync(1, "\n");
            await pulumi.log.warn("in the log: " + form);
        }
        const reasons = forms().map((form) => "refused: " + form);
        throw Object.assign(new Error("not started"), { id: "made", properties: { plain: "visible" }, reasons });
    }
    async update(id: string, olds: any, news: any) { return this.create(news); }
}

class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, props: any) { super(new Leaky() as any, name, props); }
}

new Thing("one", { secret: pulumi.secret(SECRET), plain: "visible" });
`;

const DYNAMIC = `import * as pulumi from "@pulumi/pulumi";
class P {
    async create(props: any) { return { id: "1", outs: props }; }
    async update(id: string, olds: any, news: any) { return { outs: news }; }
}
class R extends pulumi.dynamic.Resource {
    constructor(name: string, props: any, opts?: any) { super(new P() as any, name, props, opts); }
}
`;

const MEMBERS = `${DYNAMIC}
const pw = process.env.STEP === "plain" ? "OPEN-PW" : pulumi.secret("OPEN-PW");
new R("r", { db: { user: "u", password: pw }, list: ["plain", pw], top: pw });
`;

const IGNORED = `${DYNAMIC}
const first = process.env.STEP === "1";
const db = { user: "user-" + process.env.STEP, password: (first ? "OLD" : "NEW") + "-PW" };
const items = [{ key: (first ? "OLD" : "NEW") + "-PW" }];
const hidden = (value: any) => (first ? pulumi.secret(value) : value);
new R("r", { db: hidden(db), items: hidden(items) }, { ignoreChanges: ["db.password", "items[*].key"] });
`;

const UNSEEN =
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /(?:\x1b|\\+u001b)(?:\[[0-9;]*[A-Za-z]|\]8;;https:\/\/example\.com(?:\x07|\\+u0007))|[\x00-\x08\x0b-\x1f\x7f\xad\u200b\u2060]|\\+u(?:0000|007f|00ad|200b|2060)/g;

/** What a run that fails shows and leaves, without what nobody sees. */
function leftOf(forms: string, secret: unknown): Map<string, string> {
    const it = project({ "index.ts": PROGRAM });
    const variables = { SECRET: JSON.stringify(secret), FORMS: forms };
    const failing = (...args: string[]) => {
        const { status, output } = it.runWith(variables, "up", "--yes", "--skip-preview", ...args);
        expect(status, output).not.toBe(0);
        return output;
    };
    const left = new Map<string, string>();
    left.set("output", failing("--page", "up.html", "--event-log", "events.log", "--summary", "markdown"));
    left.set("events", failing("--json"));
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
    return new Map([...left].map(([place, text]) => [place, text.replace(UNSEEN, "")]));
}

function expectHidden(left: Map<string, string>, shown: string[]): void {
    for (const [place, text] of left) {
        for (const secret of shown) {
            const at = text.indexOf(secret);
            expect(at < 0 ? "" : `${place}: ${text.slice(Math.max(0, at - 200), at + 200)}`).toBe("");
        }
    }
}

function resourceWith(document: string, member: string, key: string, place: "checkpoint" | "deployment"): any {
    const read = JSON.parse(document);
    const resources: any[] = place === "checkpoint" ? read.checkpoint.latest.resources : read.deployment.resources;
    return resources.find((resource) => key in (resource[member] ?? {}))[member];
}

/** The stack file as it stands. */
const stateOf = (it: Project) => it.read(".maloko/.pulumi/stacks/test/dev.json");

function upWith(it: Project, step: string): void {
    const { status, output } = it.runWith({ STEP: step }, "up", "--yes", "--skip-preview");
    expect(status, output).toBe(0);
}

test("control characters inside of a secret hide it from nobody who searches", () => {
    expectHidden(leftOf("interleaved", `t${WORD}`), [WORD]);
});

test("a secret is hidden in the forms that writers give it", () => {
    const encoded = Buffer.from(TEXT).toString("base64");
    const lines = [76, 64].flatMap((width) => encoded.match(new RegExp(`.{1,${width}}`, "g")) ?? []);
    const digits = Buffer.from(WORD).toString("hex");
    const spaced = digits.replace(/..(?!$)/g, "$& ");
    const shown = [WORD, ...lines.filter((line) => line.length > 8), digits, digits.toUpperCase(), spaced];
    expectHidden(leftOf("escaped", TEXT), shown);
});

test("secret numbers are hidden from six digits on", () => {
    const left = leftOf("numbers", { deep: [{ card: 8675309123 }], pin: 246810, port: 8080 });
    expectHidden(left, ["8675309123", "8,675,309,123", "8.675309123", "246810", "246,810", "2.46810"]);
    expect(left.get("output")).toContain("in the log: 8080");
});

test("a member that becomes secret is marked where it stands", () => {
    const it = project({ "index.ts": MEMBERS });
    upWith(it, "plain");
    expect(stateOf(it)).toContain("OPEN-PW");
    upWith(it, "secret");
    expect(stateOf(it)).not.toContain("OPEN-PW");
    const outputs = resourceWith(stateOf(it), "outputs", "db", "checkpoint");
    expect(outputs.db.user).toBe("u");
    expect(outputs.list[0]).toBe("plain");
});

test("what ignore changes copies out of a secret is secret", () => {
    const it = project({ "index.ts": IGNORED });
    upWith(it, "1");
    upWith(it, "2");
    expect(stateOf(it)).not.toContain("OLD-PW");
    const inputs = resourceWith(it.ok("stack", "export", "--show-secrets"), "inputs", "db", "deployment");
    expect(inputs.db.user).toBe("user-2");
    expect(JSON.stringify(inputs.db.password)).toContain("OLD-PW");
    expect(JSON.stringify(inputs.items)).toContain("OLD-PW");
});
