// One stack as a step of any engine: it needs no server and no packages of one.
import { execFileSync } from "node:child_process";
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DeployOptions, deployOne, type End, type StackSpec, type Verb } from "maloko/fleet";
import { expect, onTestFinished, test, vi } from "vitest";

const HERE = dirname(fileURLToPath(import.meta.url));
const MODULES = join(HERE, "..", "node_modules");

interface Place {
    directory: string;
    backend: string;
}

function stackOf(config: StackSpec["config"] = {}): StackSpec {
    return {
        id: "tenant/acme",
        project: "tenant",
        stack: "acme",
        program: "tenant.cjs#tenant",
        inline: true,
        language: "nodejs",
        labels: {},
        config,
        needs: [],
        wave: 0,
        queue: "default",
    };
}

/** The folder of a fleet, and its world. */
function place(): Place {
    const directory = mkdtempSync(join(tmpdir(), "maloko-fleet-"));
    onTestFinished(() => {
        vi.unstubAllEnvs();
        rmSync(directory, { recursive: true, force: true });
    });
    cpSync(join(HERE, "programs", "tenant.cjs"), join(directory, "tenant.cjs"));
    symlinkSync(MODULES, join(directory, "node_modules"));
    mkdirSync(join(directory, "state"));
    vi.stubEnv("WORLD", join(directory, "world"));
    vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", "passphrase of the tests");
    // A relative place is below the fleet's directory, on whatever machine.
    return { directory, backend: "file://./state" };
}

function deployed(
    where: Place,
    verb: Verb = "up",
    config: StackSpec["config"] = {},
    asked: DeployOptions = {},
): Promise<End> {
    return deployOne(stackOf(config), verb, { ...where, ...asked });
}

test("a stack is made, read and removed", async () => {
    const where = place();
    expect((await deployed(where, "destroy")).outcome, "there is none").toBe("unchanged");
    const made = await deployed(where, "up", { plan: "gold" });
    expect(made).toMatchObject({ outcome: "done", changes: { create: 4 }, succeeded: true });
    expect((await deployed(where, "up", { plan: "gold" })).outcome).toBe("unchanged");
    const preview = await deployed(where, "preview", { plan: "silver" });
    expect(preview.changes).toEqual({ same: 1, update: 3 });
    const updates = [0, 1, 2].map((number) => `update Resource file-${number} [~plan]`);
    expect([...preview.differences].sort()).toEqual(updates);
    const objects = join(where.directory, "world", "objects", "acme");
    rmSync(join(objects, readdirSync(objects)[0] as string));
    const drift = await deployed(where, "refresh", {}, { previewOnly: true });
    const gone = expect.stringMatching(/^Resource file-\d gone$/) as string;
    expect(drift).toMatchObject({ outcome: "done", differences: [gone] });
    expect((await deployed(where, "destroy")).outcome).toBe("done");
});

test("what fails is an end and no exception", async () => {
    const end = await deployed(place(), "up", { fails: "always" });

    expect(end).toMatchObject({ outcome: "failed", reason: "provider", method: "create", mayPass: false });
    expect(end.text).toContain("no room");
    expect(end.urn).toContain("file-1");
});

test("the first warnings are told with the end", async () => {
    const where = place();
    vi.stubEnv("TOKEN_OF_ACME", "s3cr3t-of-acme");
    const config = { warns: "the token s3cr3t-of-acme", token: { secretFrom: { env: "TOKEN_OF_ACME" } } };

    const made = await deployed(where, "up", config);

    expect(made).toMatchObject({ outcome: "done", warnings: ["look at the token [secret]"] });
    expect((await deployed(where, "up")).warnings).toEqual([]);
});

test("a secret is read where the worker is", async () => {
    const where = place();
    const config = { token: { secretFrom: { env: "TOKEN_OF_ACME" } } };
    await expect(deployed(where, "up", config)).rejects.toThrow("TOKEN_OF_ACME, which is not set for this worker");
    vi.stubEnv("TOKEN_OF_ACME", "s3cr3t-of-acme");

    const end = await deployed(where, "up", config, { outputs: true });

    expect(end.outputs).toEqual({ token: "[secret]" });
    const [file] = readdirSync(join(where.directory, "state"), { recursive: true }).filter((it) =>
        String(it).endsWith("acme.json"),
    );
    expect(readFileSync(join(where.directory, "state", String(file)), "utf8")).not.toContain("s3cr3t-of-acme");
});

