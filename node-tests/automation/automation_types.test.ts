import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { atNight, NIGHT } from "../support/night";

const nightly = atNight(test);

const HERE = dirname(fileURLToPath(import.meta.url));
const PROGRAM = readFileSync(join(HERE, "automation-types", "program.ts"), "utf8");

/** What the compiler, at its strictest, says of a program, or of several. */
function compile(texts: string | string[], type: "commonjs" | "module", options: string[]): string {
    const directory = mkdtempSync(join(HERE, "body-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(join(directory, "package.json"), JSON.stringify({ type }));
    const programs = [texts].flat().map((text, number) => {
        const program = join(directory, `program${number}.ts`);
        writeFileSync(program, text);
        return program;
    });
    const compiler = join(HERE, "..", "node_modules", "typescript", "lib", "tsc.js");
    const args = [
        compiler,
        "--noEmit",
        "--strict",
        "--skipLibCheck",
        "--target",
        "es2022",
        "--types",
        "node",
        ...options,
    ];
    try {
        return execFileSync(process.execPath, [...args, ...programs], { encoding: "utf8" });
    } catch (error) {
        return (error as { stdout: string }).stdout;
    }
}

const OURS = PROGRAM.replace('"@pulumi/pulumi/automation"', '"maloko/automation"');

const IMPORTS: [how: string, options: string[]][] = [
    ["the import of node", ["--module", "nodenext"]],
    ["the import of bundlers", ["--module", "esnext", "--moduleResolution", "bundler"]],
    ["the import of old projects", ["--module", "commonjs", "--moduleResolution", "node10"]],
];

// Each is two runs of the compiler. By day the program compiles with mistakes that are planted, and no other one is found.
// In Node alone: the module systems, TypeScript and its compiler
nightly.each(IMPORTS)("a program for the official api compiles with only the import changed: %s", (_name, options) => {
    expect(OURS).not.toBe(PROGRAM);
    expect(compile(PROGRAM, "commonjs", options)).toBe("");
    expect(compile(OURS, "commonjs", options)).toBe("");
});

// In Node alone: the module systems, TypeScript and its compiler
nightly("a program that is an es module compiles", () => {
    expect(compile(OURS, "module", ["--module", "nodenext"])).toBe("");
});

const NAMES = `
import * as official from "@pulumi/pulumi/automation";
import * as ours from "maloko/automation";

type Methods<T> = Omit<T, "workspace" | "pulumiCommand" | "cliApi">;
declare const stack: ours.Stack;
declare const workspace: ours.LocalWorkspace;
export const asStack: Methods<official.Stack> = stack;
export const asWorkspace: Methods<official.LocalWorkspace> = workspace;
export const names: Record<Exclude<keyof typeof official, "RemoteStack">, unknown> = ours;
type Signature<F> = F extends (...args: infer A) => infer R ? { args: A; result: R } : never;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
// Results may have more: their page.
type Fits<F, G> = G extends { args: infer B; result: infer S }
    ? F extends { args: infer A; result: infer R } ? ([S] extends [R] ? Same<A, B> : false) : false
    : false;
type Equal<T, U> = { [K in keyof Methods<T>]: Fits<Signature<T[K]>, K extends keyof U ? Signature<U[K]> : undefined> };
export const equal: { [K in keyof Equal<official.Stack, ours.Stack>]: true } = {} as Equal<official.Stack, ours.Stack>;
`;

// In one run of the compiler with the mistakes by day.
nightly("names arguments and results are the official ones", () => {
    expect(compile(NAMES, "commonjs", ["--module", "nodenext"])).toBe("");
});

nightly("mistakes are found by the compiler", () => {
    const wrong = `${OURS}
void (async (stack: Stack) => {
    await stack.up({ parallell: 3 });
    await stack.setConfig("key", "value");
    const text: string = (await stack.up()).summary;
})`;
    const found = compile(NIGHT ? wrong : [wrong, NAMES], "commonjs", ["--module", "nodenext"])
        .split("\n")
        .filter((line) => line.includes("error TS"));
    expect(found.map((line) => /TS\d+/.exec(line)?.[0])).toEqual(["TS2561", "TS2345", "TS2322"]);
});
