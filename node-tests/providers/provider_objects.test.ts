import { createRequire } from "node:module";
import * as net from "node:net";
import { Worker } from "node:worker_threads";
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { failureOf, newStack, type Props, Recording, Thing } from "../support/kit";
import { atNight, byDay, NIGHT } from "../support/night";
import { project } from "../support/project";

const nightly = atNight(test);

const require = createRequire(import.meta.url);

// In Node alone: objects without a class, private fields, and the SDK's serialiser of functions
test("an object literal is called live", async () => {
    const calls: Props[] = [];
    const literal = {
        async create(inputs: Props) {
            calls.push(inputs);
            return { id: "1", outs: inputs };
        },
    };
    await newStack().up(() => void new Thing(literal, "a", { n: 1 }));
    expect(calls).toEqual([{ n: 1 }]);
});

test("a provider that is local to a function is called live", async () => {
    let created = 0;
    function program() {
        class Local {
            async create() {
                created++;
                return { id: "1", outs: {} };
            }
        }
        new Thing(new Local(), "a");
    }
    await newStack().up(program);
    expect(created).toBe(1);
});

test("locks, sockets, clients, closures and cycles are no obstacle", async () => {
    const server = net.createServer((socket) => socket.end("pong")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    class Client {
        readonly self = this;
        readonly map = new Map([["a", () => 1n]]);
        readonly server = server;

        ask(): Promise<string> {
            const { port } = this.server.address() as net.AddressInfo;
            return new Promise((resolve) => {
                net.connect(port, "127.0.0.1").on("data", (data) => resolve(data.toString()));
            });
        }
    }
    const client = new Client();
    const provider = { client, create: async () => ({ id: await client.ask(), outs: {} }) };
    const stack = newStack();
    await stack.up(() => void new Thing(provider, "a"));
    server.close();
    expect(stack.resources().a?.id).toBe("pong");
});

test("private fields and arrow methods of instances work", async () => {
    class Private {
        #count = 0;
        create = async () => ({ id: `id-${++this.#count}`, outs: {} });
    }
    const stack = newStack();
    await stack.up(() => void new Thing(new Private(), "a"));
    expect(stack.resources().a?.id).toBe("id-1");
});

test("the SDK never serialises a provider, and its serialiser is never loaded", async () => {
    await newStack().up(() => void new Thing(new Recording(), "a"));
    const loaded = Object.keys(require.cache);
    expect(loaded.filter((file) => /node_modules[\\/](typescript|@npmcli)[\\/]/.test(file))).toEqual([]);
    const root = require.resolve("@pulumi/pulumi/package.json").replace("package.json", "");
    const serialiser = require(`${root}runtime/closure/serializeClosure`) as { serializeFunction: unknown };
    expect(String(serialiser.serializeFunction)).not.toContain("closure");
});

// In Node alone: objects without a class, private fields, and the SDK's serialiser of functions
nightly("other functions are still serialised by the real serialiser", async () => {
    const serialised = await pulumi.runtime.serializeFunction(() => 42);
    expect(serialised.text).toContain("42");
});

test("one object shared by many resources stays one object", async () => {
    const seen = new Set<unknown>();
    const provider = {
        async create(this: unknown) {
            seen.add(this);
            return { id: `id-${seen.size}`, outs: {} };
        },
    };
    await newStack().up(() => {
        for (let n = 0; n < 20; n++) {
            new Thing(provider, `r${n}`);
        }
    });
    expect([...seen]).toEqual([provider]);
});

// In Node alone: objects without a class, private fields, and the SDK's serialiser of functions
test("a program that reads a WeakMap right after the SDK's option is not disturbed", async () => {
    const key = { create: "no function" };
    const map = new WeakMap([[key, "value"]]);
    let got: unknown;
    await newStack().up(() => {
        (pulumi.runtime as unknown as { cacheDynamicProviders(): boolean }).cacheDynamicProviders();
        got = map.get(key);
    });
    expect(got).toBe("value");
});

test("output get answers inside a provider method", async () => {
    const stack = newStack();
    await stack.up(() => {
        const first = new Thing(new Recording(), "first", { size: 7 });
        class Reader {
            constructor(readonly size: pulumi.Output<number>) {}

            async create() {
                return { id: `size-${this.size.get()}`, outs: {} };
            }
        }
        new Thing(new Reader(first.size), "second");
    });
    expect(stack.resources().second?.id).toBe("size-7");
});

test("output get of a closed over output answers too", async () => {
    const stack = newStack();
    await stack.up(() => {
        const first = new Thing(new Recording(), "first", { size: 7, color: "red" });
        const color = () => first.color.get();
        const provider = { create: async () => ({ id: `${first.size.get()} ${color()}`, outs: {} }) };
        new Thing(provider, "second");
    });
    expect(stack.resources().second).toMatchObject({ id: "7 red" });
    expect(JSON.stringify(stack.resources().second?.dependencies)).toContain("::first");
});

test("output get in the program is still an error", async () => {
    const error = await failureOf(newStack().up(() => pulumi.output(1).get()));
    expect(error.message).toContain("Cannot call '.get' during update or preview");
});

// In Node alone: worker threads, and copies of the SDK that npm may install twice
test("programs run inside worker threads", async () => {
    const worker = new Worker(new URL("../support/sample-package/worker.cjs", import.meta.url));
    const ids = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    await worker.terminate();
    expect(ids).toEqual({ a: "from the worker" });
});

test("a class that gets a method while the program runs has it for the objects made later", async () => {
    const checked: unknown[] = [];
    class Growing {
        declare check?: (olds: Props, news: Props) => Promise<{ inputs: Props; failures: [] }>;

        async create(inputs: Props) {
            return { id: String(inputs.name), outs: {} };
        }
    }
    const stack = newStack();
    await stack.up(() => {
        new Thing(new Growing(), "a", { name: "a" });
        Growing.prototype.check = async (_olds, news) => {
            checked.push(news.name);
            return { inputs: news, failures: [] };
        };
        new Thing(new Growing(), "b", { name: "b" });
    });
    expect(checked).toContain("b");
    expect([stack.resources().a?.id, stack.resources().b?.id]).toEqual(["a", "b"]);
});

test("an object may have a method of its own that others of its class lack", async () => {
    const checked: unknown[] = [];
    class Plain {
        declare check?: (olds: Props, news: Props) => Promise<{ inputs: Props; failures: [] }>;

        async create(inputs: Props) {
            return { id: String(inputs.name), outs: {} };
        }
    }
    await newStack().up(() => {
        for (const name of ["a", "b", "c"]) {
            const provider = new Plain();
            if (name === "b") {
                provider.check = async (_olds, news) => {
                    checked.push(news.name);
                    return { inputs: news, failures: [] };
                };
            }
            new Thing(provider, name, { name });
        }
    });
    expect(checked).toEqual(["b"]);
});

const LITERAL = `const pulumi = require("@pulumi/pulumi");
class Upload extends pulumi.dynamic.Resource {
    constructor(name, args) {
        const provider = {
            async create(inputs) { return { id: inputs.target }; },
            async diff() { return { changes: true }; },
            async update() { return {}; },
        };
        super(provider, name, args);
    }
}
if (!process.env.GONE) new Upload("upload", { target: "t" });`;

test.each(
    byDay([[["up", "--yes"]], [["destroy", "--yes"]]], (_row, place) => place === 0),
)("what has no delete is removed although its provider is gone: %s", (command) => {
    const it = project({ "index.js": LITERAL });
    it.up();
    const { status, output } = it.runWith({ GONE: "1" }, ...command, "--stack", "dev");
    expect(status, output).toBe(0);
    expect(it.ok("stack", "export", "--stack", "dev")).not.toContain("::upload");
});

// In Node alone: Node has two kinds of modules, TypeScript and its paths; Python has one kind
test("a file that is loaded for one provider has no other one written down as Pulumi stores it", () => {
    // The SDK would load a compiler for that, and walk through all that a provider imports.
    const it = project({
        "index.js": `const pulumi = require("@pulumi/pulumi");
class Provider {
    async create(inputs) { return { id: "made", outs: inputs }; }
    async delete() {
        const compilers = Object.keys(require.cache).filter((file) => file.endsWith("typescript.js"));
        console.log(compilers.length === 0 ? "no compiler" : compilers);
    }
}
class Thing extends pulumi.dynamic.Resource {}
new Thing(new Provider(), "thing", {});`,
    });
    it.up();
    const flags = ["--yes", "--skip-preview", "--no-program", "--stack", "dev"];
    expect(it.ok("destroy", ...flags)).toContain("no compiler");
});

const GENERATED = `
import * as pulumi from "@pulumi/pulumi";
class Gen<T> implements pulumi.dynamic.ResourceProvider {
  constructor(private readonly make: () => Promise<T> | T) {}
  async create(inputs: any) { return { id: "g", outs: { ...inputs, value: await this.make() } }; }
  async diff(_id: string, olds: any, news: any) { return { changes: Object.keys(news).some((k) => k !== "__provider" && JSON.stringify(olds[k]) !== JSON.stringify(news[k])), replaces: ["trigger"], deleteBeforeReplace: true }; }
}
export class Generated<T> extends pulumi.dynamic.Resource {
  declare readonly value: pulumi.Output<T>;
  constructor(name: string, make: () => T, trigger: string) { super(new Gen(make), name, { value: undefined, trigger }, { additionalSecretOutputs: ["value"] }); }
}
if (!process.env.GONE) exports.v = new Generated("salt", () => Math.random(), process.env.T ?? "1").value;
`;

test("a provider that holds the program's function and has no delete", () => {
    const it = project({ "index.ts": GENERATED });
    const flags = ["--yes", "--skip-preview", "--stack", "dev"];
    const value = () => {
        const { deployment } = JSON.parse(it.ok("stack", "export", "--show-secrets", "--stack", "dev")) as {
            deployment: { resources: { urn: string; outputs?: { value?: { plaintext: string } } }[] };
        };
        return deployment.resources.find(({ urn }) => urn.endsWith("::salt"))?.outputs?.value?.plaintext;
    };
    it.up();
    const first = value();
    expect(first).toMatch(/^[\d.e-]+$/);
    if (NIGHT) {
        it.ok("up", ...flags, "--expect-no-changes");
        expect(value()).toBe(first);
    }
    const replaced = it.runWith({ T: "2" }, "up", ...flags);
    expect(replaced.output).toMatch(/salt original deleted.*salt replacement created/s);
    expect(value()).not.toBe(first);
    const gone = it.runWith({ GONE: "1" }, "up", ...flags);
    expect(gone.output).toContain("- 1 deleted");
    expect(value()).toBeUndefined();
});
