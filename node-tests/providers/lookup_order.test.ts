import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ProviderOptions, registerProvider } from "maloko";
import { beforeEach, expect, test } from "vitest";
import { failureOf, newStack, Thing } from "../support/kit";
import { atNight, byDay } from "../support/night";
import { type Project, project } from "../support/project";
import { forgetProviders } from "../support/stacks";

const nightly = atNight(test);

const require = createRequire(import.meta.url);
type Labelled = { new (label: string): object; built: number };
const { Shipped, Configured, Secretive, constant, deleted } = require("../support/sample-package/providers.cjs") as {
    Shipped: Labelled;
    Configured: Labelled;
    Secretive: new () => object;
    constant: object;
    deleted: unknown[][];
};

type Regional = { region: string; delete: unknown };
const assigning = require("../support/sample-package/assigning.cjs") as {
    counted: { made: number };
    Told: Labelled;
} & Record<"Assigning" | "Derived" | "Fields" | "Ancient", new () => Regional>;

const { Renamed } = require("../support/sample-package/renamed.cjs") as { Renamed: Labelled };

const nothing = () => {};

beforeEach(() => {
    deleted.length = 0;
    forgetProviders();
    Shipped.built = 0;
});

class WithClient {
    readonly client = new Map();

    constructor(readonly label: string) {}

    async create() {
        return { id: "made", outs: {} };
    }

    async delete(id: string) {
        deleted.push([this.label, id]);
    }
}

test("the object registered for the resource serves it", async () => {
    const stack = newStack();
    const provider = new WithClient("live");
    await stack.up(() => void new Thing(provider, "a"));
    await stack.destroy(() => void new Thing(provider, "a"));
    expect(deleted).toEqual([["live", "made"]]);
});

test("an equal object of this run serves a resource that was removed", async () => {
    const stack = newStack();
    await stack.up(() => {
        new Thing(new Shipped("x"), "a");
        new Thing(new Shipped("x"), "b");
    });
    Shipped.built = 0;
    await stack.up(() => void new Thing(new Shipped("x"), "a"));
    expect(deleted).toEqual([["x", "x-1"]]);
    expect(Shipped.built).toBe(1);
});

test("an object registered by hand serves what cannot be rebuilt", async () => {
    const stack = newStack();
    class ByHand extends WithClient {}
    await stack.up(() => void new Thing(new ByHand("first"), "a"));
    registerProvider(ByHand, () => new ByHand("by hand"));
    await stack.up(nothing);
    expect(deleted).toEqual([["by hand", "made"]]);
});

test("an object is rebuilt from its reference without its constructor", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Shipped("again"), "a"));
    Shipped.built = 0;
    await stack.up(nothing);
    expect(deleted).toEqual([["again", "again-1"]]);
    expect(Shipped.built).toBe(0);
});

test.each([
    "Assigning",
    "Derived",
    "Fields",
    "Ancient",
] as const)("a provider whose constructor assigns its methods can be found again: %s", async (name) => {
    const kind = assigning[name];
    const stack = newStack();
    const program = () => {
        const provider = new kind();
        provider.region = "there";
        new Thing(provider, "a");
        new Thing(new kind(), "b");
    };
    expect(warningsOf(await stack.up(program)).join()).not.toContain("could not be found again");
    assigning.counted.made = 0;
    await stack.up(nothing);
    const secret = "known to the constructor alone";
    expect(deleted.sort()).toEqual([
        ["here", "made", secret],
        ["there", "made", secret],
    ]);
    expect(assigning.counted.made).toBe(2);
});

test("functions that a constructor does not make alone are attributes", async () => {
    const stack = newStack();
    const changed = new assigning.Assigning();
    changed.delete = async (id: string) => void deleted.push(["from outside", id]);
    await stack.up(() => {
        new Thing(new assigning.Told("x"), "told");
        new Thing(changed, "changed");
    });
    const { diagnostics } = await stack.run("update", nothing);
    const told = diagnostics.map(({ message }) => message).join();
    expect(told).toContain("attribute `create` of provider `Told` is a function");
    expect(told).toContain("attribute `delete` of provider `Assigning` is a function");
    expect(Object.keys(stack.resources()).sort()).toEqual(["changed", "told"]);
    expect(deleted).toEqual([]);
});

// In Node alone: objects without a class, private fields, and the SDK's serialiser of functions
test("an object literal is found again as the constant that holds it", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(constant, "a"));
    await stack.up(nothing);
    expect(deleted).toEqual([["constant", "constant"]]);
});

