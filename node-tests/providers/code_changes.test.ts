import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { failureOf, newStack, Thing } from "../support/kit";
import { NIGHT } from "../support/night";
import { project } from "../support/project";
import type { OperationOptions, Result, Stack } from "../support/stacks";

const SOURCE = `
class Base {
    async create(inputs) {
        return { id: "made", outs: inputs };
    }
}

class Label extends Base {
    async diff(id, olds, news) {
        return { changes: false };
    }

    async update(id, olds, news) {
        const texts = { 'one': "first", ...news };
        return { outs: texts };
    }
}
`;

const directory = mkdtempSync(join(tmpdir(), "maloko-labels-"));
afterAll(() => rmSync(directory, { recursive: true }));

const require = createRequire(import.meta.url);

/** Writes a module and gives its class, as another run of the program would load it. */
function label(source = SOURCE, { folder = "one", name = "Label" } = {}): new () => object {
    const file = join(directory, folder, "labels.cjs");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${source}\nmodule.exports = { ${name} };\n`);
    delete require.cache[file];
    return (require(file) as Record<string, new () => object>)[name] as new () => object;
}

function versioned(version: string, source = SOURCE): string {
    return source.replace("class Label extends Base {\n", `$&    static providerVersion = ${version};\n`);
}

function up(stack: Stack, kind: new () => object, options: OperationOptions = {}): Promise<Result> {
    return stack.up(() => {
        for (const name of ["a", "b", "c"]) {
            new Thing(new kind(), name, {}, undefined, ["one"]);
        }
    }, options);
}

async function made(kind: new () => object): Promise<Stack> {
    const stack = newStack();
    expect((await up(stack, kind)).changes).toEqual({ create: 4 });
    return stack;
}

const messagesOf = ({ diagnostics }: Result, wanted: string) =>
    diagnostics.filter(({ severity }) => severity === wanted).map(({ message }) => message);

function expectUnchanged({ changes, diagnostics }: Result): void {
    expect(changes).toEqual({ same: 4 });
    expect(diagnostics).toEqual([]);
}

test("a version that rises updates once although diff says no change", async () => {
    const stack = await made(label(versioned("1")));
    const result = await up(stack, label(versioned("2")));
    expect(result.changes).toEqual({ same: 1, update: 3 });
    expect(messagesOf(result, "info")).toEqual([
        "providerVersion rose from 1 to 2: Label (3 resources). They are updated",
    ]);
    expectUnchanged(await up(stack, label(versioned("2"))));
});

test("the version is no input and no output", async () => {
    const stack = await made(label(versioned("7")));
    const { a } = stack.resources();
    expect(Object.keys(a?.inputs ?? {})).toEqual(["__provider"]);
    expect(Object.keys(a?.outputs ?? {})).toEqual(["__provider"]);
});

test.each([
    "'2'",
    "1.5",
    "true",
    "-1",
])("a version that is no whole number is an error that says so: %s", async (version) => {
    const error = await failureOf(up(newStack(), label(versioned(version))));
    expect(error.message).toMatch(/`providerVersion` of provider `Label` is .*; it must be a whole number/);
});

test("changed code is told of once per class and nothing is updated", async () => {
    const stack = await made(label());
    const changed = SOURCE.replace('"first"', '"second"');
    const result = await up(stack, label(changed));
    expect(result.changes).toEqual({ same: 4 });
    const told = messagesOf(result, "info");
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^provider code changed since the last update: Label \(3 resources\)\./);
    expect(told[0]).toContain("--update-changed-providers");
    // It stays true until they are updated, or the change is taken back.
    expect(messagesOf(await up(stack, label(changed)), "info")).toEqual(told);
    expectUnchanged(await up(stack, label()));
});

const REFORMATTED = `// Reformatted, with comments.
class Base {
  async create(
    inputs, // what to make
  ) {
    return ({ 'id': 'made', outs: (inputs), })
  };
}

/** A label. */
class Label extends (Base) {
  async diff(id, olds, news) { return { changes: false } }

  async update(id, olds, news) {
    ;
    const texts = {
      one: 'fir\\x73t',
      ...news,
    }
    return { "outs": texts }
  }
}
`;

test("formatting, comments, line ends and places are no change of code", async () => {
    const stack = await made(label());
    expectUnchanged(await up(stack, label(REFORMATTED)));
    expectUnchanged(await up(stack, label(REFORMATTED.replaceAll("\n", "\r\n"))));
    expectUnchanged(await up(stack, label(SOURCE, { folder: "two" })));
    expectUnchanged(await up(stack, label(`require("node:os");\n${SOURCE}\nconst unrelated = 1;`)));
});

test("a change of a base class of the project is a change of code", async () => {
    const stack = await made(label());
    const result = await up(stack, label(SOURCE.replace('"made"', '"other"')));
    // Only the class whose own code changed is named.
    expect(messagesOf(result, "info")[0]).toContain("Base (3 resources)");
    expect(messagesOf(result, "info")[0]).not.toContain("Label");
});

const SIDE_METHODS = `
    async find(key, inputs) { return undefined; }
    async read(id, props) { return props; }
    async delete(id, props) { this.log("gone"); }
    close() {}
}
`;

test("changes that cannot matter are no change of code", async () => {
    const stack = await made(label());
    const added = `${SOURCE.trimEnd().replace(/\}$/, "")}${SIDE_METHODS}`;
    expectUnchanged(await up(stack, label(added)));
    expectUnchanged(await up(stack, label(added.replace("return undefined", "return null"))));
    expectUnchanged(await up(stack, label(SOURCE.replace("changes: false", "changes: !!0"))));
    // What `create` or `update` call is theirs.
    const calling = added.replace("outs: texts", "outs: await this.read(id, texts)");
    const updated = await up(stack, label(calling), { updateChangedProviders: true });
    expect(messagesOf(updated, "info")[0]).toContain("Label (3 resources)");
    const later = await up(stack, label(calling.replace("return props", "return { ...props }")));
    expect(messagesOf(later, "info")[0]).toContain("Label (3 resources)");
});

test("a class that only has another name is no change of code", async () => {
    const stack = await made(label());
    expectUnchanged(await up(stack, label(SOURCE.replace("class Label", "class Tag"), { name: "Tag" })));
});

// In Node alone: objects without a class, private fields, and the SDK's serialiser of functions
test("the methods of an object literal are its code", async () => {
    const literal = (text: string) =>
        label(`const provider = {
            async create(inputs) { return { id: "made", outs: { ...inputs, one: ${text} } }; },
            diff: async () => ({ changes: false }),
        };
        const Label = function () { return provider; };`);
    const stack = await made(literal("false"));
    expectUnchanged(await up(stack, literal("/* none */ (false)")));
    expect(messagesOf(await up(stack, literal("!!0")), "info")).toHaveLength(1);
});

const TYPESCRIPT = `
type Inputs = Record<string, unknown>;
export class Label {
    private declare client: string;
    async create(inputs: Inputs) { return { id: "made", outs: inputs }; }
    async update(id: string, olds: Inputs, news: Inputs) { return { outs: { one: "first", ...news } }; }
}`;

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
import { Label } from "./labels";
class Thing extends pulumi.dynamic.Resource {}
for (const name of ["a", "b", "c"]) { new Thing(new Label(), name, {}); }`;

test("preview and up tell of changed code and take the flag", () => {
    const it = project({ "index.ts": PROGRAM, "labels.ts": TYPESCRIPT });
    it.up();
    it.write({ "labels.ts": TYPESCRIPT.replace("id: string", "id: unknown").replaceAll("\n", "\r\n") });
    const told = "provider code changed since the last update: Label (3 resources)";
    if (NIGHT) {
        expect(it.ok("preview", "--stack", "dev", "--expect-no-changes")).not.toContain("provider code changed");
    }
    it.write({ "labels.ts": TYPESCRIPT.replace('"first"', '"second"') });
    expect(it.ok("preview", "--stack", "dev", "--expect-no-changes").split(told)).toHaveLength(2);
    if (NIGHT) {
        expect(it.ok("up", "--yes", "--skip-preview", "--stack", "dev", "--expect-no-changes")).toContain(told);
    }
    expect(it.ok("up", "--yes", "--stack", "dev", "--update-changed-providers")).toContain("3 updated");
    expect(it.ok("preview", "--stack", "dev", "--expect-no-changes")).not.toContain(told);
});
