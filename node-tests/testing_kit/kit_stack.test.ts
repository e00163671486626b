// The testing kit's stacks: plans as data, what settles, what is there, what must hold at the end.
import * as pulumi from "@pulumi/pulumi";
import { ANY, capture, expect, fails, Kit, planText, withKit } from "maloko/vitest";
import { Echo, type Props, Thing } from "../support/kit";
import { BucketProvider, bucket, type Cloud, test } from "./cloud";

const info = { title: "a test", file: import.meta.filename, replay: "npx vitest" };

test("a stack is previewed and deployed", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs: { name: "one" } });
    expect(await s.preview()).toPlan({ b: "create" });
    const { changes, plan } = await s.up();
    expect(changes).toEqual({ create: 2 });
    expect(plan).toPlan({ b: "create" });
    expect(await s.preview()).toPlan({});
    expect(s.id("b")).toBe("bucket-1");
    await s.destroy();
    expect(world.things.size).toBe(0);
    expect(s.resources()).toEqual({});
});

test("a plan tells of changes and replacements", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs: { name: "one", acl: "public" } });
    await s.up();
    s.set({ acl: "private" });
    const update = await s.preview();
    expect(update).toPlan({ b: { action: "update", changes: { acl: { old: "public", new: "private" } } } });
    expect(planText(update)).toBe('update b\n    acl: "public" -> "private"');
    expect(update).toHaveNoReplacements();
    expect(update).toHaveNoDeletions();
    await s.up();
    expect(s.outputs("b").acl).toBe("private");
    s.set({ name: "two" });
    const replace = await s.preview();
    expect(replace.b?.replaces).toEqual(["name"]);
    expect(replace).not.toHaveNoReplacements();
    expect(() => expect(replace).toHaveNoReplacements()).toThrow(
        "replaces nothing; it has\n  replace b because of name",
    );
    expect(() => expect(replace).toHaveNoDeletions()).toThrow("deletes nothing; it has\n  replace b because of name");
    await s.up();
    expect(s.history("b").ids).toEqual(["bucket-1", "bucket-2"]);
    expect(s.history("b").outputs.map(({ name }) => name)).toEqual(["one", "one", "two"]);
});

test("a plan names what is unknown and what is secret", async ({ stack, world }) => {
    const s = stack(
        () => {
            const first = new Thing(new BucketProvider(world), "first", { name: "one" }, {}, ["size"]);
            new Thing(new BucketProvider(world), "b", { name: pulumi.secret("hunter2"), size: first.size });
        },
        { settle: false },
    );
    const plan = await s.preview();
    expect(plan.b?.unknown).toEqual(["size"]);
    expect(plan.b?.secret).toEqual(["name"]);
    expect(JSON.stringify(plan)).not.toContain("hunter2");
});

test("what never settles is named", async ({ stack, world }) => {
    class Shouting extends BucketProvider {
        override async create(given: Props) {
            const { id } = await super.create(given);
            return { id, outs: { ...given, acl: String(given.acl).toUpperCase() } };
        }
    }
    const s = stack(new Shouting(world), { inputs: { name: "one", acl: "public" }, resource: "b" });
    await expect(s.up()).rejects.toThrow(
        "the stack never settles: planned again right after `up` it is not left as it is, but would\n  update b\n      acl: ",
    );
    await s.up({ settle: false });
    s.set({ acl: "PUBLIC" });
    await s.up();
    await expect(s).toSettle();
});

test("drift that read makes up is named", async ({ stack, world }) => {
    class Wandering extends BucketProvider {
        override async read(id: string) {
            return { id, props: { name: "one", acl: "other" }, inputs: { name: "one", acl: "other" } };
        }
    }
    const s = stack(new Wandering(world), { inputs: { name: "one", acl: "public" }, resource: "b" });
    await expect(s.up()).rejects.toThrow(/right after `up`, with a refresh, it is not left[\s\S]*acl/);
});

