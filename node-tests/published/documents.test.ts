// The TypeScript blocks of the documents: type-checked, and run where they stand alone. The tutorial has its own test.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { expect, onTestFinished, test } from "vitest";
import { atNight, NIGHT } from "../support/night";

const nightly = atNight(test);

const VITEST = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
const TESTS = join(import.meta.dirname, "..");
const ROOT = join(TESTS, "..");
const HERE = join(import.meta.dirname, "documents");
const NAMES = namesIn(
    /^export (?:declare \w+|type) (\w+)|^export (\{.*\})/gm,
    readFileSync(join(HERE, "names.ts"), "utf8"),
);

/** The names that a text exports or imports: those that a pattern finds, alone or in braces. */
function namesIn(pattern: RegExp, text: string): string[] {
    return [...text.matchAll(pattern)].flatMap(
        (found) =>
            found
                .slice(1)
                .join(" ")
                .match(/\w+(?= *(?:[,}]|$))/g) ?? [],
    );
}

interface Block {
    place: string;
    text: string;
}

/** The TypeScript blocks of a document, each with the line in which it begins. */
function blocksOf(page: string): Block[] {
    const text = readFileSync(page, "utf8");
    return [...text.matchAll(/^```(?:ts|typescript)\n(.*?)^```$/gms)].map((found) => {
        const line = text.slice(0, found.index).split("\n").length + 1;
        return { place: `${relative(ROOT, page)}:${line}`, text: found[1] ?? "" };
    });
}

/** A module with a block in a function, so that it may have names that others have, and what only a function may hold. */
function moduleOf({ text }: Block): string {
    const imports = text.match(/^import .*$/gm) ?? [];
    const own = namesIn(/^import (?:\* as (\w+)|(\w+)|(\{.*\})) from/gm, text);
    const rest = text.replaceAll(/^import .*$/gm, "");
    const names = NAMES.filter((name) => !own.includes(name));
    // A method alone, as pages show it, is one of a provider.
    const inside = /^async \w+\(/.test(rest) ? `class Example extends Provider { client: any;\n${rest}\n}` : rest;
    return `import { ${names.join(", ")} } from "../names";\n${imports.join("\n")}\nasync function block() {\n${inside}\n}\n`;
}

// By day the blocks of one document run.
nightly("the blocks of the documents pass the type checker", () => {
    const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".md") && !name.startsWith("tutorials"))
        .map((name) => join(ROOT, "docs", name));
    const blocks = new Map(
        pages.flatMap(blocksOf).map((block, number) => [join(HERE, "blocks", `${number}.ts`), block] as const),
    );
    expect(blocks.size).toBeGreaterThan(15);
    const { config } = ts.readConfigFile(join(TESTS, "tsconfig.json"), ts.sys.readFile);
    const parsed = ts.parseJsonConfigFileContent(config, ts.sys, TESTS);
    // Strict, as programs of users are, and no more than that.
    const options = { ...parsed.options, noImplicitOverride: false, noUncheckedIndexedAccess: false };
    const host = ts.createCompilerHost(options);
    const readFile = host.readFile.bind(host);
    const fileExists = host.fileExists.bind(host);
    const getSourceFile = host.getSourceFile.bind(host);
    host.fileExists = (file) => blocks.has(file) || fileExists(file);
    host.readFile = (file) => {
        const block = blocks.get(file);
        return block === undefined ? readFile(file) : moduleOf(block);
    };
    host.getSourceFile = (file, target, ...rest) => {
        const block = blocks.get(file);
        return block === undefined
            ? getSourceFile(file, target, ...rest)
            : ts.createSourceFile(file, moduleOf(block), target);
    };
    const program = ts.createProgram([...blocks.keys()], options, host);
    const faults = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
        const place = blocks.get(file?.fileName ?? "")?.place ?? file?.fileName;
        return `${place}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
    expect(faults).toEqual([]);
});

test("the examples of the kit's documents run", () => {
    const blocks = blocksOf(join(ROOT, "docs", "how-to", "testing.md")).map(({ text }) => text);
    const directory = mkdtempSync(join(HERE, "tmp-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(join(directory, "vitest.config.ts"), "export default {};\n");
    writeFileSync(join(directory, "bucket.test.ts"), blocks[0] ?? "");
    const crash = blocks.find((text) => text.startsWith("crashEverywhere(")) ?? "";
    const imports =
        'import { crashEverywhere, expect } from "maloko/vitest";\nimport { Bucket, FakeCloud } from "../src/bucket";\n';
    // By day without what is cut off everywhere.
    if (NIGHT) {
        writeFileSync(join(directory, "crash.test.ts"), imports + crash);
    }
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST|NODE_ENV|CI$|FORCE_COLOR)/.test(name));
    const env = { ...Object.fromEntries(own), NO_COLOR: "1" };
    const { stdout, status } = spawnSync(process.execPath, [VITEST, "run"], { cwd: directory, env, encoding: "utf8" });
    expect(status, stdout).toBe(0);
    const [, passed] = /Tests +(\d+) passed \(/.exec(stdout) ?? [];
    expect(Number(passed)).toBeGreaterThan(NIGHT ? 10 : 0);
});
