// Provider methods that throw, or return what nobody can use: what is said, and that nothing is lost.

import { expect, test } from "vitest";
import { newStack, type Props, Thing } from "../support/kit";
import { byDay, NIGHT } from "../support/night";
import type { Result, Stack } from "../support/stacks";

const METHODS = ["check", "diff", "create", "read", "update", "delete"] as const;
const WITH_VALUES = ["check", "create", "read", "update"] as const;
type Method = (typeof METHODS)[number];

/** Does everything right. */
class Good {
    async diff(_id: string, olds: Props, news: Props): Promise<unknown> {
        return { changes: olds.n !== news.n };
    }

    async create(inputs: Props): Promise<unknown> {
        return { id: "made", outs: inputs };
    }

    async update(_id: string, _olds: Props, news: Props): Promise<unknown> {
        return { outs: news };
    }
}

/** A provider with one method that is not as it should be. */
function providing(method: Method, answer: () => unknown): object {
    class Bad extends Good {}
    Object.defineProperty(Bad.prototype, method, { value: async () => answer() });
    return new Bad();
}

function wrapped(method: (typeof WITH_VALUES)[number], value: unknown): () => unknown {
    return {
        check: () => ({ inputs: value }),
        create: () => ({ id: "made", outs: value }),
        read: () => ({ id: "made", props: value }),
        update: () => ({ outs: value }),
    }[method];
}

/** Brings the resource into the state in which the method is called, and runs with it. */
async function runWith(stack: Stack, method: Method, answer: () => unknown): Promise<Result> {
    if (method !== "check" && method !== "create") {
        await stack.up(() => void new Thing(new Good(), "a", { n: 1 }));
    }
    const provider = providing(method, answer);
    switch (method) {
        case "read":
            return stack.run("refresh", () => void new Thing(provider, "a", { n: 1 }));
        case "delete":
            return stack.run("destroy", () => void new Thing(provider, "a", { n: 1 }));
        default:
            return stack.run("update", () => void new Thing(provider, "a", { n: 2 }));
    }
}

function errorsOnTheResource(result: Result): string {
    const errors = result.diagnostics.filter(({ severity, urn }) => severity === "error" && urn?.endsWith("::a"));
    return errors.map(({ message }) => message).join("\n");
}

/** A correct program brings the stack to where it should be, with the object that there was. */
async function goesOnAfter(stack: Stack): Promise<void> {
    const had = stack.resources().a !== undefined;
    const { changes } = await stack.up(() => void new Thing(new Good(), "a", { n: 3 }));
    expect(changes[had ? "create" : "update"]).toBeUndefined();
    expect(stack.resources().a?.outputs).toMatchObject({ n: 3 });
}

class NoRouteError extends Error {}

test.each(METHODS)("a method that raises fails its resource and loses nothing: %s", async (method) => {
    const stack = newStack();
    const result = await runWith(stack, method, () => {
        throw new NoRouteError("no route to the service");
    });
    expect(result.outcome).toBe("failed");
    expect(errorsOnTheResource(result)).toContain("NoRouteError: no route to the service");
    expect(errorsOnTheResource(result)).toContain("bad_input_provider.test.ts");
    await goesOnAfter(stack);
});

const WRONG_TYPES = [undefined, null, 3, [1], Buffer.from("raw")];
// A check that returns nothing accepts the inputs as they are; an update without a result has no outputs.
const ALLOWED = new Set(["update:undefined", "update:null"]);
test.each(
    (["check", "diff", "create", "read", "update"] as const).flatMap((method) =>
        WRONG_TYPES.filter((it) => !ALLOWED.has(`${method}:${it}`)).map((returned) => ({ method, returned })),
    ),
)("a method that returns the wrong type is named with what it must return: $method, $returned", async ({
    method,
    returned,
}) => {
    const stack = newStack();
    const result = await runWith(stack, method, () => returned);
    expect(result.outcome).toBe("failed");
    expect(errorsOnTheResource(result)).toMatch(new RegExp(`\`${method}\` of .* returned .*, not (an object|\`{)`));
    await goesOnAfter(stack);
});

