// Resources and functions of packages in tests: stubbed by default, or as the test says.
import * as pulumi from "@pulumi/pulumi";
import { expect, type Inputs, type StackSettings, test } from "maloko/vitest";

const PET = "random:index/randomPet:RandomPet";
const LOOKUP = "random:index:lookup";
const VPC = "awsx:ec2:Vpc";

class RandomPet extends pulumi.CustomResource {
    declare readonly text: pulumi.Output<string>;
    declare readonly size: pulumi.Output<number>;

    constructor(name: string, props: object = {}, opts?: pulumi.CustomResourceOptions) {
        super(PET, name, { text: undefined, size: undefined, ...props }, opts);
    }
}

class Greetings implements pulumi.dynamic.ResourceProvider {
    async create(props: { pet: string }) {
        return { id: "greeting-1", outs: { ...props, length: props.pet.length } };
    }

    async update(_id: string, _olds: object, news: { pet: string }) {
        return { outs: { ...news, length: news.pet.length } };
    }
}

class Greeting extends pulumi.dynamic.Resource {
    constructor(name: string, pet: pulumi.Input<string>) {
        super(new Greetings(), name, { pet, length: undefined });
    }
}

test("a resource of a package gives its inputs back", async ({ stack }) => {
    const s = stack(
        (sizes) => {
            const pet = new RandomPet("pet", sizes);
            new Greeting("greeting", pet.id);
            return { size: pet.size };
        },
        { inputs: { size: 2 } },
    );
    expect(await s.preview()).toPlan({ pet: "create", greeting: "create" });
    await s.up();
    const made = s.id("pet");
    expect(made).toMatch(/^pet-[0-9a-f]{8}$/);
    expect(s.outputs("pet")).toEqual({ size: 2 });
    expect(s.outputs("greeting").length).toBe(made.length);
    expect(s.outputs()).toEqual({ size: 2 });
    s.set({ size: 3 });
    expect(await s.preview()).toPlan({ pet: "update" });
    await s.up();
    expect(s.id("pet")).toBe(made);
    expect(s.outputs("pet")).toEqual({ size: 3 });
    const methods = s.calls
        .all()
        .filter(({ name }) => name === "pet")
        .map(({ method }) => method);
    expect(methods.filter((method) => ["create", "update"].includes(method))).toEqual(["create", "update"]);
});

test("a stub of a function of the inputs makes outputs", async ({ stack }) => {
    const s = stack((sizes) => void new Greeting("greeting", new RandomPet("pet", sizes).text), {
        inputs: { size: 2 },
        stubs: { [PET]: (inputs) => ({ text: "x".repeat(Number(inputs.size)) }) },
    });
    await s.up();
    expect(s.outputs("pet")).toEqual({ size: 2, text: "xx" });
    expect(s.outputs("greeting").length).toBe(2);
    s.set({ size: 3 });
    await s.up();
    expect(s.outputs("greeting").length).toBe(3);
});

test("a stub with methods stands in for a plugin", async ({ stack }) => {
    const pets = new Map<string, Inputs>();
    const stub = {
        check: (_olds: Inputs, news: Inputs) => ({ size: news.size ?? 7 }),
        diff: (_id: string, olds: Inputs, news: Inputs) => ({ changes: olds.size !== news.size, replaces: ["size"] }),
        async create(inputs: Inputs) {
            const id = `pet-of-size-${String(inputs.size)}`;
            pets.set(id, inputs);
            return { id, outs: { text: "made" } };
        },
        read(id: string) {
            const found = pets.get(id);
            return found === undefined ? undefined : { ...found, text: "made" };
        },
        delete: (id: string) => pets.delete(id),
    };
    const s = stack((sizes) => void new RandomPet("pet", sizes), { stubs: { [PET]: stub } });
    await s.up();
    expect(s.id("pet")).toBe("pet-of-size-7");
    expect(s.outputs("pet")).toEqual({ size: 7, text: "made" });
    s.set({ size: 8 });
    expect((await s.preview()).pet?.replaces).toEqual(["size"]);
    await s.up();
    expect([...pets.keys()]).toEqual(["pet-of-size-8"]);
    pets.clear();
    await s.refresh();
    expect(s.resources()).toEqual({});
    await s.up();
    await s.destroy();
    expect(pets.size).toBe(0);
});

