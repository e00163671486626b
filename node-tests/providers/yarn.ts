// A workspace that the real yarn lays out: a project, a package of TypeScript source beside it, and an installed one that
// was compiled. All else is linked from the tests' own packages, so that nothing is downloaded.
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Outcome, Project, succeeded } from "../support/project";
import { installed, packageFiles } from "../support/workspaces";

/** How yarn lays the packages out; `pnp` is Plug'n'Play. */
export type Linker = "pnp" | "pnpm" | "node-modules";

const YARN = join(installed("@yarnpkg/cli-dist"), "bin", "yarn.js");
const COMMAND = join(installed("maloko"), "bin", "maloko.js");
const PULUMI = `link:${installed("@pulumi/pulumi")}`;
const PEERS = { peerDependencies: { "@pulumi/pulumi": "*" } };

export class YarnWorkspace {
    readonly project = new Project({}, onTestFinished, {}, false);
    #version = 0;

    constructor() {
        this.project.remove("node_modules");
        const labels = packageFiles("source, ESM");
        const own = { ...labels.manifest, ...PEERS, devDependencies: { "@pulumi/pulumi": PULUMI } };
        this.project.write({
            "package.json": JSON.stringify({ private: true, workspaces: ["infra", "packages/*"] }),
            "yarn.lock": "",
            "infra/Pulumi.yaml": "name: test\nruntime: nodejs\n",
            "infra/tsconfig.json": JSON.stringify({ compilerOptions: { module: "nodenext", target: "es2022" } }),
            "packages/labels/package.json": JSON.stringify({ name: "@acme/labels", version: "1.0.0", ...own }),
        });
        for (const [name, text] of Object.entries(labels.files)) {
            this.project.write({ [`packages/labels/${name}`]: text });
        }
    }

    /** Installs everything, with a new version of the compiled package. */
    install(linker: Linker): void {
        const stamps = this.#pack(`1.0.${this.#version++}`);
        const dependencies = { "@acme/labels": "workspace:*", "@acme/stamps": stamps, "@pulumi/pulumi": PULUMI };
        this.project.write({
            "infra/package.json": JSON.stringify({ name: "infra", type: "module", dependencies }),
            ".yarnrc.yml": `nodeLinker: ${linker}\nenableGlobalCache: false\nenableNetwork: false\nenableTelemetry: false\n`,
        });
        succeeded("yarn install", this.#yarn("install", "--no-immutable"));
    }

    #pack(version: string): string {
        const { manifest, files } = packageFiles("compiled, ESM");
        const described = JSON.stringify({ name: "@acme/stamps", version, ...manifest, ...PEERS });
        for (const [name, text] of Object.entries({ ...files, "package.json": described })) {
            this.project.write({ [`packed/package/${name}`]: text });
        }
        const { directory } = this.project;
        const archive = join(directory, `stamps-${version}.tgz`);
        this.project.spawned(["tar", "-czf", archive, "-C", join(directory, "packed"), "package"]);
        return `file:${archive}`;
    }

    #yarn(...args: string[]): Outcome {
        const directory = join(this.project.directory, "infra");
        const variables = { DELETED: join(this.project.directory, "deleted") };
        return this.project.spawned([process.execPath, YARN, "--cwd", directory, ...args], variables);
    }

    /** Runs maloko as `yarn maloko` does. */
    ok(...args: string[]): string {
        return succeeded(`yarn maloko ${args.join(" ")}`, this.#yarn("node", COMMAND, ...args));
    }

    /** Writes the program, and deploys it. */
    up(program: string): void {
        this.project.write({ "infra/index.ts": program });
        this.ok("up", "--yes", "--skip-preview");
    }
}