test("the check after an up is about its targets and no call of the test", async ({ stack, world }) => {
    const acls = { a: "public", b: "public" };
    const s = stack(() => {
        for (const [name, acl] of Object.entries(acls)) {
            new Thing(new BucketProvider(world), name, { name, acl });
        }
    });
    await s.up();
    expect(s.calls.of("read")).toEqual([]);
    Object.assign(acls, { a: "private", b: "private" });
    expect((await s.up({ targets: ["**a"] })).plan).toPlan({ a: "update" });
    expect(await s.preview()).toPlan({ b: "update" });
});

test("a bare provider has one resource", async ({ stack, world }) => {
    const inputs = { name: "one" };
    expect(await stack(new BucketProvider(world), { inputs }).preview()).toPlan({ it: "create" });
    const s = stack(Echo, { inputs, resource: "e" });
    await s.up();
    expect(s.outputs("e")).toMatchObject(inputs);
});

test("a class of resources is a program", async ({ stack, world }) => {
    class Bucket extends pulumi.dynamic.Resource {
        constructor(name: string, props: Record<string, unknown>) {
            super(new BucketProvider(world), name, props);
        }
    }
    class Group extends pulumi.ComponentResource {
        constructor(name: string, props: Record<string, unknown>) {
            super("test:index:Group", name);
            new Bucket(`${name}-inner`, props);
        }
    }
    const inputs = { name: "one" };
    expect(await stack(Bucket, { inputs }).preview()).toPlan({ it: "create" });
    expect(await stack(Group, { inputs, resource: "g" }).preview()).toPlan({ g: "create", "g-inner": "create" });
});

test("configuration, secrets and other stacks are given", async ({ stack, world }) => {
    const seen: unknown[] = [];
    const s = stack(
        async () => {
            const config = new pulumi.Config();
            const other = new pulumi.StackReference("organization/other/prod");
            const token = config.requireSecret("token");
            seen.push(config.requireObject("list"), new pulumi.Config("aws").get("region"), config.get("acl"));
            new Thing(new BucketProvider(world), "b", {
                name: config.require("name"),
                token,
                at: other.getOutput("url"),
            });
            return { token, url: other.getOutput("url") };
        },
        {
            config: { name: "one", list: [1, 2], "aws:region": "eu" },
            secrets: { token: "hunter2" },
            references: { "organization/other/prod": { url: "https://other" } },
        },
    );
    await s.preview();
    s.config.acl = "public";
    await s.preview();
    expect(seen).toEqual([[1, 2], "eu", undefined, [1, 2], "eu", "public"]);
    await s.up();
    expect(s.outputs()).toEqual({ token: "hunter2", url: "https://other" });
    expect(s.outputs("b")).toMatchObject({ at: "https://other", token: "hunter2" });
    expect(JSON.stringify(s.calls.all())).not.toContain("hunter2");
});

test("refresh tells of drift", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs: { name: "one", acl: "public" } });
    await s.up();
    world.things.set("bucket-1", { name: "one", acl: "other" });
    expect((await s.refresh()).plan).toPlan({ b: { action: "update", changes: { acl: { new: "other" } } } });
    await s.up();
    world.things.clear();
    expect((await s.refresh()).plan).toPlan({ b: "delete" });
    expect(await s.preview()).toPlan({ b: "create" });
});

test("an object is imported", async ({ stack, world }) => {
    world.things.set("bucket-9", { name: "one" });
    const s = stack(bucket(world), { inputs: { name: "one" } });
    await s.import("b", "bucket-9");
    expect(await s.preview()).toPlan({});
    await s.importsCleanly("b");
    await expect(s.import("c", "x")).rejects.toThrow("the program registers no resource 'c'");
});

