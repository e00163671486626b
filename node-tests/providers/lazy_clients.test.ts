// What a provider makes on first use out of its configuration belongs to one run, as what `configure` sets does.
import { Kit } from "maloko/vitest";
import { expect, test } from "vitest";
import { besideAnotherRun, Echo, newStack, type Props, Thing } from "../support/kit";

interface Config {
    get(key: string): string | undefined;
}

class Client {
    constructor(readonly token: string | undefined) {}
}

/** Makes its clients when they are needed. */
class Lazy {
    declare config: Config;
    declare client?: Client;
    other: Client | null = null;
    calls: string[] = [];
    created = 0;
    last = "none";
    declare failing?: string;

    async configure({ config }: { config: Config }) {
        this.config = config;
    }

    api(): string | undefined {
        this.client ??= new Client(this.config.get("token"));
        this.other ??= new Client(this.config.get("token"));
        return `${this.client.token}, ${this.other.token}, ${this.cached.token}`;
    }

    get cached(): Client {
        const value = new Client(this.config.get("token"));
        Object.defineProperty(this, "cached", { value, configurable: true, enumerable: true });
        return value;
    }

    async create(inputs: Props) {
        if (this.failing !== undefined) {
            throw new Error(this.failing);
        }
        this.created++;
        this.last = String(inputs.name);
        this.calls.push(this.last);
        return { id: "made", outs: { ...inputs, token: this.api() } };
    }
}

const all = (token: string): string => `${token}, ${token}, ${token}`;

async function deployed(provider: object, token: string, name = "a"): Promise<string> {
    const stack = newStack({ stack: token, config: { "project:token": token } });
    await stack.up(() => void new Thing(provider, name, { name }));
    return (stack.resources()[name]?.outputs as Props).token;
}

test("a client that a method makes on first use belongs to one run", async () => {
    const provider = new Lazy();
    expect(await deployed(provider, "tok-a")).toBe(all("tok-a"));
    // A test may look at it until the next run.
    expect(provider.client?.token).toBe("tok-a");
    expect(await deployed(provider, "tok-b")).toBe(all("tok-b"));
    expect(provider.client?.token).toBe("tok-b");
    expect(await deployed(provider, "tok-c")).toBe(all("tok-c"));
    // What had a value stays as the methods left it.
    expect([provider.calls, provider.created, provider.last]).toEqual([["a", "a", "a"], 3, "a"]);
});

test("a client that replaces the one of configure belongs to one run", async () => {
    class Renewing extends Echo {
        declare client: Client;

        async configure({ config }: { config: Config }) {
            this.client ??= new Client(config.get("token"));
        }

        override async create(inputs: Props) {
            this.client = new Client(`${this.client.token} renewed`);
            return super.create({ ...inputs, token: this.client.token });
        }
    }
    const provider = new Renewing();
    expect(await deployed(provider, "tok-a")).toBe("tok-a renewed");
    expect(await deployed(provider, "tok-b")).toBe("tok-b renewed");
});

test("a default of the class is a value", async () => {
    class Counting extends Lazy {
        declare total: number;

        override async create(inputs: Props) {
            this.total++;
            return super.create(inputs);
        }
    }
    Counting.prototype.total = 0;
    const provider = new Counting();
    await deployed(provider, "tok-a");
    await deployed(provider, "tok-b");
    expect(provider.total).toBe(2);
});

test("a second run at the same time makes a client of its own", async () => {
    const provider = new Lazy();
    await deployed(provider, "tok-a");
    await besideAnotherRun(
        () => new Thing(provider, "first", { name: "first" }),
        async () => expect(await deployed(provider, "tok-c")).toBe(all("tok-c")),
        { stack: "other", config: { "project:token": "tok-b" } },
    );
    expect(provider.client?.token).toBe("tok-b");
});

test("direct calls and runs have clients of their own", async () => {
    const provider = new Lazy();
    const kit = new Kit({ title: "lazy", file: import.meta.filename, replay: "" });
    const direct = kit.direct(provider);
    await direct.configure({ token: "direct" });
    expect((await direct.create({ name: "a" })).outs.token).toBe(all("direct"));
    expect(await deployed(provider, "run")).toBe(all("run"));
    expect((await direct.create({ name: "a" })).outs.token).toBe(all("direct"));
    await direct.configure({ token: "other" });
    expect((await direct.create({ name: "a" })).outs.token).toBe(all("other"));
});

test("what a test sets between direct calls stays", async () => {
    const provider = new Lazy();
    const kit = new Kit({ title: "lazy", file: import.meta.filename, replay: "" });
    const direct = kit.direct(provider);
    await direct.configure({ token: "direct" });
    await direct.create({ name: "a" });
    provider.failing = "broken for a test";
    await expect(direct.create({ name: "b" })).rejects.toThrow("broken for a test");
    const stack = newStack({ config: { "project:token": "run" } });
    const { outcome, diagnostics } = await stack.run("update", () => void new Thing(provider, "a", { name: "a" }));
    expect(outcome).toBe("failed");
    expect(diagnostics.map(({ message }) => message).join("\n")).toContain("broken for a test");
});

test("a place of the language's own is empty again for the next run", async () => {
    const provider = {
        token: "" as string | undefined,
        get client(): Client {
            const value = new Client(this.token);
            Object.defineProperty(this, "client", { value, configurable: true });
            return value;
        },
        async configure({ config }: { config: Config }) {
            this.token = config.get("token");
        },
        async create(inputs: Props) {
            return { id: "made", outs: { ...inputs, token: this.client.token } };
        },
    };
    expect(await deployed(provider, "tok-a")).toBe("tok-a");
    expect(await deployed(provider, "tok-b")).toBe("tok-b");
});
