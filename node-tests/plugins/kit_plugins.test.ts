// Real plugins in tests: the kit starts them, and strikes their calls.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "maloko/vitest";
import { onTestFinished } from "vitest";
import { NIGHT } from "../support/night";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PROBE = join(ROOT, "conformance", "plugins", "plugins", "probe.py");
const PYTHON = join(ROOT, ".venv", "bin", "python");

/** The plugin on PATH. Gives the names of the objects that it has made. */
function probeOnPath(): () => string[] {
    const directory = mkdtempSync(join(tmpdir(), "maloko-kit-plugins-"));
    const world = join(directory, "world");
    mkdirSync(world);
    const script = join(directory, "pulumi-resource-probe");
    writeFileSync(script, `#!/bin/sh\nexec "${PYTHON}" "${PROBE}" "$@"\n`);
    chmodSync(script, 0o755);
    const before = process.env.PATH;
    process.env.PATH = `${directory}:${before}`;
    process.env.PROBE_WORLD = world;
    onTestFinished(() => {
        process.env.PATH = before;
        delete process.env.PROBE_WORLD;
        rmSync(directory, { recursive: true });
    });
    return () => readdirSync(world).map((name) => name.replace(".json", ""));
}

class Thing extends pulumi.CustomResource {
    declare readonly url: pulumi.Output<string>;

    constructor(name: string, props: object) {
        super("probe:index:Thing", name, { url: undefined, color: undefined, ...props });
    }
}

class Greeting extends pulumi.dynamic.Resource {
    constructor(name: string, pet: pulumi.Input<string>) {
        const provider = {
            create: async (outs: object) => ({ id: "greeting-1", outs }),
            update: async (_id: string, _olds: object, outs: object) => ({ outs }),
        };
        super(provider, name, { pet });
    }
}

test("plugins run for real where the test says so", { timeout: 60_000 }, async ({ stack }) => {
    const objects = probeOnPath();
    const s = stack(
        async (things) => {
            const thing = new Thing("thing", things);
            new Greeting("greeting", thing.url);
            return { sum: (await pulumi.runtime.invoke("probe:index:add", { a: 1, b: 2 })).sum };
        },
        { plugins: "real", inputs: { size: 1 } },
    );
    await s.up();
    expect(s.id("thing")).toBe("here-thing-1");
    expect(s.outputs("thing").color).toBe("blue");
    expect(s.outputs("greeting").pet).toBe("http://here-thing-1");
    expect(s.outputs()).toEqual({ sum: 3 });
    expect(objects()).toEqual(["here-thing-1"]);
    if (NIGHT) {
        s.set({ size: 2 });
        expect((await s.preview()).thing?.replaces).toEqual(["size"]);
        await s.up();
    }
    await s.destroy();
    expect(objects()).toEqual([]);
});

test("faults strike real plugins", { timeout: 60_000 }, async ({ stack }) => {
    const objects = probeOnPath();
    const s = stack(() => void new Thing("thing", { size: 1 }), {
        plugins: "real",
        config: { "probe:region": "there" },
    });
    const stub = s.stub({ resource: "thing", method: "create" }, { throws: new Error("cut off"), after: true });
    await expect(s.up()).toFail("thing", { method: "create", match: /cut off/ });
    expect(objects()).toEqual(["there-thing-1"]);
    stub.restore();
    if (NIGHT) {
        await s.up();
        expect(s.id("thing")).toBe("there-thing-1");
    }
});

test("plugins run in all stacks where the run says so", async ({ stack }) => {
    class Nowhere extends pulumi.CustomResource {
        constructor(name: string) {
            super("nowhere:index:Thing", name, {});
        }
    }
    const program = () => void new Nowhere("thing");
    await stack(program).up();
    process.env.MALOKO_PLUGINS = "real";
    onTestFinished(() => {
        delete process.env.MALOKO_PLUGINS;
    });
    await expect(stack(program).up()).rejects.toThrow("nowhere");
    await stack(program, { plugins: "stubs" }).up();
});
