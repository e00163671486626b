// Stubs of packages that go by a schema: what does not fit is refused as the plugin would refuse it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { expect, type StackSettings, test } from "maloko/vitest";
import { afterAll, onTestFinished } from "vitest";

const BED = "garden:index:Bed";
const LOOK = "garden:index:look";
const FENCE = "garden:index:Fence";
const SCHEMA = {
    name: "garden",
    resources: {
        [BED]: {
            inputProperties: { length: { type: "integer" }, plants: { type: "array", items: { type: "string" } } },
            requiredInputs: ["length"],
            properties: { length: { type: "integer" }, area: { type: "number" } },
        },
        [FENCE]: {
            isComponent: true,
            inputProperties: { height: { type: "number" } },
            methods: { paint: `${FENCE}/paint` },
        },
    },
    functions: {
        [LOOK]: {
            inputs: { properties: { name: { type: "string" } }, required: ["name"] },
            outputs: { properties: { legs: { type: "integer" } } },
        },
        [`${FENCE}/paint`]: {
            inputs: {
                properties: { __self__: { $ref: `#/resources/${FENCE}` }, colour: { type: "string" } },
                required: ["__self__", "colour"],
            },
            outputs: { properties: { litres: { type: "number" } } },
        },
    },
};

class Bed extends pulumi.CustomResource {
    declare readonly area: pulumi.Output<number>;

    constructor(name: string, props: object = {}, kind = BED) {
        super(kind, name, { ...props, area: undefined });
    }
}

class Fence extends pulumi.ComponentResource {
    constructor(name: string, props: object) {
        super(FENCE, name, props, undefined, true);
    }
}

const folder = mkdtempSync(path.join(tmpdir(), "schemas-"));
const schema = path.join(folder, "garden.json");
writeFileSync(schema, JSON.stringify(SCHEMA));
afterAll(() => rmSync(folder, { recursive: true }));

test("what fits its schema is stubbed as ever", async ({ stack }) => {
    const s = stack(
        async () => {
            const bed = new Bed("bed", { length: pulumi.secret(2), plants: ["fern"] });
            const fence = new Fence("fence", { height: 1.5 });
            const paint = pulumi.runtime.call(`${FENCE}/paint`, { __self__: fence, colour: "red" }, fence);
            return { area: bed.area, look: await pulumi.runtime.invoke(LOOK, { name: "cat" }), paint };
        },
        {
            schemas: [schema],
            stubs: {
                [BED]: (inputs) => ({ area: Number(inputs.length) * 1.5 }),
                [LOOK]: () => ({ legs: 4 }),
                [`${FENCE}/paint`]: () => ({ litres: 2 }),
            },
        },
    );
    await s.up();
    expect(s.outputs()).toEqual({ area: 3, look: { legs: 4 }, paint: { litres: 2 } });
});

const REFUSED: [what: string, program: () => unknown, told: RegExp][] = [
    [
        "an unknown input",
        () => new Bed("bed", { length: 2, lenght: 3 }),
        /lenght is not valid.* did you mean 'length'\?/,
    ],
    ["a missing input", () => new Bed("bed"), /property length is not valid: it is missing/],
    ["a text for a number", () => new Bed("bed", { length: "two" }), /it is a string, .* wants a whole number/],
    ["an item of a list", () => new Bed("bed", { length: 2, plants: [1] }), /plants\[0\] is not valid: it is a number/],
    ["an argument", () => pulumi.runtime.invoke(LOOK, { nme: "cat" }), /no such property; did you mean 'name'/],
    [
        "a component's input",
        () => new Fence("fence", { height: "high" }),
        /'height': it is a string, .* wants a number/,
    ],
    [
        "another type",
        () => new Bed("bet", {}, "garden:index:Bet"),
        /no such resource or function; did you mean 'garden/,
    ],
];

for (const [what, program, told] of REFUSED) {
    test(`what a plugin would refuse is refused: ${what}`, async ({ stack }) => {
        const s = stack(async () => void (await program()), { schemas: [schema] });
        await expect(s.preview()).rejects.toThrow(told);
        await expect(s.up()).rejects.toThrow(told);
        expect(s.resources()).toEqual({});
    });
}

const FUNCTIONS: [what: string, program: () => unknown, told: RegExp][] = [
    [
        "a function",
        () => pulumi.runtime.invoke("garden:index:lok", {}),
        /invocation of garden:index:lok returned an error: .* did you mean 'garden:index:look'\?(?! \()/,
    ],
    [
        "a method",
        () => {
            const fence = new Fence("fence", { height: 1.5 });
            return pulumi.runtime.call(`${FENCE}/pant`, { __self__: fence }, fence);
        },
        /call to function 'garden:index:Fence\/pant' failed: .* did you mean 'garden:index:Fence\/paint'\?(?! \()/,
    ],
];

for (const [what, program, told] of FUNCTIONS) {
    test(`a function that fails of no property names none: ${what}`, async ({ stack }) => {
        const s = stack(async () => void (await program()), { schemas: [schema] });
        await expect(s.up()).rejects.toThrow(told);
    });
}

test("what a stub returns has to fit as well", async ({ stack }) => {
    const program = () => void new Bed("bed", { length: 2 });
    const s = stack(program, { schemas: [schema], stubs: { [BED]: () => ({ aera: 3 }) } });
    const told = /the stub of 'garden:index:Bed' returned what does not fit: 'aera'.* 'area'\?/;
    await expect(s.up()).toFail("bed", { match: told });
    const other = stack(program, { schemas: [schema], stubs: { [`${BED}s`]: () => ({}) } });
    await expect(other.up()).rejects.toThrow(/a stub is for 'garden:index:Beds'.* did you mean 'garden:index:Bed'\?/);
});

test("secrets are looked into and not told", async ({ stack }) => {
    const s = stack(() => void new Bed("bed", { length: pulumi.secret("hunter2") }), { schemas: [schema] });
    const failed: unknown = await s.up().catch((error: unknown) => error);
    expect(String(failed)).toContain("it is a string");
    expect(String(failed)).not.toContain("hunter2");
});

test("schemas of all stacks are those that the run names", async ({ stack }) => {
    const program = () => void new Bed("bed");
    await stack(program).up();
    onTestFinished(() => {
        delete process.env.MALOKO_SCHEMAS;
    });
    for (const place of [schema, folder]) {
        process.env.MALOKO_SCHEMAS = place;
        await expect(stack(program).up()).rejects.toThrow("property length is not valid");
        await stack(program, { schemas: [] }).up();
    }
});

const SENSELESS: [settings: object, told: string][] = [
    [{ schemas: "garden.json" }, "it is a list"],
    [{ schemas: ["garden.json"], plugins: "real" }, "leave one of the two out"],
    [{ schemas: ["nowhere.json"] }, "nowhere.json cannot be read"],
];

test("schemas that make no sense are refused", async ({ stack }) => {
    for (const [settings, told] of SENSELESS) {
        const tried = async () => stack(() => undefined, settings as StackSettings).up();
        await expect(tried()).rejects.toThrow(told);
    }
});