// In Node alone: objects without a class, private fields, and the SDK's serialiser of functions
test("an object literal is found in a package that was loaded or changed after others were looked for", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "maloko-")), "node_modules", "late", "index.js");
    mkdirSync(dirname(file), { recursive: true });
    const manifest = { name: "late", peerDependencies: { "@pulumi/pulumi": "*" } };
    writeFileSync(join(dirname(file), "package.json"), JSON.stringify(manifest));
    writeFileSync(
        file,
        `const gone = [];
        const made = (name) => ({
            async create() { return { id: name, outs: {} }; },
            async delete(id) { gone.push(id); },
        });
        module.exports = { gone, first: made("first"), replaced: made("former"), made };`,
    );
    const local = { create: async () => ({ id: "local", outs: {} }) };
    const stack = newStack();
    const late = await stackWithLate();
    await stack.up(() => void new Thing(local, "local"));
    expect(late.gone.sort()).toEqual(["first", "later"]);

    async function stackWithLate() {
        let found = {} as { gone: string[]; first: object; replaced: object; made(name: string): object };
        await stack.up(() => {
            new Thing(local, "local");
            found = require(file) as typeof found;
            new Thing(found.first, "first");
            found.replaced = found.made("later");
            new Thing(found.replaced, "replaced");
        });
        return found;
    }
});

test("a rebuilt object is configured before it is called", async () => {
    const stack = newStack({ config: { "project:token": "abc" } });
    await stack.up(() => void new Thing(new Configured("c"), "a"));
    deleted.length = 0;
    await stack.up(nothing);
    expect(deleted).toEqual([
        ["configure", "abc"],
        ["abc", "made"],
    ]);
});

test("an object with a client is an error that names the attribute", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new WithClient("first"), "a"));
    const error = await failureOf(stack.up(nothing));
    expect(error.message).toContain("WithClient");
    expect(error.message).toContain("registerProvider");
    expect(Object.keys(stack.resources())).toEqual(["a"]);
    expect(deleted).toEqual([]);
});

test("two clients of one class are never mixed up", async () => {
    const stack = newStack();
    await stack.up(() => {
        new Thing(new WithClient("one"), "a");
        new Thing(new WithClient("two"), "b");
    });
    const error = await failureOf(stack.up(() => void new Thing(new WithClient("one"), "a")));
    expect(error.message).toContain("::b");
    expect(deleted).toEqual([]);
    expect(Object.keys(stack.resources()).sort()).toEqual(["a", "b"]);
});

// In Node alone: objects without a class, private fields, and the SDK's serialiser of functions
test("an object with private fields is an error that says so", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Secretive(), "a"));
    const result = await stack.run("update", nothing);
    expect(result.diagnostics.map(({ message }) => message).join()).toContain("private");
    expect(Object.keys(stack.resources())).toEqual(["a"]);
});

test("attributes are read before configure", async () => {
    const stack = newStack({ config: { "project:token": "not to be kept" } });
    let attributes: unknown;
    await stack.up(() => void new Thing(new Configured("c"), "a"));
    registerProvider("Configured", (stored) => {
        attributes = stored;
        return new Configured("by hand");
    });
    await stack.up(nothing);
    expect(attributes).toEqual({ label: "c" });
});

test("attributes beyond the limit are not kept", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Shipped("x".repeat(70_000)), "a"));
    const result = await stack.run("update", nothing);
    expect(result.diagnostics.map(({ message }) => message).join()).toContain("at most 65536 are stored");
});

test("a factory that raises fails the resource with its error", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new WithClient("first"), "a"));
    registerProvider(WithClient, () => {
        throw new RangeError("no credentials");
    });
    const error = await failureOf(stack.up(nothing));
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe("no credentials");
    expect(Object.keys(stack.resources())).toEqual(["a"]);
});

test("an object of this run comes before a factory", async () => {
    const stack = newStack();
    await stack.up(() => {
        new Thing(new Shipped("x"), "a");
        new Thing(new Shipped("x"), "b");
    });
    registerProvider(Shipped, () => new WithClient("by hand"));
    await stack.up(() => void new Thing(new Shipped("x"), "a"));
    expect(deleted).toEqual([["x", "x-1"]]);
});

test("a factory comes before a class that can be found again", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Shipped("x"), "a"));
    registerProvider(Shipped, () => new WithClient("by hand"));
    await stack.up(nothing);
    expect(deleted).toEqual([["by hand", "x-1"]]);
});

