// The tutorial of laws, crashes and lifecycles is done as it says, from its first file to its last output.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { atNight } from "../support/night";

const VITEST = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
const DOCS = join(import.meta.dirname, "..", "..", "docs");
const TUTORIAL = join(DOCS, "tutorials", "testing-a-provider.md");

/** A fenced block of a document, whom it is for, and the paragraph that stands before it. */
interface Block {
    language: string;
    reader: string;
    intro: string;
    lines: string[];
}

function blocksOf(document: string): Block[] {
    const found: Block[] = [];
    let block: Block | undefined;
    const paragraphs = [""];
    for (const line of readFileSync(document, "utf8").split("\n")) {
        if (block === undefined && line.startsWith("```")) {
            // The reader's language; of outputs and changes the second word says it.
            const [language = "", reader = language] = line.slice(3).split(" ");
            block = { language, reader, intro: paragraphs.findLast((it) => it !== "") ?? "", lines: [] };
        } else if (block !== undefined && line === "```") {
            found.push(block);
            block = undefined;
        } else if (block !== undefined) {
            block.lines.push(line);
        } else if (line === "") {
            paragraphs.push("");
        } else {
            paragraphs.push(`${paragraphs.pop()} ${line}`);
        }
    }
    return found;
}

// The lines of an output, without what differs from run to run.
function essence(text: string): string[] {
    return text.split("\n").map((line) =>
        line
            .replace(/ \d+ms$/, "")
            .trim()
            .replaceAll(/\s+/g, " "),
    );
}

/** The first line that was expected and not printed after those before it. `...` stands for any number of others. */
function notPrinted(expected: string, output: string): string | undefined {
    const printed = essence(output);
    let at = 0;
    for (const line of essence(expected).filter((it) => it !== "" && it !== "...")) {
        const found = printed.indexOf(line, at);
        if (found < 0) {
            return line;
        }
        at = found + 1;
    }
    return undefined;
}

function changed(text: string, diff: string[]): string {
    const side = (other: string) =>
        diff
            .filter((line) => !line.startsWith(other))
            .map((line) => line.slice(1))
            .join("\n");
    const before = side("+");
    expect(text.split(before), `once in the file: ${before}`).toHaveLength(2);
    return text.replace(before, () => side("-"));
}

async function vitest(args: string[], cwd: string): Promise<string> {
    // The outer run's own variables would make the inner one a part of it.
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST|NODE_ENV|CI$|FORCE_COLOR)/.test(name));
    const env = { ...Object.fromEntries(own), NO_COLOR: "1" };
    // Both streams in one file, in the order in which a terminal would have them.
    const file = join(cwd, "output");
    const output = openSync(file, "w");
    const child = spawn(process.execPath, [VITEST, ...args], { cwd, env, stdio: ["ignore", output, output] });
    await once(child, "exit");
    closeSync(output);
    return readFileSync(file, "utf8");
}

const nightly = atNight(test);
// Python's takes the same steps for every change; this one is for `make nightly`.
nightly(
    "the tutorial is true from its first run to its last",
    async () => {
        const directory = mkdtempSync(join(import.meta.dirname, "tmp-tutorial-"));
        onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
        writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "tutorial", type: "module" }));
        // Without one of its own, vitest would take that of these tests.
        writeFileSync(join(directory, "vitest.config.ts"), "export default {};\n");
        const outputs: string[] = [];
        for (const { language, intro, lines } of blocksOf(TUTORIAL).filter(({ reader }) => reader === "ts")) {
            const text = lines.join("\n");
            if (language === "ts") {
                const [, name = ""] = [...intro.matchAll(/`([\w.-]+\.ts)`/g)].at(-1) ?? [];
                appendFileSync(join(directory, name), `${text}\n`);
            } else if (language === "diff") {
                const file = join(directory, lines[0]?.slice("--- ".length) ?? "");
                writeFileSync(file, changed(readFileSync(file, "utf8"), lines.slice(1)));
            } else if (language === "text") {
                expect(
                    outputs.some((output) => notPrinted(text, output) === undefined),
                    `printed somewhere: ${text}`,
                ).toBe(true);
            } else {
                expect(language).toBe("console");
                for (const command of text.split("$ ").slice(1)) {
                    const [line = "", ...expected] = command.split("\n");
                    const [program, ...args] = [...line.matchAll(/"([^"]*)"|\S+/g)].map(
                        ([word, quoted]) => quoted ?? word,
                    );
                    if (program === "npm") {
                        continue;
                    }
                    expect([program, args.shift()]).toEqual(["npx", "vitest"]);
                    const output = await vitest(args, directory);
                    outputs.push(output);
                    expect(
                        notPrinted(expected.join("\n"), output),
                        `printed by \`${line}\`:\n${output}`,
                    ).toBeUndefined();
                }
            }
        }
        expect(outputs.length).toBeGreaterThan(0);
    },
    180_000,
);

test("the tutorials of both languages tell one story", () => {
    const blocks = blocksOf(TUTORIAL);
    const kinds = (wanted: string) =>
        blocks
            .filter(({ reader }) => reader === wanted)
            .map(({ language }) => (language === wanted ? "code" : language));
    expect(kinds("ts")).toEqual(kinds("python"));
    expect(kinds("ts").length * 2).toBe(blocks.length);
});
