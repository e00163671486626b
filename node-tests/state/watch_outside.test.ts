// `watch` follows what a program is loaded from outside of its project.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { atNight, byDay } from "../support/night";
import { type Interrupted, type Project, project } from "../support/project";

const nightly = atNight(test);

const WATCH = ["watch", "--stack", "dev"];

/** A directory beside the project; `#` in a program stands for its path from there. */
class Shared {
    readonly directory = mkdtempSync(join(tmpdir(), "maloko-shared-"));
    readonly path = `../${basename(this.directory)}`;

    constructor(files: Record<string, string>) {
        onTestFinished(() => rmSync(this.directory, { recursive: true, force: true }));
        this.write(files);
    }

    write(files: Record<string, string>): void {
        for (const [name, text] of Object.entries(files)) {
            writeFileSync(join(this.directory, name), text);
        }
    }

    /** A project with such files. */
    project(files: Record<string, string>): Project {
        const texts = Object.entries(files).map(([name, text]) => [name, text.replaceAll("#", this.path)]);
        return project({ started: "", ...Object.fromEntries(texts) });
    }
}

/** What is said from now on. */
class Following {
    #until = 0;

    constructor(private readonly child: Interrupted) {}

    async said(words: string): Promise<void> {
        await this.child.said(words, this.#until);
        const output = this.child.output();
        expect(output.slice(this.#until)).toContain(words);
        this.#until = output.indexOf(words, this.#until) + words.length;
    }

    /** This is the next file that changes, and the program of then says that. */
    async runsAnew(changed: string, words: string): Promise<void> {
        const from = this.#until;
        await this.said(" changed\n");
        expect(this.child.output().slice(from, this.#until)).toContain(`\n${changed} changed\n`);
        await this.said(words);
        await this.said("Waiting for changes");
    }
}

async function watched(it: Project, args: string[], body: (watching: Following) => Promise<void>): Promise<void> {
    await it.interrupted([...WATCH, ...args], async (child) => {
        await body(new Following(child));
        child.signal("SIGINT");
    });
}

const MODULE = { "package.json": '{ "type": "module" }' };
const exported = (value: string): string => `export const VALUE = "${value}";`;
const assigned = (value: string): string => `exports.VALUE = "${value}";`;
const written = (value: string): string => `{ "VALUE": "${value}" }`;
const PATHS = '{ "compilerOptions": { "module": "commonjs", "paths": { "shared/*": ["./#/*"] } } }';

/** Programs that load files in every way that their kind has, each with what is in a file that has a value. */
const kinds: [string, Record<string, string>, Record<string, (value: string) => string>][] = [
    [
        "TypeScript",
        {
            "tsconfig.json": PATHS,
            "index.ts": `import { VALUE as one } from "#/label"; import { VALUE as other } from "shared/other";
                console.log("values", one, other);`,
        },
        { "label.ts": exported, "other.ts": exported },
    ],
    [
        "TypeScript of ES modules",
        {
            ...MODULE,
            "index.ts": `import { VALUE as one } from "#/label.mjs"; import { VALUE as other } from "#/other.cjs";
                console.log("values", one, other);`,
        },
        { "label.mts": exported, "other.cts": exported },
    ],
    [
        "CommonJS",
        {
            "index.js": `const [one, other] = ["#/label", "#/other.json"].map((file) => require(file).VALUE);
                module.exports = async () => console.log("values", one, other, (await import("#/module.mjs")).VALUE);`,
        },
        { "label.js": assigned, "other.json": written, "module.mjs": exported },
    ],
    [
        "ES modules",
        {
            ...MODULE,
            "index.js": `import { VALUE as one } from "#/label.mjs"; import { VALUE as other } from "#/other.cjs";
                console.log("values", one, other);`,
        },
        { "label.mjs": exported, "other.cjs": assigned },
    ],
];

// By day TypeScript; what failed runs load is asked of ES modules.
for (const [kind, files, loaded] of byDay(kinds, (_row, place) => place === 0)) {
    // In Node alone: Node has two kinds of modules, TypeScript and its paths; Python has one kind
    test(`watch follows files outside of the project: ${kind}`, async () => {
        const values = new Map(Object.keys(loaded).map((name) => [name, "first"]));
        const texts = () => Object.fromEntries([...values].map(([name, value]) => [name, loaded[name]?.(value) ?? ""]));
        const shared = new Shared(texts());
        await watched(shared.project(files), [], async (watching) => {
            await watching.said(`values ${[...values.values()].join(" ")}`);
            await watching.said("Waiting for changes");
            for (const name of values.keys()) {
                shared.write({ "unused.ts": "" });
                values.set(name, "second, anew");
                shared.write({ [name]: texts()[name] ?? "" });
                await watching.runsAnew(`${shared.path}/${name}`, `values ${[...values.values()].join(" ")}`);
            }
        });
    });
}

nightly("watch follows modules outside of the project while they are imported", async () => {
    const shared = new Shared({ "label.ts": exported("one") });
    const it = shared.project({ "index.ts": `import { VALUE } from "#/label"; console.log("label", VALUE);` });
    await watched(it, [], async (watching) => {
        await watching.said("Waiting for changes");
        it.write({ "index.ts": 'console.log("nothing");' });
        await watching.runsAnew("index.ts", "nothing");
        shared.write({ "label.ts": exported("two") });
        it.write({ "own.ts": "" });
        await watching.runsAnew("own.ts", "nothing");
    });
});

const MANIFESTS: [kind: string, manifest: Record<string, string>][] = [
    ["CommonJS", {}],
    ["ES modules", MODULE],
];

// By day what Python asks, and what the program is loaded from above.
for (const [kind, manifest] of MANIFESTS) {
    nightly(`watch follows what a failed run was loaded from, and those before it: ${kind}`, async () => {
        const shared = new Shared({ "first.mts": "export const VALUE = ;", "second.mts": "export const VALUE = 2;" });
        const imports = ["first", "second"].map((name) => `import { VALUE as ${name} } from "#/${name}.mts";`);
        const it = shared.project({
            ...manifest,
            "index.ts": `${imports.join("\n")}\nconsole.log("values", first, second);`,
        });
        await watched(it, [], async (watching) => {
            await watching.said("ended with exit code");
            await watching.said("Waiting for changes");
            shared.write({ "first.mts": "export const VALUE = 1;" });
            await watching.runsAnew(`${shared.path}/first.mts`, "values 1 2");
            shared.write({ "first.mts": 'throw new Error("broken");' });
            await watching.runsAnew(`${shared.path}/first.mts`, "ended with exit code");
            shared.write({ "second.mts": 'export const VALUE = "second";' });
            await watching.runsAnew(`${shared.path}/second.mts`, "ended with exit code");
            shared.write({ "first.mts": 'export const VALUE = "first";' });
            await watching.runsAnew(`${shared.path}/first.mts`, "values first second");
        });
    });
}

nightly("watch does not run for ever for a module outside that each run writes", async () => {
    const shared = new Shared({});
    const it = shared.project({
        "index.ts": `import * as fs from "fs";
            fs.writeFileSync("#/made.js", "// " + process.hrtime.bigint());
            require("#/made");`,
    });
    const made = `${shared.path}/made.js`;
    await watched(it, [], async (watching) => {
        await watching.said(`${made} changes in each run: the program writes it`);
        await watching.said("Waiting for changes");
        shared.write({ "made.js": "// by hand" });
        await watching.said(`${made} changed`);
    });
});

nightly("only the given paths count", async () => {
    const shared = new Shared({ "label.ts": exported("one") });
    const it = shared.project({ "index.ts": `import { VALUE } from "#/label"; console.log("label", VALUE);` });
    await watched(it, ["--path", "."], async (watching) => {
        await watching.said("Waiting for changes");
        shared.write({ "label.ts": exported("two") });
        it.write({ "own.ts": "" });
        await watching.runsAnew("own.ts", "label two");
    });
});