test("a factory gets the attributes that could be stored", async () => {
    const stack = newStack();
    await stack.up(() => {
        new Thing(new WithClient("kept"), "a");
        new Thing(new WithClient("kept"), "b");
    });
    const seen: unknown[] = [];
    registerProvider(WithClient, (attributes) => {
        seen.push(attributes);
        return new WithClient("by hand");
    });
    await stack.up(nothing);
    expect(seen).toEqual([{ label: "kept" }]);
    expect(deleted).toEqual([
        ["by hand", "made"],
        ["by hand", "made"],
    ]);
});

test.each([
    "support/sample-package/providers.cjs:Shipped",
    "Shipped",
])("a factory can be registered by name: %s", async (key) => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Shipped("first"), "a"));
    registerProvider(key, () => new WithClient("by name"));
    await stack.up(nothing);
    expect(deleted).toEqual([["by name", "first-1"]]);
});

test("a factory that returns no provider is an error that says so", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new WithClient("first"), "a"));
    registerProvider(WithClient, () => undefined as unknown as object);
    const error = await failureOf(stack.up(nothing));
    expect(error.message).toContain("WithClient' returned undefined; it must return a provider object");
    expect(Object.keys(stack.resources())).toEqual(["a"]);
});

test.each([
    "support/sample-package/providers.cjs:Shipped",
    "Shipped",
])("a class that was renamed is found by its former name: %s", async (formerly) => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Shipped("x"), "a"));
    registerProvider(Renamed, { formerly });
    Shipped.built = 0;
    await stack.up(nothing);
    expect(deleted).toEqual([["renamed x", "x-1"]]);
    expect(Shipped.built).toBe(0);
});

test("an object of the renamed class serves what the former made", async () => {
    const stack = newStack();
    await stack.up(() => {
        new Thing(new Shipped("x"), "a");
        new Thing(new Renamed("x"), "b");
    });
    registerProvider(Renamed, { formerly: "support/sample-package/providers.cjs:Shipped" });
    const served: unknown[] = [];
    await stack.up(() => {
        const provider = new Renamed("x");
        Object.defineProperty(provider, "delete", { value: async (id: string) => void served.push(id) });
        new Thing(provider, "b");
    });
    expect(served).toEqual(["x-1"]);
});

test("a factory of the renamed class serves what the former made", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new WithClient("x"), "a"));
    registerProvider(Renamed, ({ label }) => new Renamed(String(label)), { formerly: ["other.ts:Name", "WithClient"] });
    await stack.up(nothing);
    expect(deleted).toEqual([["renamed x", "made"]]);
});

test("what is registered by hand must say something", () => {
    const register = registerProvider as (key: unknown, options: unknown) => void;
    expect(() => register(Renamed, {})).toThrow("says nothing about 'Renamed'");
    expect(() => register("Renamed", { formerly: "Shipped" } satisfies ProviderOptions)).toThrow(
        "in which file is it now",
    );
    expect(() => register(3, () => ({}))).toThrow("the key of registerProvider is a number");
    expect(() => register(Renamed, { formerly: [3] })).toThrow("formerly of 'Renamed' is a number");
});

const warningsOf = ({ diagnostics }: { diagnostics: { severity: string; message: string }[] }) =>
    diagnostics.filter(({ severity }) => severity === "warning").map(({ message }) => message);

test("a provider that could not be found again is warned of once when it makes something", async () => {
    const stack = newStack();
    const program = () => {
        for (const name of ["a", "b", "c"]) {
            new Thing(new WithClient(name), name);
        }
        new Thing(new Shipped("x"), "d");
    };
    for (const dryRun of [true, false]) {
        const [warning, ...others] = warningsOf(await stack.run("update", program, { dryRun }));
        expect(others).toEqual([]);
        expect(warning).toContain("WithClient");
        expect(warning).toContain("3 resources");
        expect(warning).toContain("of its files only the exports of CommonJS modules are known");
        expect(warning).toContain("make clients and locks in `configure`");
        expect(warning).toContain('registerProvider("WithClient"');
    }
    expect(warningsOf(await stack.up(program))).toEqual([]);
});

test("nothing is warned of that is registered by hand", async () => {
    const stack = newStack();
    const result = await stack.up(() => {
        new Thing(new WithClient("x"), "a");
        registerProvider(WithClient, () => new WithClient("by hand"));
    });
    expect(warningsOf(result)).toEqual([]);
});