test("what delete returns does not matter", async () => {
    const stack = newStack();
    expect((await runWith(stack, "delete", () => 3)).outcome).toBe("succeeded");
    expect(stack.resources()).toEqual({});
});

function cyclic(): Props {
    const value: Props = {};
    value.self = [value];
    return value;
}

function deep(): Props {
    let value: Props = {};
    for (let level = 0; level < 10_000; level++) {
        value = { d: value };
    }
    return { v: value };
}

const REFUSED: [string, unknown, string][] = [
    ["cyclic", cyclic(), ".self[0] refers back"],
    ["deep", deep(), "is nested more than"],
    ["symbol as key", { d: { [Symbol("s")]: 2 } }, ".d has the key Symbol(s): keys must be texts"],
    ["map", { m: new Map([[1, 2]]) }, ".m is a Map"],
    ["bytes", { v: Buffer.from("raw") }, ".v holds bytes"],
    ["function", { v: () => 1 }, ".v is a function"],
    ["list", [1], "must be an object with the resource's properties, but is a list"],
];
test.each(
    byDay(
        WITH_VALUES.flatMap((method, column) =>
            REFUSED.map(([kind, value, reason], row) => ({ method, kind, value, reason, column, row })),
        ),
        ({ column, row }) => (column + row) % 2 === 0,
    ),
)("values that cannot be kept are refused with their place: $method, $kind", async ({ method, value, reason }) => {
    const stack = newStack();
    const result = await runWith(stack, method, wrapped(method, value));
    expect(result.outcome).toBe("failed");
    const said = errorsOnTheResource(result);
    expect(said).toContain(`\`${method}\` of provider \`Bad\` returned something that cannot be used`);
    expect(said).toContain(reason);
    expect(said.length).toBeLessThan(1000);
    await goesOnAfter(stack);
});

test.each([
    "create",
    "update",
] as const)("an object whose outputs cannot be kept stays in the state with those that can: %s", async (method) => {
    const stack = newStack();
    const result = await runWith(stack, method, wrapped(method, { fine: 1, raw: Buffer.from("raw") }));
    expect(result.outcome).toBe("failed");
    const resource = stack.resources().a;
    expect(resource?.id).toBe("made");
    expect(resource?.outputs).toMatchObject({ fine: 1 });
    expect(resource?.outputs).not.toHaveProperty("raw");
    expect(resource?.initErrors).toHaveLength(1);
    await goesOnAfter(stack);
});

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";
const NUMBER = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";
const ASSET = "c44067f5952c0a294b673a41bacd8c17";

function marked(signature: unknown, members: Props = {}): Props {
    return { [SIGNATURE]: signature, ...members };
}

