// Projects with packages as npm, pnpm and yarn lay them out.
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { transformSync } from "esbuild";
import { onTestFinished } from "vitest";
import { type Outcome, Project, succeeded } from "./project";

/** Where a package of the tests is. */
export const installed = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

const INSTALLED_PULUMI = dirname(installed("@pulumi/pulumi"));

/** A package with an exported and an unexported provider class, and resources of both. */
export const LABELS = `import * as pulumi from "@pulumi/pulumi";
import { appendFileSync } from "node:fs";

interface Inputs { file: string }

export class LabelProvider implements pulumi.dynamic.ResourceProvider {
    constructor(private readonly label: string) {}

    async create(inputs: Inputs) {
        if (this.label === "broken") {
            throw new Error("no such label");
        }
        return { id: this.label, outs: inputs };
    }

    async delete(id: string, props: Inputs) {
        appendFileSync(props.file, "label " + this.label + ";");
    }
}

class HiddenProvider implements pulumi.dynamic.ResourceProvider {
    async create(inputs: Inputs) { return { id: "hidden", outs: inputs }; }
    async delete(id: string, props: Inputs) { appendFileSync(props.file, "hidden;"); }
}

export class Label extends pulumi.dynamic.Resource {
    constructor(name: string) { super(new LabelProvider(name), name, { file: process.env.DELETED }); }
}

export class Hidden extends pulumi.dynamic.Resource {
    constructor(name: string) { super(new HiddenProvider(), name, { file: process.env.DELETED }); }
}
`;

export type Kind = "source, ESM" | "source, CommonJS" | "compiled, ESM" | "compiled, CommonJS";

/** What package.json says of the package's modules, and the files of the package. */
export function packageFiles(kind: Kind): { manifest: object; files: Record<string, string> } {
    const isModule = kind.endsWith("ESM");
    const type = isModule ? "module" : "commonjs";
    if (kind.startsWith("source")) {
        const extension = isModule ? ".js" : "";
        const files = { "src/index.ts": `export * from "./labels${extension}";`, "src/labels.ts": LABELS };
        return { manifest: { type, exports: "./src/index.ts" }, files };
    }
    const { code, map } = transformSync(LABELS, {
        loader: "ts",
        format: isModule ? "esm" : "cjs",
        minify: true,
        keepNames: true,
        sourcemap: "external",
        sourcefile: "../src/labels.ts",
        sourcesContent: true,
    });
    const index = isModule
        ? 'export * from "./labels.js";'
        : 'const it = require("./labels.js"); exports.Label = it.Label; exports.Hidden = it.Hidden;';
    const files = {
        // As packages for both kinds of modules have it: of which kind these are, and nothing else.
        "dist/package.json": JSON.stringify({ type }),
        "dist/index.js": index,
        "dist/labels.js": `${code}//# sourceMappingURL=labels.js.map\n`,
        "dist/labels.js.map": map,
    };
    return { manifest: { type, exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } } }, files };
}

function link(target: string, place: string): void {
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(target, place);
}

const LINK = "node_modules/@acme/labels";
const PNPM_STORE = "infra/node_modules/.pnpm";

/** Where each package manager puts the package `@acme/labels`, and the link to it. */
const LAYOUTS = {
    "an npm or yarn workspace": { place: "packages/labels", link: LINK },
    "a pnpm workspace": { place: "packages/labels", link: `infra/${LINK}` },
    "node_modules of npm": { place: `infra/${LINK}`, link: undefined },
    "the store of pnpm": { place: `${PNPM_STORE}/@acme+labels@1.0.0/${LINK}`, link: `infra/${LINK}` },
    "the store of yarn": { place: "node_modules/.store/@acme-labels-npm-1.0.0-0123456789/package", link: LINK },
    // Seen only by another package that the project depends on.
    "a dependency of a dependency in pnpm": {
        place: `${PNPM_STORE}/@acme+labels@1.0.0/${LINK}`,
        link: `${PNPM_STORE}/stickers@1.0.0/${LINK}`,
    },
} satisfies Record<string, { place: string; link: string | undefined }>;

export type Layout = keyof typeof LAYOUTS;

/** What the providers of the package say that they have deleted, sorted. */
export const deletedIn = (project: Project) => project.read("deleted").split(";").filter(Boolean).sort();

/** A project in `infra` of a workspace, and a package beside it. */
export class Workspace {
    readonly project: Project;
    #laidOut: Layout;

    constructor(layout: Layout, kind: Kind, manifest: object = {}) {
        this.project = new Project({}, onTestFinished, {}, false);
        const { directory } = this.project;
        rmSync(join(directory, "node_modules"));
        link(INSTALLED_PULUMI, join(directory, "node_modules", "@pulumi"));
        const { manifest: own, files } = packageFiles(kind);
        const dependencies = { "@pulumi/pulumi": "^3.0.0" };
        const described = { name: "@acme/labels", version: "1.0.0", dependencies, ...own };
        const { place } = LAYOUTS[layout];
        this.project.write({
            "infra/Pulumi.yaml": "name: test\nruntime: nodejs\n",
            "infra/package.json": JSON.stringify({ dependencies: { "@acme/labels": "*", stickers: "*" }, ...manifest }),
            [`${PNPM_STORE}/stickers@1.0.0/node_modules/stickers/package.json`]: JSON.stringify({
                name: "stickers",
                main: "./index.cjs",
                dependencies: { "@acme/labels": "*" },
            }),
            [`${PNPM_STORE}/stickers@1.0.0/node_modules/stickers/index.cjs`]:
                'module.exports = require("@acme/labels");',
            [`${place}/package.json`]: JSON.stringify(described),
        });
        for (const [name, text] of Object.entries(files)) {
            this.project.write({ [`${place}/${name}`]: text });
        }
        link(".pnpm/stickers@1.0.0/node_modules/stickers", join(directory, "infra/node_modules/stickers"));
        this.#link(layout);
        this.#laidOut = layout;
        this.project.copyStackInto("infra");
    }

    /** Lays the packages out as another package manager does. */
    layOut(layout: Layout): void {
        const { directory } = this.project;
        const [from, to] = [LAYOUTS[this.#laidOut], LAYOUTS[layout]];
        if (from.link !== undefined) {
            rmSync(join(directory, from.link));
        }
        mkdirSync(dirname(join(directory, to.place)), { recursive: true });
        renameSync(join(directory, from.place), join(directory, to.place));
        this.#link(layout);
        this.#laidOut = layout;
    }

    #link(layout: Layout): void {
        const { place, link: from } = LAYOUTS[layout];
        if (from !== undefined) {
            link(relative(dirname(from), place), join(this.project.directory, from));
        }
    }

    /** Runs a command in `infra`. */
    run(...args: string[]): Outcome {
        const file = join(this.project.directory, "deleted");
        return this.project.runWith({ DELETED: file }, "-C", join(this.project.directory, "infra"), ...args);
    }

    ok(...args: string[]): string {
        return succeeded(`maloko ${args.join(" ")}`, this.run(...args));
    }

    up(): string {
        return this.ok("up", "--yes", "--skip-preview");
    }

    /** What was deleted, sorted. */
    get deleted(): string[] {
        return deletedIn(this.project);
    }
}
