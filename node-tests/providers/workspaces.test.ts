// All in Node alone: the module systems, TypeScript and its compiler
import { expect, test } from "vitest";
import { atNight, byDay, NIGHT } from "../support/night";
import { type Kind, type Layout, Workspace } from "../support/workspaces";

const nightly = atNight(test);

const TS_CONFIG = JSON.stringify({ compilerOptions: { module: "nodenext", target: "es2022", strict: true } });

const IMPORTING = {
    "a TypeScript program": { "infra/tsconfig.json": TS_CONFIG },
    "a TypeScript program that is an ES module": { "infra/tsconfig.json": TS_CONFIG },
    "a JavaScript program that is an ES module": {},
} satisfies Record<string, Record<string, string>>;

type Program = keyof typeof IMPORTING;

function workspace(layout: Layout, kind: Kind, program: Program): { it: Workspace; write: (source: string) => void } {
    const it = new Workspace(layout, kind, program.endsWith("ES module") ? { type: "module" } : {});
    it.project.write(IMPORTING[program]);
    const file = `infra/index.${program.startsWith("a TypeScript") ? "ts" : "js"}`;
    return { it, write: (source) => it.project.write({ [file]: source }) };
}

const MAKING = `import { Hidden, Label } from "@acme/labels";
new Label("a");
new Label("b");
new Hidden("hidden");
`;
const NOTHING = "export const nothing = 1;\n";

// By day one that the tests below do not have.
const LAYOUTS: [Layout, Kind, Program][] = [
    ["an npm or yarn workspace", "source, ESM", "a TypeScript program that is an ES module"],
    ["a pnpm workspace", "source, ESM", "a TypeScript program"],
    ["the store of pnpm", "compiled, ESM", "a TypeScript program that is an ES module"],
    ["an npm or yarn workspace", "compiled, ESM", "a TypeScript program"],
    ["a pnpm workspace", "compiled, ESM", "a JavaScript program that is an ES module"],
    ["node_modules of npm", "compiled, CommonJS", "a TypeScript program that is an ES module"],
    ["an npm or yarn workspace", "source, CommonJS", "a TypeScript program"],
    ["node_modules of npm", "compiled, ESM", "a JavaScript program that is an ES module"],
    ["the store of yarn", "compiled, ESM", "a TypeScript program that is an ES module"],
];

test.each(
    byDay(LAYOUTS, (_row, place) => place === 1),
)("TypeScript providers in ESM packages delete: %s, %s, %s", (layout, kind, program) => {
    const { it, write } = workspace(layout, kind, program);
    write(MAKING);
    expect(it.up()).not.toContain("could not be found again");
    write(NOTHING);
    if (NIGHT) {
        expect(it.ok("preview")).toContain("3 to delete");
    }
    it.up();
    expect(it.deleted).toEqual(["hidden", "label a", "label b"]);
});

test("a package is found again where another package manager puts it", () => {
    const { it, write } = workspace("the store of pnpm", "compiled, ESM", "a TypeScript program");
    write(MAKING);
    it.up();
    // Where it lies is no part of its name: another version of it would be another provider.
    expect(it.ok("stack", "export", "--show-secrets")).toContain('"node_modules/@acme/labels/dist/labels.js');
    write('import { Label } from "@acme/labels";\nnew Label("a");\nnew Label("b");\n');
    it.layOut("node_modules of npm");
    it.up();
    expect(it.deleted).toEqual(["hidden"]);
    write('import { Label } from "stickers";\nnew Label("a");\n');
    it.layOut("a dependency of a dependency in pnpm");
    it.up();
    expect(it.deleted).toEqual(["hidden", "label b"]);
    if (NIGHT) {
        write(NOTHING);
        it.up();
        expect(it.deleted).toEqual(["hidden", "label a", "label b"]);
    }
});

nightly("a class that its package exports from another file is found again", () => {
    const { it, write } = workspace("the store of pnpm", "compiled, ESM", "a TypeScript program that is an ES module");
    write(MAKING);
    it.up();
    const dist = "infra/node_modules/@acme/labels/dist";
    const labels = it.project.read(`${dist}/labels.js`);
    it.project.write({ [`${dist}/chunk.js`]: labels, [`${dist}/index.js`]: 'export * from "./chunk.js";' });
    it.project.remove(`${dist}/labels.js`);
    write(NOTHING);
    it.up();
    expect(it.deleted).toEqual(["hidden", "label a", "label b"]);
});

test("an object of this run serves what was made before packages were known", () => {
    const { it, write } = workspace(
        "an npm or yarn workspace",
        "source, ESM",
        "a TypeScript program that is an ES module",
    );
    write('import { Hidden } from "@acme/labels";\nnew Hidden("a");\nnew Hidden("b");\n');
    it.up();
    // As an earlier version wrote it.
    const state = it.ok("stack", "export", "--show-secrets");
    const old = state.replace(
        /\\"module\\\\\\":\\\\\\"[^"]*src\/labels\.ts\\\\\\"/g,
        String.raw`\"module\\\":\\\"\\\"`,
    );
    const unknown = String.raw`\"name\\\":\\\"HiddenProvider\\\",\\\"incomplete\\\":\\\"class HiddenProvider is not declared\\\"`;
    const incomplete = old.replaceAll(String.raw`\"name\\\":\\\"HiddenProvider\\\"`, unknown);
    expect(incomplete).not.toBe(old);
    expect(old).not.toBe(state);
    it.project.write({ "old.json": incomplete });
    it.ok("stack", "import", "--file", "../old.json");
    write('import { Hidden } from "@acme/labels";\nnew Hidden("a");\n');
    it.up();
    expect(it.deleted).toEqual(["hidden"]);
});

test("errors of a compiled package show the lines of its source", () => {
    const programs = [
        "a TypeScript program that is an ES module",
        "a JavaScript program that is an ES module",
    ] as const;
    for (const program of byDay(programs, (_program, place) => place === 0)) {
        const { it, write } = workspace("a pnpm workspace", "compiled, ESM", program);
        write('import { Label } from "@acme/labels";\nnew Label("broken");\n');
        const { output } = it.run("up", "--yes", "--skip-preview", "--show-tracebacks");
        expect(output).toContain("no such label");
        expect(output).toMatch(/src\/labels\.ts:11:\d+/);
    }
});
