// What a release left in a state, logged calls, snapshots; and values that stand for others in them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import {
    ANY,
    capture,
    direct,
    expect,
    forSnapshots,
    type LoggedCall,
    matches,
    normalized,
    replay,
    saveCall,
    snapshotSerializer,
} from "maloko/vitest";
import { type Props, Thing } from "../support/kit";
import { BucketProvider, test as base, bucket, type Cloud } from "./cloud";

const test = base.extend<{ directory: string }>({
    directory: async ({}, use) => {
        const directory = mkdtempSync(join(tmpdir(), "maloko-baselines-"));
        await use(directory);
        rmSync(directory, { recursive: true });
    },
});

/** A release of the provider in which the name is kept in capitals, which it takes for another name. */
class NextRelease extends BucketProvider {
    async check(_olds: Props, news: Props) {
        return { inputs: { ...news, name: String(news.name).toUpperCase() }, failures: [] };
    }
}

function program(provider: new (cloud: Cloud) => BucketProvider, cloud: Cloud) {
    return () => {
        const token = new pulumi.Config().requireSecret("token");
        new Thing(new provider(cloud), "b", { name: "one", token });
    };
}

test("an upgrade is checked against a baseline", async ({ stack, world, directory }) => {
    const file = join(directory, "v1.json");
    const secrets = { token: "hunter2" };
    const old = stack(program(BucketProvider, world), { secrets });
    await old.up();
    old.saveBaseline(file);
    expect(readFileSync(file, "utf8")).not.toContain("hunter2");
    expect(await stack(program(BucketProvider, world), { secrets }).upgradePlan(file)).toPlan({});

    const s = stack(program(NextRelease, world), { secrets });
    const plan = await s.upgradePlan(file);
    expect(plan).toPlan({ b: { action: "replace", replaces: ["name"] } });
    expect(() => expect(plan).toBeUpgradeSafe()).toThrow(
        /the upgrade is not safe: .* objects would be lost\n {2}replace b because of name\n/,
    );
    expect(s.resources()).toEqual({});
});

test("an upgrade that only changes something is safe", async ({ stack, world, directory }) => {
    const file = join(directory, "v1.json");
    const old = stack(bucket(world), { inputs: { name: "one" } });
    await old.up();
    old.saveBaseline(file);
    const s = stack(bucket(world), { inputs: { name: "one", acl: "public" } });
    const plan = await s.upgradePlan(file);
    expect(plan).toPlan({ b: "update" });
    expect(plan).toBeUpgradeSafe();
});

/** Puts a secret into properties that nobody marked as secret. */
class Careless extends BucketProvider {
    override async create(inputs: Props) {
        const made = await super.create(inputs);
        return { ...made, outs: { ...made.outs, derived: inputs.token, url: `https://me:${inputs.token}@host/` } };
    }
}

test("a known secret in a property that is not marked stands in no baseline and no snapshot", async ({
    stack,
    world,
    directory,
}) => {
    const file = join(directory, "v1.json");
    const secrets = { token: "hunter2/&" };
    const old = stack(program(Careless, world), { secrets });
    await old.up();
    old.saveBaseline(file);
    const kept = readFileSync(file, "utf8");
    expect(kept).not.toContain("hunter2");
    expect(kept).toContain('"derived": "[secret:token]"');
    expect(kept).toContain('"url": "https://me:[secret:token]@host/"');
    expect(await stack(program(Careless, world), { secrets }).upgradePlan(file)).toPlan({});
    for (const value of [old.resource("b"), old.resources().b, old.history("b")]) {
        expect(JSON.stringify(value)).toContain("hunter2");
    }
    const { serialize, test: isOurs } = snapshotSerializer;
    const text = (value: unknown) => serialize(value, {}, "", 0, [], (plain) => JSON.stringify(plain));
    for (const value of [old.resource("b"), old.resources(), old.history("b")]) {
        expect(isOurs(value)).toBe(true);
        expect(text(value)).not.toContain("hunter2");
        expect(text(value)).toContain('"derived":"[secret]"');
        expect(text(value)).toContain('"url":"https://me:[secret]@host/"');
    }
});

test("a damaged baseline is named", async ({ stack, world, directory }) => {
    const file = join(directory, "v1.json");
    const s = stack(bucket(world), { inputs: { name: "one" } });
    await expect(s.upgradePlan(file)).rejects.toThrow(/the baseline .*v1.json cannot be read/);
    writeFileSync(file, "{");
    await expect(s.upgradePlan(file)).rejects.toThrow(/the baseline .*v1.json cannot be read/);
});

test("a logged call is made again", async ({ stack, world, directory }) => {
    const file = join(directory, "call.json");
    const s = stack(bucket(world), { inputs: { name: "one" } });
    await s.up();
    const { create } = s.calls;
    saveCall(create.b as NonNullable<typeof create.b>, file);
    await expect(replay(new BucketProvider(world), file)).rejects.toThrow(
        '`create` does not answer as logged\n  id: expected "bucket-1", got "bucket-2"',
    );
    const call = JSON.parse(readFileSync(file, "utf8"));
    const again = await replay(new BucketProvider(world), { ...call, result: { ...call.result, id: "bucket-*" } });
    expect(again).toMatchObject({ id: "bucket-3", outs: { name: "one" } });
    await expect(replay({ create: () => ({ id: "bucket-1", outs: {} }) }, file)).rejects.toThrow("outs.name");
    writeFileSync(file, "{}");
    await expect(replay(new BucketProvider(world), file)).rejects.toThrow("is no call that could be made again");
    for (const id of [...world.things.keys()].slice(1)) {
        await direct(new BucketProvider(world)).delete(id);
    }
});

