// The pages of runs from the automation API: of results, and in files.
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { CommandError, type CommandRunner, LocalWorkspace, type LocalWorkspaceOptions } from "maloko/automation";
import { expect, test } from "vitest";
import { directory, newStack, placed } from "../support/automation-kit";
import { Echo, Thing } from "../support/kit";
import { atNight } from "../support/night";
import { dataOf, type Shown } from "../support/pages";

const nightly = atNight(test);

const MODULES = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");

const echo = async () => {
    new Thing(new Echo(), "echo", { text: "there" });
    return { hidden: pulumi.secret("hush") };
};

const names = ({ resources }: Shown) => resources.map(({ name }) => name);

test("a result has the page of its run", async () => {
    const stack = await newStack(echo);
    const preview = await stack.preview();
    const up = await stack.up({ message: "first" });
    const refresh = await stack.refresh();
    // The stack is gone with its history, and the page is there.
    const destroy = await stack.destroy({ remove: true });
    for (const [kind, result] of Object.entries({ preview, update: up, refresh, destroy })) {
        const page = result.page();
        const data = dataOf(page);
        expect(data.run).toMatchObject({ kind, outcome: "succeeded", dryRun: kind === "preview" });
        expect(names(data)).toContain("echo");
        expect(page).not.toContain("hush");
    }
    const { run } = dataOf(up.page());
    expect(run.message).toBe("first");
    expect(run.changes).toEqual(up.summary.resourceChanges);
    expect(run.activities).toContainEqual(expect.objectContaining({ kind: "call", name: "create" }));
    // It is no member that results are shown by.
    expect(Object.keys(up).sort()).toEqual(["outputs", "stderr", "stdout", "summary"]);
});

test("previews of other operations have their pages", async () => {
    const stack = await newStack(echo);
    await stack.up();
    for (const [kind, result] of Object.entries({
        refresh: await stack.previewRefresh(),
        destroy: await stack.previewDestroy(),
    })) {
        expect(dataOf(result.page()).run).toMatchObject({ kind, dryRun: true });
    }
    expect(await stack.history()).toHaveLength(1);
});

test("an operation writes its page to a file", async () => {
    const stack = await newStack(echo);
    const { workDir } = stack.workspace;
    const outside = join(directory(), "up.html");
    await stack.preview({ page: "preview.html" });
    await stack.up({ page: outside });
    await stack.previewRefresh({ page: "preview-refresh.html" });
    await stack.refresh({ page: "refresh.html" });
    await stack.previewDestroy({ page: "preview-destroy.html" });
    await stack.destroy({ page: "destroy.html" });
    for (const [file, kind, dryRun] of [
        [join(workDir, "preview.html"), "preview", true],
        [outside, "update", false],
        [join(workDir, "preview-refresh.html"), "refresh", true],
        [join(workDir, "refresh.html"), "refresh", false],
        [join(workDir, "preview-destroy.html"), "destroy", true],
        [join(workDir, "destroy.html"), "destroy", false],
    ] as const) {
        expect(dataOf(readFileSync(file, "utf8")).run).toMatchObject({ kind, dryRun, outcome: "succeeded" });
    }
});

test("an operation that fails writes its page to a file", async () => {
    const stack = await newStack(async () => {
        throw new RangeError("too much");
    });
    await expect(stack.up({ page: "up.html" })).rejects.toBeInstanceOf(CommandError);
    const { run } = dataOf(readFileSync(join(stack.workspace.workDir, "up.html"), "utf8"));
    expect(run.outcome).toBe("failed");
    expect(run.diagnostics).toContainEqual(expect.objectContaining({ message: expect.stringContaining("too much") }));
});

const LOCAL = `
import * as pulumi from "@pulumi/pulumi";

class Provider {
    async create(inputs: any) {
        return { id: "made", outs: inputs };
    }
    async read(id: string, props: any) {
        return { id, props: { text: "read", ...props } };
    }
    async delete() {}
}

class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, text: string) {
        super(new Provider() as pulumi.dynamic.ResourceProvider, name, { text });
    }
}

new Thing("echo", "there");
`;

/** A command of the caller's own that runs nothing. */
const silent: CommandRunner = {
    command: "silent",
    version: null,
    run: async () => ({ stdout: "", stderr: "", code: 0 }),
};

function local(options: LocalWorkspaceOptions = {}) {
    const workDir = directory();
    writeFileSync(join(workDir, "Pulumi.yaml"), "name: local\nruntime: nodejs\n");
    writeFileSync(join(workDir, "package.json"), "{}");
    writeFileSync(join(workDir, "index.ts"), LOCAL);
    symlinkSync(MODULES, join(workDir, "node_modules"));
    return LocalWorkspace.createOrSelectStack({ stackName: "dev", workDir }, placed(options));
}

nightly("results of a local program have their pages", async () => {
    const stack = await local();
    const preview = await stack.preview();
    const update = await stack.up({ page: "up.html" });
    for (const [kind, result] of Object.entries({ preview, update })) {
        const data = dataOf(result.page());
        expect(data.run.kind).toBe(kind);
        expect(names(data)).toContain("echo");
    }
    expect(dataOf(readFileSync(join(stack.workspace.workDir, "up.html"), "utf8")).run.kind).toBe("update");
});

nightly("an import has its page", async () => {
    const stack = await local();
    await stack.up();
    await stack.destroy();
    const resources = [{ type: "pulumi-nodejs:dynamic:Resource", name: "echo", id: "made" }];
    const result = await stack.import({ resources, protect: false, generateCode: false, page: "import.html" });
    for (const page of [result.page(), readFileSync(join(stack.workspace.workDir, "import.html"), "utf8")]) {
        const data = dataOf(page);
        expect(data.run.kind).toBe("import");
        expect(names(data)).toContain("echo");
    }
});

test("a command of the caller's own that runs nothing leaves no page", async () => {
    const result = await (await local({ pulumiCommand: silent })).preview();
    expect(() => result.page()).toThrow("nothing was kept of the run for its page");
});