test("imports are verified", async ({ stack, world }) => {
    class Forgetful extends BucketProvider {
        override async read(id: string) {
            return { id, props: { name: "one" }, inputs: { name: "one" } };
        }
    }
    const inputs = { name: "one", acl: "public" };
    const s = stack(new Forgetful(world), { inputs, resource: "b", settle: false });
    await s.up();
    await expect(s.importsCleanly("b")).rejects.toThrow(
        "'b' does not import cleanly:\n" +
            '  inputs.acl: nothing when imported, "public" in the state\n' +
            '  outputs.acl: nothing when imported, "public" in the state\n' +
            '  the next `up` would update b\n      acl: nothing -> "public"\n',
    );
    await expect(s).not.toImportCleanly("b");
    await expect(s).toImportCleanly("b", { ignore: ["acl"] });
});

test("imports that differ in a secret do not tell it", async ({ stack, world }) => {
    class Reset extends BucketProvider {
        override async read(id: string) {
            const props = { ...world.things.get(id), acl: "unknown" };
            return { id, props, inputs: props };
        }
    }
    const inputs = { name: "one", acl: pulumi.secret("well-kept") };
    const s = stack(new Reset(world), { inputs, resource: "b", settle: false });
    await s.up();
    const error = await s.importsCleanly("b").catch((thrown: Error) => thrown);
    expect(String(error)).toContain("acl");
    expect(String(error)).not.toContain("well-kept");
});

test("calls are logged and matched", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs: { name: "one", tags: { a: 1, b: [1, 2] } } });
    await s.up();
    expect(s.calls.create.b?.args).toEqual({ props: { name: "one", tags: { a: 1, b: [1, 2] } } });
    expect(s.calls.create.b?.result).toMatchObject({ id: "bucket-1", outs: { name: "one" } });
    const a = capture();
    expect(s.calls.create.b).toEqual(
        expect.objectContaining({ method: "create", args: { props: { name: ANY, tags: { a, b: ANY } } } }),
    );
    expect(a.value).toBe(1);
    expect(s.calls.of("update")).toEqual([]);
    s.set({ tags: null });
    await s.up();
    expect(s.calls.of("update", "b")).toHaveLength(1);
    expect(s.calls.update.b?.args).toMatchObject({ id: "bucket-1", news: { tags: null } });
});

test("the provider's own exception is raised", async ({ stack, world }) => {
    class QuotaExceeded extends Error {}
    const quota = new QuotaExceeded("no more buckets");
    class Full extends BucketProvider {
        override async create(): Promise<never> {
            throw quota;
        }
    }
    await expect(stack(new Full(world)).up()).rejects.toBe(quota);
});

test("expected failures name resource and method", async ({ stack, world }) => {
    const s = stack(bucket(world), { inputs: { name: "one" } });
    const quota = new Error("no more buckets");
    const stub = s.stub("create", { throws: quota });
    await expect(s.up()).toFail("b", { method: "create", match: /no more/ });
    const failure = await fails("b", { method: "create", match: "no more" }, () => s.up());
    expect(failure.thrown).toBe(quota);
    expect(failure.urn).toContain("::b");
    await expect(fails("b", { method: "update" }, () => s.up())).rejects.toThrow(
        "it failed in `create`, not in `update`:",
    );
    await expect(fails("c", {}, () => s.up())).rejects.toThrow("it failed on b:");
    await expect(fails("*", { match: "quota" }, () => s.up())).rejects.toThrow('its message does not match "quota":');
    stub.restore();
    await expect(fails("b", {}, () => s.up())).rejects.toThrow("expected the operation to fail on b, but it succeeded");
});

test("two stacks know nothing of each other", async ({ stack, world }) => {
    const stacks = ["a", "b", "c"].map((name) => stack(bucket(world as Cloud), { inputs: { name } }));
    await Promise.all(stacks.map((s) => s.up()));
    expect(stacks.map((s) => s.outputs("b").name)).toEqual(["a", "b", "c"]);
});

test("automatic teardown deletes what is left", async ({ world }) => {
    const kit = new Kit(info);
    await kit.stack(bucket(world), { inputs: { name: "one" } }).up();
    expect(world.things.size).toBe(1);
    await kit.finish();
    expect(world.things.size).toBe(0);
});