test("a logged call that failed has to fail in the same way", async ({ stack, world, directory }) => {
    const file = join(directory, "call.json");
    const s = stack(bucket(world), { inputs: { name: "one" } });
    const stub = s.stub("create", { throws: new Error("no more buckets") });
    await expect(s.up()).toFail("b");
    stub.restore();
    const { create } = s.calls;
    saveCall(create.b as NonNullable<typeof create.b>, file);
    const failing = (text: string, cause?: Error) => ({ create: () => Promise.reject(new Error(text, { cause })) });
    expect(await replay(failing("no more buckets", new Error("no room")), file)).toBeUndefined();
    const told = {
        method: "create",
        args: { props: {} },
        result: null,
        error: "Error: full (caused by Error: no room)",
    };
    await replay(failing("full", new Error("no room")), told);
    await replay(failing("no more buckets"), file);
    await expect(replay(failing("other"), file)).rejects.toThrow("fails otherwise than logged: Error: other\nlogged:");
    const working = { create: () => ({ id: "x", outs: {} }) };
    await expect(replay(working, file)).rejects.toThrow("does not fail, as it did when it was logged");
});

test("logged calls of all methods are made again, of a provider that is configured before", async ({ directory }) => {
    const file = join(directory, "call.json");
    class Regional {
        region = "";
        configure({ config }: pulumi.dynamic.ConfigureRequest) {
            this.region = config.require("region");
        }
        async create() {
            return { id: this.region, outs: {} };
        }
        async find(key: string) {
            return { id: key, props: { region: this.region } };
        }
    }
    const config = { "project:region": "north" };
    const calls = [
        { method: "configure", args: { config }, result: null, error: null },
        { method: "configure", args: { config: {} }, result: null, error: "*required configuration*" },
        { method: "find", args: { key: "k", props: {} }, result: { id: "k", outs: { region: "nor*" } }, error: null },
        { method: "delete", args: { id: "k", props: {} }, result: null, error: null },
    ];
    for (const call of calls) {
        writeFileSync(file, JSON.stringify(call));
        await replay(Regional, file, { config: { region: "north" } });
    }
    const wrong = replay(Regional, calls[2] as LoggedCall, { config: { region: "south" } });
    await expect(wrong).rejects.toThrow('outs.region: expected "nor*", got "south"');
    const shop = { method: "configure", args: { config: { "shop:region": "north" } }, result: null, error: null };
    await replay(Regional, shop, { project: "shop" });
    await expect(replay(Regional, shop)).rejects.toThrow("required configuration");
    await replay(Regional, calls[2] as LoggedCall, { config: { "shop:region": "north" }, project: "shop" });
    await expect(replay(Regional, { ...(calls[2] as LoggedCall), method: "close" })).rejects.toThrow(
        "`close` cannot be called",
    );
});

test("snapshots are the same in every run", async ({ stack, world }) => {
    const s = stack(
        () => {
            new Thing(new BucketProvider(world), "b", { name: "one", made: new Date().toISOString() });
        },
        { secrets: { token: "hunter2" }, settle: false },
    );
    const plan = await s.preview();
    expect(plan).toMatchInlineSnapshot(`
      {
        "b": {
          "action": "create",
          "changes": {},
          "custom": true,
          "deleteBeforeReplace": false,
          "failed": false,
          "id": "",
          "inputs": {
            "made": "[time]",
            "name": "one",
          },
          "name": "b",
          "oldId": "",
          "open": false,
          "ops": [
            "create",
          ],
          "parent": "urn:pulumi:dev::project::pulumi:pulumi:Stack::project-dev",
          "replaces": [],
          "secret": [],
          "type": "pulumi-nodejs:dynamic:Resource",
          "unknown": [],
          "urn": "urn:pulumi:dev::project::pulumi-nodejs:dynamic:Resource::b",
        },
      }
    `);
    await s.up();
    expect(s.calls.of("create")).toMatchInlineSnapshot(`
      [
        {
          "args": {
            "props": {
              "made": "[time]",
              "name": "one",
            },
          },
          "error": null,
          "errorKind": null,
          "faulted": false,
          "method": "create",
          "name": "b",
          "result": {
            "id": "[id]",
            "outs": {
              "made": "[time]",
              "name": "one",
            },
          },
          "type": "pulumi-nodejs:dynamic:Resource",
          "urn": "urn:pulumi:dev::project::pulumi-nodejs:dynamic:Resource::b",
        },
      ]
    `);
    expect(forSnapshots({ when: new Date(), id: "i-123", uuid: crypto.randomUUID() })).toMatchInlineSnapshot(`
      {
        "id": "[id]",
        "uuid": "[uuid]",
        "when": "[time]",
      }
    `);
    expect(normalized({ id: "i-123" })).toEqual({ id: "[id]" });
});

test("values stand for others in what is expected", async () => {
    const id = capture();
    expect(matches({ a: 1, b: [{ id: "x", more: 1 }] }, { b: [{ id }] })).toBe(true);
    expect(id.value).toBe("x");
    expect(matches({ a: 1 }, { a: ANY })).toBe(true);
    expect(matches({ a: 1 }, { b: ANY })).toBe(false);
    expect(matches({ a: [1, 2] }, { a: [1] })).toBe(false);
    expect(matches({ a: "text" }, { a: /ex/ })).toBe(true);
    expect(matches({ a: 1 }, { a: expect.any(Number) })).toBe(true);
    expect(() => capture().value).toThrow("nothing was captured");
});