test("secrets stay secret in a stub", async ({ stack }) => {
    const seen: unknown[] = [];
    const stub = (inputs: Inputs): Inputs => {
        seen.push(inputs.text);
        return { text: inputs.text, size: 1 };
    };
    const settings: StackSettings[] = [{}, { stubs: { [PET]: stub } }];
    for (const given of settings) {
        const s = stack(() => void new RandomPet("plain", { text: pulumi.secret("hunter2") }), given);
        await s.up();
        expect(s.resource("plain").secret).toEqual(["text"]);
    }
    expect(seen).toEqual(["hunter2"]);
});

test("a function of a package returns its arguments or what its stub does", async ({ stack }) => {
    const program = async () => ({ found: { ...(await pulumi.runtime.invoke(LOOKUP, { name: "cat" })) } });
    const plain = stack(program);
    await plain.up();
    expect(plain.outputs().found).toEqual({ name: "cat" });
    const stubbed = stack(program, { stubs: { [LOOKUP]: (given) => ({ legs: 4, of: given.name }) } });
    await stubbed.up();
    expect(stubbed.outputs().found).toEqual({ legs: 4, of: "cat" });
});

class Vpc extends pulumi.ComponentResource {
    declare readonly block: pulumi.Output<string>;
    declare readonly place: pulumi.Output<string>;

    constructor(name: string, block: pulumi.Input<string>) {
        super(VPC, name, { block, place: undefined }, {}, true);
    }
}

test("a component of a package is stubbed without children", async ({ stack }) => {
    const program = () => {
        const vpc = new Vpc("vpc", pulumi.secret("10.0.0.0/8"));
        new Greeting("greeting", vpc.place);
        return { block: vpc.block, zones: pulumi.runtime.call(`${VPC}/zones`, { count: 2 }, vpc) };
    };
    const s = stack(program, { stubs: { [VPC]: () => ({ place: "here" }) } });
    expect(await s.preview()).toPlan({ vpc: "create", greeting: "create" });
    await s.up();
    expect(s.outputs("greeting").pet).toBe("here");
    expect(s.outputs()).toEqual({ block: "10.0.0.0/8", zones: { count: 2 } });
    const other = stack(program, { stubs: { [VPC]: () => ({ place: "" }), [`${VPC}/zones`]: () => ({ a: 1 }) } });
    await other.up();
    expect(other.outputs().zones).toEqual({ a: 1 });
});

test("what a stub raises is raised as it is", async ({ stack }) => {
    const raised = new TypeError("no pet today");
    const stub = (): never => {
        throw raised;
    };
    const making = stack(() => void new RandomPet("pet"), { stubs: { [PET]: stub } });
    await expect(making.up()).toFail("pet", { method: "create", match: /no pet today/ });
    await expect(making.up()).rejects.toBe(raised);
    const asking = stack(async () => void (await pulumi.runtime.invoke(LOOKUP, {})), { stubs: { [LOOKUP]: stub } });
    await expect(asking.up()).rejects.toBe(raised);
});

test("stubs that make no sense are refused", ({ stack }) => {
    const refused = (settings: object): (() => void) => {
        return () => void stack(() => {}, settings);
    };
    expect(refused({ stubs: { RandomPet: () => ({}) } })).toThrow("no token");
    expect(refused({ stubs: { [PET]: 3 } })).toThrow("it is a function of the inputs");
    expect(refused({ plugins: "reel" })).toThrow('it is "stubs" (the default) or "real"');
    expect(refused({ plugins: "real", stubs: { [PET]: () => ({}) } })).toThrow("leave one of the two out");
});

test("a stub that returns no outputs is named", async ({ stack }) => {
    const stub = (() => "cat") as unknown as () => Inputs;
    const s = stack(() => void new RandomPet("pet"), { stubs: { [PET]: stub } });
    await expect(s.up()).toFail("pet", { match: /the stub of 'random:index\/randomPet:RandomPet' returned "cat"/ });
});