test.each([
    ["nothing.cjs#tenant", "is not there"],
    ["tenant.cjs#nobody", "exports no function 'nobody'"],
    ["../tenant.cjs#tenant", "is no FILE.js#FUNCTION below the directory"],
    ["broken.cjs#tenant", /cannot be loaded: Error: out of order \(\S+broken\.cjs:2\)$/],
    ["wrong.ts#tenant", /cannot be loaded: SyntaxError: .+ \(\S+wrong\.ts:2:13\)$/],
    ["wrong.cjs#tenant", /cannot be loaded: SyntaxError: .+ \(\S+wrong\.cjs:2\)$/],
])("a program that is not there is told: %s", async (program, words) => {
    const where = place();
    const files = {
        "broken.cjs": "\nthrow new Error('out of order');\n",
        "wrong.ts": "\nexport const = 1;\n",
        "wrong.cjs": "\nconst = 1;\n",
    };
    for (const [name, text] of Object.entries(files)) {
        writeFileSync(join(where.directory, name), text);
    }
    await expect(deployOne({ ...stackOf(), program }, "up", { ...where })).rejects.toThrow(words);
});

test.each([
    ["odd.cjs", "exports.tenant = () => undefined.rooms;\n"],
    ["odd.ts", "interface Rooms {}\nexport function tenant(): Rooms {\n    throw new Error('no rooms');\n}\n"],
])("an error of a program is told with its line: %s", async (name, text) => {
    const where = place();
    writeFileSync(join(where.directory, name), text);
    const end = await deployOne({ ...stackOf(), program: `${name}#tenant` }, "up", where);

    expect(end).toMatchObject({ outcome: "failed", reason: "program" });
    // vitest makes stacks without source maps.
    expect(end.text).toMatch(/^\w*Error: .+ \(\S+odd\.(cjs:1|ts:\d)\)$/);
});

test("a cancelled task ends in order", async () => {
    const where = place();
    const world = join(where.directory, "world");
    const stop = new AbortController();
    const work = deployed(where, "up", { holds: "true" }, { signal: stop.signal });
    await vi.waitUntil(() => existsSync(join(world, "held", "acme")), { timeout: 60_000 });
    stop.abort();

    expect((await work).outcome).toBe("cancelled");

    expect(existsSync(join(world, "told", "acme"))).toBe(true);
    writeFileSync(join(world, "go"), "");
    expect((await deployed(where, "up", { holds: "true" })).outcome).toBe("done");
});

test("a stack that another run is at is left to it", async () => {
    const where = place();
    const world = join(where.directory, "world");
    const first = deployed(where, "up", { holds: "true" }, { run: "one" });
    await vi.waitUntil(() => existsSync(join(world, "held", "acme")), { timeout: 60_000 });
    const second = await deployed(where, "up", {}, { run: "other", attempt: 7 });
    writeFileSync(join(world, "go"), "");

    expect(second).toMatchObject({ outcome: "failed", reason: "locked", mayPass: true });
    expect(second.text).toMatch(/^locked by /);
    expect(await first).toMatchObject({ outcome: "done", changes: { create: 4 } });
});

test("it loads no package of a server", () => {
    const code = `
        const { deployOne } = require("maloko/fleet");
        const loaded = Object.keys(require.cache).filter((file) => file.includes("@temporalio"));
        if (typeof deployOne !== "function" || loaded.length > 0) throw new Error(loaded.join(" "));`;
    execFileSync(process.execPath, ["-e", code], { cwd: join(HERE, "..") });
});

test("counts are told while it goes on", async () => {
    const where = place();
    const totals: number[] = [];
    const onProgress = ({ total }: { total: number }): void => {
        totals.push(total);
        if (total === 4) {
            mkdirSync(join(where.directory, "world"), { recursive: true });
            writeFileSync(join(where.directory, "world", "go"), "");
        }
    };

    const end = await deployed(where, "up", { holds: "true" }, { onProgress, progressEvery: 0.05 });

    expect(end.outcome).toBe("done");
    expect(totals.at(-1)).toBe(4);
});

test("what a listener raises is raised when the stack has ended", async () => {
    const where = place();
    const onProgress = (): void => {
        mkdirSync(join(where.directory, "world"), { recursive: true });
        writeFileSync(join(where.directory, "world", "go"), "");
        throw new RangeError("the listener's own");
    };

    const made = deployed(where, "up", { holds: "true" }, { onProgress, progressEvery: 0.05 });

    await expect(made).rejects.toThrow(new RangeError("the listener's own"));
    expect((await deployed(where, "up", { holds: "true" })).outcome).toBe("unchanged");
});