const LOOKALIKES: [Props, string][] = [
    [marked("frob"), `has the key "${SIGNATURE}" with a value that is no signature of Pulumi's`],
    [marked(5), "is no signature of Pulumi's"],
    [marked(null), "is no signature of Pulumi's"],
    [marked("5cf8f73096256a8f31e491e813e4eb8e", { id: "CANARY" }), "is no signature of Pulumi's"],
    [marked("d0e6a833031e9bbcd3f4e8bde6ca49a4", { value: "CANARY" }), "is no signature of Pulumi's"],
    [marked(SECRET), 'is marked as a secret, but has no "value"'],
    [marked(SECRET, { ciphertext: "CANARY" }), 'has no "value"'],
    [marked(SECRET, { plaintext: "{CANARY" }), 'has no "value"'],
    [marked(SECRET, { plaintext: '"CANARY"' }), 'has no "value"'],
    [marked(NUMBER), 'its "value" is not 16 hex digits'],
    [marked(NUMBER, { value: "CANARY" }), 'its "value" is not 16 hex digits'],
    [marked(ASSET), "an asset needs a text, a path or a URI"],
    [marked(ASSET, { path: "no/such/file" }), "the file of an asset cannot be read"],
    [marked("0def7320c3a5731c473e5ecbe6d01bc7"), "an archive needs assets, a path or a URI"],
];
test.each(
    byDay(
        WITH_VALUES.flatMap((method, column) =>
            LOOKALIKES.map(([value, reason], row) => ({ method, value, reason, column, row })),
        ),
        ({ column, row }) => (column + row) % 4 === 0,
    ),
)("what only looks like a special value is refused and nothing is lost: $method, $value", async ({
    method,
    value,
    reason,
}) => {
    const stack = newStack();
    const result = await runWith(stack, method, wrapped(method, { fine: 1, v: [{ d: value }] }));
    expect(result.outcome).toBe("failed");
    expect(errorsOnTheResource(result)).toContain(reason);
    expect(JSON.stringify(stack.export())).not.toContain("CANARY");
    if (method === "create" || method === "update") {
        const resource = stack.resources().a;
        expect(resource?.id).toBe("made");
        expect(resource?.outputs).toMatchObject({ fine: 1 });
        expect(resource?.outputs).not.toHaveProperty("v");
    }
    await goesOnAfter(stack);
});

test.each(WITH_VALUES)("properties that as a whole look like a special value are refused: %s", async (method) => {
    const stack = newStack();
    const result = await runWith(stack, method, wrapped(method, marked(SECRET, { value: "CANARY" })));
    expect(result.outcome).toBe("failed");
    expect(errorsOnTheResource(result)).toContain("which only special values have");
    expect(JSON.stringify(stack.export())).not.toContain("CANARY");
    await goesOnAfter(stack);
});

const SECRETS = ["CANARY", null, { deep: ["CANARY"] }];
test.each(
    WITH_VALUES.flatMap((method) => SECRETS.map((value) => ({ method, value }))),
)("what is marked as a secret is one: $method, $value", async ({ method, value }) => {
    const stack = newStack();
    const result = await runWith(stack, method, wrapped(method, { n: 1, list: [marked(SECRET, { value })] }));
    expect(result.outcome).toBe("succeeded");
    const [kept] = (stack.resources().a?.outputs as Props).list;
    expect(kept).toEqual(marked(SECRET, { plaintext: JSON.stringify(value) }));
});

test("a failure in part keeps those outputs that can be kept", async () => {
    const stack = newStack();
    const properties = { fine: 1, v: marked(SECRET, { plaintext: '"CANARY"' }) };
    const result = await runWith(stack, "create", () => {
        throw Object.assign(new Error("not started"), { id: "made", properties, reasons: ["no power"] });
    });
    expect(result.outcome).toBe("failed");
    const resource = stack.resources().a;
    expect(resource?.id).toBe("made");
    expect(resource?.outputs).toMatchObject({ fine: 1 });
    expect(resource?.outputs).not.toHaveProperty("v");
    expect(resource?.initErrors).toEqual(["no power", expect.stringContaining('has no "value"')]);
    await goesOnAfter(stack);
});

test.each(
    WITH_VALUES,
)("NaN and whole numbers that lose digits are kept with a warning that names the path: %s", async (method) => {
    const result = await runWith(newStack(), method, wrapped(method, { n: 1, v: Number.NaN, l: [0, 2 ** 60] }));
    expect(result.outcome).toBe("succeeded");
    const warnings = result.diagnostics.filter(({ severity, urn }) => severity === "warning" && urn?.endsWith("::a"));
    const said = warnings.map(({ message }) => message).join("\n");
    expect(said).toContain(`\`${method}\` of provider \`Bad\` returned a value to look at`);
    expect(said).toContain(".v is NaN");
    expect(said).toContain(".l[1] is a whole number beyond 2^53");
});