test("what is protected is deleted at the end all the same", async ({ world }) => {
    const kit = new Kit(info);
    const program = () => void new Thing(new BucketProvider(world), "b", { name: "one" }, { protect: true });
    const s = kit.stack(program);
    await s.up();
    await expect(s.destroy()).toFail();
    await kit.finish();
    expect(world.things.size).toBe(0);
});

test("what cannot be deleted is named", async ({ world }) => {
    class Sticky extends BucketProvider {
        override async delete(): Promise<never> {
            throw new Error("it sticks");
        }
    }
    const kit = new Kit(info);
    await kit.stack(new Sticky(world), { inputs: { name: "one" }, resource: "b" }).up();
    await expect(kit.finish()).rejects.toThrow(
        "at the end of the test, the stack 'dev' could not be torn down; left over: 'b' (pulumi-nodejs:dynamic:Resource, id 'bucket-1'). it sticks",
    );
});

test("what is left in the world is named", async ({ world }) => {
    class Careless extends BucketProvider {
        override async delete() {}
    }
    const kit = new Kit({ title: "t", file: "t", replay: "npx vitest" });
    await kit.stack(() => void new Thing(new Careless(world), "b", { name: "one" }), { world }).up();
    await expect(kit.finish()).rejects.toThrow(
        "these objects are left in the world, and no stack knows them: bucket-1",
    );
});

test("what is no program is refused", async ({ stack }) => {
    expect(() => stack(5 as never)).toThrow("a provider object or its class, but was given 5");
    expect(() => stack(undefined as never)).toThrow("a provider object or its class, but was given undefined");
});

test("a stack that outlives its test is refused", async ({ world }) => {
    const kit = new Kit(info);
    const s = kit.stack(bucket(world), { inputs: { name: "one" } });
    await kit.finish();
    await expect(s.up()).rejects.toThrow("`up` came after the end of the test 'a test'");
    expect(() => kit.stack(() => {})).toThrow("`stack` came after the end of the test 'a test'");
});

test("what could not be deleted fails the test", async ({ world }) => {
    class Sticky extends BucketProvider {
        override async delete(): Promise<void> {
            throw new Error("it sticks");
        }
    }
    const kit = new Kit(info);
    const run = withKit(kit, async () => {
        await kit.stack(() => void new Thing(new Sticky(world), "b", { name: "one" })).up();
    });
    await expect(run).rejects.toThrow(/left over: 'b' \(.*, id 'bucket-1'\)\. it sticks/);
    world.things.clear();
});

test("a failure shows its evidence", async ({ world }) => {
    let told = "";
    const tell = (evidence: string): void => {
        told = evidence;
    };
    const kit = new Kit({ ...info, tell });
    const run = withKit(kit, async () => {
        await kit.stack(bucket(world), { inputs: { name: "one", key: pulumi.secret("hunter22") } }).up();
        throw new Error("as it is");
    });
    await expect(run).rejects.toThrow("as it is");
    expect(told).toMatch(/^last plan:\ncreate b\n/);
    expect(told).toContain("calls:\n");
    expect(told).toContain("create of b");
    expect(told).toMatch(/\nagain: npx vitest$/);
    expect(told).not.toContain("hunter22");
});

test("a stack can be left on purpose", async ({ world }) => {
    const kit = new Kit(info, { world });
    const s = kit.stack(bucket(world), { inputs: { name: "one" } });
    await s.up();
    s.leave("its objects are the next test's");
    await kit.finish();
    expect([...world.things.keys()]).toEqual(["bucket-1"]);
});

test("a setting that there is not is refused", async ({ stack }) => {
    expect(() => stack(() => {}, { confg: { size: 3 } } as never)).toThrow(
        "a stack has no setting `confg`: there are config, secrets, references,",
    );
});
