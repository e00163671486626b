import { createRequire } from "node:module";
import { direct } from "maloko/vitest";
import { beforeEach, expect, test } from "vitest";
import { failureOf, newStack, Thing } from "../support/kit";
import { atNight } from "../support/night";

const nightly = atNight(test);

const require = createRequire(import.meta.url);
const { Configured, deleted } = require("../support/sample-package/providers.cjs") as {
    Configured: new (label: string) => object;
    deleted: unknown[][];
};

beforeEach(() => {
    deleted.length = 0;
});

const CONFIG = { "project:token": "abc", "other:key": "full" };

class WithClient {
    readonly client = new Map();
    static configured = 0;

    async configure() {
        WithClient.configured++;
        this.client.set("ready", true);
    }

    async create() {
        return { id: this.client.get("ready") ? "ready" : "early", outs: { v: 1 } };
    }
}

test("500 equal objects are configured once", async () => {
    const stack = newStack({ config: CONFIG });
    await stack.up(() => {
        for (let n = 0; n < 500; n++) {
            new Thing(new Configured("same"), `r${n}`);
        }
    });
    expect(deleted).toEqual([["configure", "abc"]]);
    expect(Object.keys(stack.resources())).toHaveLength(500);
});

nightly("500 objects with clients of their own are configured 500 times", async () => {
    WithClient.configured = 0;
    await newStack().up(() => {
        for (let n = 0; n < 500; n++) {
            new Thing(new WithClient(), `r${n}`);
        }
    });
    expect(WithClient.configured).toBe(500);
});

test("one object used before and after its configure is configured once", async () => {
    WithClient.configured = 0;
    const provider = new WithClient();
    const stack = newStack();
    await stack.up(() => {
        const first = new Thing(provider, "first", {}, {}, ["v"]);
        new Thing(provider, "second", { v: first.v });
    });
    expect(WithClient.configured).toBe(1);
    expect(stack.resources().first?.id).toBe("ready");
});

test("configure runs in every run", async () => {
    const stack = newStack({ config: CONFIG });
    await stack.up(() => void new Thing(new Configured("x"), "a"));
    await stack.up(() => void new Thing(new Configured("x"), "a"));
    expect(deleted).toHaveLength(2);
});

test("config is read by short and by full keys", async () => {
    const seen: unknown[] = [];
    const provider = {
        async configure({ config }: { config: { get(key: string): unknown; require(key: string): unknown } }) {
            seen.push(
                config.get("token"),
                config.require("project:token"),
                config.get("other:key"),
                config.get("missing"),
            );
        },
        create: async () => ({ id: "made", outs: {} }),
    };
    await newStack({ config: CONFIG }).up(() => void new Thing(provider, "a"));
    expect(seen).toEqual(["abc", "abc", "full", undefined]);
});

test("a missing required key fails the resource and names the key", async () => {
    const stack = newStack();
    const error = await failureOf(stack.up(() => void new Thing(new Configured("x"), "a")));
    expect(error.message).toBe("Missing required configuration key: project:token");
    expect(stack.resources()).toEqual({});
});

test("configure runs in a preview too", async () => {
    await newStack({ config: CONFIG }).preview(() => void new Thing(new Configured("x"), "a"));
    expect(deleted).toEqual([["configure", "abc"]]);
});

test("what a provider was configured with twice is taken back", async () => {
    const found: unknown[] = [];
    class Noting {
        token: string | null = null;
        clients: object[] = [];

        async configure({ config }: { config: { require(key: string): string } }) {
            found.push([this.token, [...this.clients]]);
            this.token = `${config.require("token")} ${found.length}`;
            this.clients.push({ token: this.token });
        }

        async create() {
            return { id: "made", outs: {} };
        }
    }
    const provider = new Noting();
    const first = direct(provider);
    await first.configure({ token: "first" });
    await first.configure({ token: "first" });
    await first.close();
    await direct(provider).configure({ token: "other" });
    expect(found).toEqual([
        [null, []],
        ["first 1", [{ token: "first 1" }]],
        [null, []],
    ]);
});