test.each(byDay(WITH_VALUES, (method) => method === "create"))("enormous values are kept: %s", async (method) => {
    const stack = newStack();
    const [size, count] = NIGHT ? [10_000_000, 100_000] : [2_000_000, 20_000];
    const many = Object.fromEntries(Array.from({ length: count }, (_, number) => [`k${number}`, number]));
    const result = await runWith(stack, method, wrapped(method, { n: 1, text: "x".repeat(size), many }));
    expect(result.outcome).toBe("succeeded");
    const kept = stack.resources().a?.outputs as Props;
    expect(kept.text).toHaveLength(size);
    expect(Object.keys(kept.many)).toHaveLength(count);
});

test.each([
    ["n"],
    [Buffer.from("n")],
    [[1]],
    [[Buffer.from("n")]],
    [{}],
])("names in a diff that are no texts are refused: %s", async (names) => {
    const stack = newStack();
    const result = await runWith(stack, "diff", () => ({ changes: true, replaces: names }));
    expect(result.outcome).toBe("failed");
    expect(errorsOnTheResource(result)).toContain("replaces must be a list of property names");
    await goesOnAfter(stack);
});

test("a read without properties does not count as gone", async () => {
    const stack = newStack();
    const result = await runWith(stack, "read", () => ({ id: "made" }));
    expect(result.outcome).toBe("failed");
    expect(errorsOnTheResource(result)).toContain("read returned an id without properties");
    expect(stack.resources().a?.outputs).toMatchObject({ n: 1 });
    await goesOnAfter(stack);
});

test("a create without an id is named until somebody has looked", async () => {
    const stack = newStack();
    const result = await runWith(stack, "create", () => ({ outs: {} }));
    expect(result.outcome).toBe("failed");
    expect(errorsOnTheResource(result)).toContain("has no id");
    expect(stack.resources().a).toBeUndefined();
    const again = await stack.up(() => void new Thing(new Good(), "a", { n: 3 }));
    const warnings = again.diagnostics.filter(({ severity }) => severity === "warning");
    expect(warnings.map(({ message }) => message).join()).toContain("there may now be one object too many");
});

test("a result that raises when it is read does not count as a method that raised", async () => {
    const stack = newStack();
    const result = await runWith(stack, "create", () => ({
        id: "made",
        get outs() {
            throw new NoRouteError("lazily loaded");
        },
    }));
    expect(result.outcome).toBe("failed");
    expect(errorsOnTheResource(result)).toContain("NoRouteError: lazily loaded");
    const again = await stack.up(() => void new Thing(new Good(), "a", { n: 3 }));
    expect(again.diagnostics.map(({ message }) => message).join()).toContain("there may now be one object too many");
});

test("all failures of check are told under their resource", async () => {
    const stack = newStack();
    const failures = [
        { property: "colour", reason: "not hex" },
        { property: "size", reason: "too large" },
        { property: "", reason: "nothing fits" },
    ];
    const result = await runWith(stack, "check", () => ({ inputs: {}, failures }));
    expect(errorsOnTheResource(result).split("\n")).toEqual([
        "property colour is not valid: not hex",
        "property size is not valid: too large",
        "its inputs are not valid: nothing fits",
    ]);
    await goesOnAfter(stack);
});

test("a provider without create is refused before anything is recorded", async () => {
    class OnlyReads {
        async read(id: string, props: Props): Promise<unknown> {
            return { id, props };
        }
    }
    const stack = newStack();
    for (const dryRun of [true, false]) {
        const program = () => void new Thing(new OnlyReads(), "a", { n: 1 });
        const result = await stack.run("update", program, { dryRun });
        expect(result.outcome).toBe("failed");
        expect(errorsOnTheResource(result)).toContain("OnlyReads has no `create`");
    }
    expect(stack.resources().a).toBeUndefined();
    // Nothing was called, so that there is no object to wonder about.
    const { diagnostics } = await stack.up(() => void new Thing(new Good(), "a", { n: 1 }));
    expect(diagnostics.map(({ message }) => message).join("\n")).not.toContain("interrupted");
});
