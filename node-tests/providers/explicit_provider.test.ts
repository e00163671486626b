// Explicit providers of the dynamic package: what their inputs are to `configure`.
import * as pulumi from "@pulumi/pulumi";
import { registerProvider } from "maloko";
import { beforeEach, expect, test } from "vitest";
import { failureOf, newStack, type Props, Thing } from "../support/kit";
import { byDay } from "../support/night";
import { project } from "../support/project";

const DIRECTLY = ["--stack", "dev", "--yes", "--skip-preview"];

interface Request {
    config: { get(key: string): unknown };
}

class Api extends pulumi.ProviderResource {
    constructor(name: string, inputs: pulumi.Inputs, opts?: pulumi.ResourceOptions) {
        super("pulumi-nodejs", name, inputs, opts);
    }
}

const log: string[] = [];

/** What was called since it was asked for last. */
function calls(): string[] {
    return [...new Set(log.splice(0))].sort();
}

beforeEach(() => {
    calls();
    registerProvider("Calling", () => new Calling());
});

/** Notes under which address each of its methods is called. */
class Calling {
    declare url: unknown;

    async configure({ config }: Request) {
        this.url = config.get("api:url");
        log.push(`configure ${this.url}`);
    }

    async create(inputs: Props) {
        log.push(`create ${inputs.name} at ${this.url}`);
        return { id: inputs.name, outs: inputs };
    }

    async delete(id: string) {
        log.push(`delete ${id} at ${this.url}`);
    }

    async close() {
        log.push(`close ${this.url}`);
    }
}

const CALLING = new Calling();

function thing(name: string, opts: pulumi.CustomResourceOptions = {}): Thing {
    return new Thing(CALLING, name, { name }, opts);
}

class Group extends pulumi.ComponentResource {
    constructor(name: string, opts: pulumi.ComponentResourceOptions) {
        super("tests:index:Group", name, {}, opts);
        thing(`${name}-child`, { parent: this });
    }
}

test("configure gets exactly the inputs of an explicit provider", async () => {
    const seen: unknown[] = [];
    class Reading extends Calling {
        override async configure({ config }: Request) {
            const keys = ["api:url", "api:token", "api:retries", "api:tags", "api:on", "own", "project:own"];
            seen.push(keys.map((key) => config.get(key)));
        }
    }
    const inputs = {
        "api:url": "http://one.example",
        "api:token": pulumi.secret("t0ken-t0ken"),
        "api:retries": 3,
        "api:tags": { a: [pulumi.secret("b"), null] },
        "api:on": true,
        "project:own": "input",
    };
    const stack = newStack({ config: { "project:own": "setting", "api:other": "x" } });
    await stack.up(() => void new Thing(new Reading(), "a", { name: "a" }, { provider: new Api("api", inputs) }));
    expect(seen).toEqual([["http://one.example", "t0ken-t0ken", 3, { a: ["b", null] }, true, "input", "input"]]);
});

test("each explicit provider has an object of its own", async () => {
    const stack = newStack({ config: { "api:url": "the stack" } });
    await stack.up(() => {
        const [one, two] = [new Api("one", { "api:url": "one" }), new Api("two", { "api:url": "two" })];
        thing("a", { provider: one });
        thing("b", { provider: two });
        thing("c");
        thing("d", { provider: one });
        new Group("g", { providers: [two] });
    });
    expect(calls()).toEqual([
        ...["close one", "close the stack", "close two"],
        ...["configure one", "configure the stack", "configure two"],
        ...["create a at one", "create b at two", "create c at the stack", "create d at one", "create g-child at two"],
    ]);
    await stack.destroy(() => {});
    expect(calls().filter((call) => call.startsWith("delete"))).toEqual([
        "delete a at one",
        "delete b at two",
        "delete c at the stack",
        "delete d at one",
        "delete g-child at two",
    ]);
});

test("an object that cannot be copied is refused for a second explicit provider", async () => {
    class Holding extends Calling {
        client = new Map();
    }
    const provider = new Holding();
    const error = await failureOf(
        newStack().up(() => {
            for (const name of ["one", "two"]) {
                new Thing(provider, `at-${name}`, { name }, { provider: new Api(name, { "api:url": name }) });
            }
        }),
    );
    expect(error.message).toContain("the inputs of another provider configure this object of ");
    expect(error.message).toContain("give each explicit provider a provider object of its own");
});

test.for(
    byDay(["refresh", "destroy"], (verb) => verb === "destroy"),
)("runs without the program use the inputs of the state: %s", (verb) => {
    const it = project({
        "index.js": `const pulumi = require("@pulumi/pulumi");
class Api extends pulumi.ProviderResource { constructor(name, inputs) { super("pulumi-nodejs", name, inputs); } }
class P {
    async configure({ config }) { this.url = config.require("api:url"); this.token = config.get("api:token"); }
    async create(inputs) { return { id: "1", outs: { ...inputs, url: this.url } }; }
    async read(id, props) { console.log("read at", this.url, this.token.length); return { id, props }; }
    async delete() { console.log("delete at", this.url, this.token.length); }
}
class Thing extends pulumi.dynamic.Resource { constructor(name, opts) { super(new P(), name, { url: undefined }, opts); } }
const api = new Api("api", { "api:url": "http://one.example", "api:token": pulumi.secret("t0ken-t0ken") });
exports.url = new Thing("thing", { provider: api }).url;`,
    });
    it.ok("up", ...DIRECTLY);
    expect(it.ok("stack", "output", "url", "--stack", "dev").trim()).toBe("http://one.example");
    expect(it.ok("stack", "export", "--stack", "dev")).not.toContain("t0ken-t0ken");
    const said = { refresh: "read", destroy: "delete" }[verb];
    expect(it.ok(verb, ...DIRECTLY)).toContain(`${said} at http://one.example 11`);
});