// Its token comes from the configuration and is an attribute too; its address comes from the environment.
const { Today, seen } = require("../support/sample-package/today.cjs") as { Today: Labelled; seen: string[] };

test("delete and refresh see the configuration and environment of their run", async () => {
    const config: Record<string, string> = {};
    const stack = newStack({ config });
    seen.length = 0;
    for (const [day, verb] of (["up", "refresh", "destroy"] as const).entries()) {
        process.env.MALOKO_TEST_ADDRESS = `address ${day}`;
        config["project:token"] = `token ${day}`;
        await stack[verb](() => void new Thing(new Today("first"), "a"));
    }
    expect(seen).toEqual([
        "create with token 0 at address 0",
        "read with token 1 at address 1",
        "delete with token 2 at address 2",
    ]);
});

test("attributes in the state do not override what configure sets", async () => {
    process.env.MALOKO_TEST_ADDRESS = "here";
    const config = { "project:token": "old" };
    const stack = newStack({ config });
    await stack.up(() => void new Thing(new Today("stored"), "a"));
    seen.length = 0;
    config["project:token"] = "new";
    await stack.refresh(nothing);
    await stack.destroy(nothing);
    expect(seen).toEqual(["read with new at here", "delete with new at here"]);
});

const PROVIDER = `import { appendFileSync, writeFileSync } from "fs";
class Noting {
    async create(inputs: any) { return { id: "made", outs: inputs }; }
    async read(id: string, props: any) { writeFileSync("read", id); return { id, props }; }
    async delete(id: string, props: any) { appendFileSync("deleted", props.name + ";"); }
}
export const make = () => new Noting();`;

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
import { make } from "./noting";
class InProgram { async create(inputs: any) { return { id: "made", outs: inputs }; } async delete() {} }
class Thing extends pulumi.dynamic.Resource {}
for (const name of ["a", "b"]) { new Thing(make(), name, { name }); }
new Thing(new InProgram(), "c", {});`;

const ORPHAN = "no provider object for 'urn:pulumi:dev::test::pulumi-nodejs:dynamic:Resource::c'";

// A stack whose resources have providers in a module (a, b) and in the program itself (c).
function deployed(): Project {
    const it = project({ "noting.ts": PROVIDER, "index.ts": PROGRAM });
    it.up();
    return it;
}

function destroyed(it: Project, ...flags: string[]): string {
    const { status, output } = it.run("destroy", "--yes", "--skip-preview", "--stack", "dev", ...flags);
    expect(status, output).toBe(1);
    expect(it.read("deleted").split(";").sort()).toEqual(["", "a", "b"]);
    return output;
}

nightly("a program that fails at destroy time is a warning and the rest goes on", () => {
    const it = deployed();
    it.write({ "index.ts": "throw new Error('moved on');" });
    const said = destroyed(it);
    expect(said).toContain("the program failed");
    expect(said).toContain("moved on");
    expect(said).toContain(ORPHAN);
});

test("a preview that knows that a delete cannot be made says so and fails", () => {
    const it = deployed();
    const [head = ""] = PROGRAM.split("class InProgram");
    it.write({ "index.ts": head });
    for (const verb of byDay(["preview", "destroy"], (it) => it === "preview")) {
        const flags = verb === "preview" ? [] : ["--preview-only"];
        const { status, output } = it.run(verb, ...flags, "--stack", "dev");
        expect(status, output).toBe(1);
        expect(output).toContain(ORPHAN);
        expect(output).toContain("index.ts:InProgram was not found");
        expect(output).toContain("2 to delete");
    }
    // What it cannot find is asked for by nobody who confirms the others.
    expect(it.run("up", "--yes", "--stack", "dev").status).toBe(1);
    expect(existsSync(join(it.directory, "deleted"))).toBe(false);
    // Found or registered by hand, it can.
    const byHand = 'registerProvider("InProgram", () => { throw new Error("a preview made one"); });';
    it.write({ "index.ts": `import { registerProvider } from "maloko";\n${head}\n${byHand}` });
    expect(it.ok("preview", "--stack", "dev")).toContain("3 to delete");
});

test("refresh and destroy without the program use the references", () => {
    const it = deployed();
    it.write({ "index.ts": "throw new Error('must not run');\nclass Other {}" });
    const refreshed = it.run("refresh", "--yes", "--skip-preview", "--no-program", "--stack", "dev").output;
    expect(refreshed).not.toContain("the program failed");
    expect(it.read("read")).toBe("made");
    expect(destroyed(it, "--no-program")).not.toContain("the program failed");
});
