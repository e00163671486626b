// What `configure` sets on a provider object belongs to one run: the runs of a process share its objects, not what they set.
import { createRequire } from "node:module";
import { registerProvider } from "maloko";
import { LocalWorkspace } from "maloko/automation";
import { Kit } from "maloko/vitest";
import { expect, onTestFinished, test } from "vitest";
import { placed } from "../support/automation-kit";
import { besideAnotherRun, Echo, newStack, type Props, Thing } from "../support/kit";
import { NIGHT } from "../support/night";
import { forgetProviders, type Stack } from "../support/stacks";

const [STACKS, RESOURCES, RUNS, SEEDS] = NIGHT ? [50, 20, 200, 20] : [10, 10, 10, 3];

/** Keeps what it was configured with in every way that a provider may. It is found again by its file. */
const { Tenant } = createRequire(import.meta.url)("../support/sample-package/tenant.cjs") as {
    Tenant: new (region?: string) => TenantObject;
};

interface TenantObject {
    token?: string;
    region: string;
    made: string[];
    configure(request: Request): Promise<void>;
    create(props: Props): Promise<{ id: string; outs: Props }>;
}

interface Request {
    config: { get(key: string): string | undefined };
}

const of = (token: string): string[] => [token, `Bearer ${token}`, `${token}.example.org`];
const thing = (provider: object, name = "thing"): Thing => new Thing(provider, name, { name }, {}, ["seen"]);

test("what configure sets belongs to one run", async () => {
    const provider = new Tenant();
    const { envVars = {} } = placed();
    let waiting = 0;
    let go = (): void => {};
    const meeting = new Promise<void>((resolve) => {
        go = resolve;
    });
    const program = async () => {
        if (++waiting === STACKS) {
            go();
        }
        await meeting;
        const things = Array.from({ length: RESOURCES }, (_, n) => thing(provider, `thing-${n}`));
        return { seen: things.map(({ seen }) => seen) };
    };
    const seen = await Promise.all(
        Array.from({ length: STACKS }, async (_, number) => {
            const args = { stackName: `stack-${number}`, projectName: "project", program };
            const options = { ...placed(), envVars };
            const stack = await LocalWorkspace.createStack(args, options);
            await stack.setConfig("token", { value: `hush-${number}-end`, secret: true });
            return (await stack.up()).outputs.seen?.value;
        }),
    );
    expect(seen).toEqual(seen.map((_, number) => Array(RESOURCES).fill(of(`hush-${number}-end`))));
}, 240_000);

const tokensIn = (text: string): string[] => [...new Set(text.match(/hush-\d+-end/g))];

test("runs one after the other leave nothing of a configuration in a state", async () => {
    const provider = new Tenant();
    for (let number = 0; number < RUNS; number++) {
        const token = number % 2 === 0 ? `hush-${number}-end` : undefined;
        const kit = new Kit({ title: `run ${number}`, file: import.meta.filename, replay: "" });
        let wanted = true;
        const stack = kit.stack(() => void (wanted && thing(provider)), {
            ...(token === undefined ? {} : { secrets: { token } }),
            settle: false,
        });
        await stack.up();
        const { resources } = JSON.parse(stack.export()).deployment as { resources: Props[] };
        const { outputs, ...resource } = resources.find(({ urn }) => urn.endsWith("::thing")) ?? {};
        expect(outputs.seen).toEqual(token === undefined ? ["none", "none"] : of(token));
        expect(JSON.stringify(resource)).toContain("Tenant");
        expect(JSON.stringify(resource)).not.toContain("hush");
        expect(tokensIn(stack.export()).filter((it) => it !== token)).toEqual([]);
        wanted = false;
        await stack.up();
        expect(stack.resources()).toEqual({});
        await kit.finish();
    }
    // What had a value before is the object's own, whatever methods other than `configure` make of it.
    expect(provider.made).toHaveLength(RUNS);
    const options = placed();
    for (let number = 0; number < 4; number++) {
        const program = async () => void thing(provider);
        const args = { stackName: `s${number}`, projectName: "project", program };
        const kept = await LocalWorkspace.createStack(args, options);
        await kept.setConfig("token", { value: `hush-${number}-end`, secret: true });
        await kept.up();
        expect(tokensIn(JSON.stringify((await kept.exportStack()).deployment))).toEqual([`hush-${number}-end`]);
    }
}, 120_000);

function shuffled<T>(items: readonly T[], seed: number): T[] {
    let state = seed * 2654435761 + 1;
    const draw = (): number => {
        state = (state * 1103515245 + 12345) % 2147483648;
        return state;
    };
    return items
        .map((item) => ({ item, at: draw() }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item);
}

test("every order of a kit's tests passes", async () => {
    const shared = new Tenant("south");
    const stackOf = (kit: Kit, token: string | undefined) =>
        kit.stack(() => void thing(shared), { ...(token === undefined ? {} : { secrets: { token } }) });
    const deploys = (token?: string) => async (kit: Kit) => {
        const stack = stackOf(kit, token);
        await stack.up();
        expect(stack.outputs("thing").seen).toEqual(token === undefined ? ["none", "none"] : of(token));
    };
    const tests = [
        deploys("first"),
        deploys(),
        deploys("second"),
        async (kit: Kit) => {
            let wanted = true;
            const stack = kit.stack(() => void (wanted && thing(shared)), { secrets: { token: "deleting" } });
            await stack.up();
            wanted = false;
            await stack.up();
        },
        async (kit: Kit) => {
            const direct = kit.direct(shared);
            await direct.configure({ token: "direct" });
            expect((await direct.create({ name: "thing" })).outs.seen).toEqual(of("direct"));
        },
        deploys("third"),
    ];
    for (let seed = 0; seed < SEEDS; seed++) {
        for (const one of shuffled(tests, seed)) {
            const kit = new Kit({ title: `order ${seed}`, file: import.meta.filename, replay: "" });
            await one(kit);
            await kit.finish();
        }
    }
});

/** Does something while another run uses the provider. */
const besideAnother = (provider: object, config: Record<string, string>, action: () => Promise<void>) =>
    besideAnotherRun(() => thing(provider, "first"), action, { stack: "other", config });

const settings: Record<string, string> = {};
let assigned = "";

class Assigning extends Echo {
    async configure({ config }: Request) {
        assigned = config.get("token") ?? assigned;
    }
}

class Filling extends Echo {
    async configure({ config }: Request) {
        settings.token = config.get("token") ?? "";
    }
}

class OnItsClass extends Echo {
    static token = "";

    async configure({ config }: Request) {
        this.set(config.get("token") ?? "");
    }

    set(token: string) {
        (this.constructor as typeof OnItsClass).token = token;
    }
}

class InItsClass extends Echo {
    declare headers: Record<string, string>;

    async configure({ config }: Request) {
        this.headers.token = config.get("token") ?? "";
    }
}
InItsClass.prototype.headers = {};

class InAModule extends Echo {
    async configure({ config }: Request) {
        process.env.CONFIGURED_RUNS_TOKEN = config.get("token");
    }
}

class Client {
    token = "";
}

class WithClient extends Echo {
    readonly client = new Client();

    async configure({ config }: Request) {
        this.client.token = config.get("token") ?? "";
    }
}

class WithMethod extends Echo {
    token?: string | undefined;
    readonly sign: () => unknown;

    constructor(name?: string) {
        super();
        this.sign = () => [name, this.token];
    }

    async configure({ config }: Request) {
        this.token = config.get("token");
    }
}

class WithPrivate extends Echo {
    #token: string | undefined;

    async configure({ config }: Request) {
        this.#token = config.get("token");
    }

    get token() {
        return this.#token;
    }
}

const LITERAL = {
    async configure(this: Props, { config }: Request) {
        this.token = config.get("token");
    },
    create: async (inputs: Props) => ({ id: "made", outs: inputs }),
};

const REFUSED: [name: string, make: () => object, reason: string][] = [
    ["Assigning", () => new Assigning(), "its `configure` sets the variable `assigned`"],
    ["Filling", () => new Filling(), "its `configure` sets something in `settings`"],
    ["OnItsClass", () => new OnItsClass(), "its `configure` sets an attribute of its class"],
    ["InItsClass", () => new InItsClass(), "its `configure` sets something in `headers` of its class"],
    ["InAModule", () => new InAModule(), "its `configure` sets something in `process.env`"],
    [
        "WithClient",
        () => new WithClient(),
        "its attribute `client` holds an object of class Client that was made before",
    ],
    ["WithMethod", () => new WithMethod(), "its attribute `sign` is a function"],
    ["WithPrivate", () => new WithPrivate(), "its class keeps private fields (#...)"],
    ["the provider", () => ({ ...LITERAL }), "it is an object literal"],
];

test.for(REFUSED)("a run that can have no provider of its own is refused: %s", async ([name, make, reason]) => {
    onTestFinished(() => {
        delete process.env.CONFIGURED_RUNS_TOKEN;
    });
    const provider = make();
    const stack = newStack({ config: { "project:token": "second" } });
    await besideAnother(provider, { "project:token": "first" }, async () => {
        const { outcome, diagnostics } = await stack.run("update", () => void thing(provider, "a"));
        expect(outcome).toBe("failed");
        const told = diagnostics.map(({ message }) => message).find((message) => message.includes(reason)) ?? "";
        expect(told).toContain(name);
        expect(told).toContain("Ways out: ");
        expect(told.split("\n").length).toBeLessThanOrEqual(3);
    });
    // Behind the other run it is free again.
    expect((await stack.up(() => void thing(provider, "a"))).outcome).toBe("succeeded");
});

const configured: string[] = [];

class Common extends Tenant {
    static configured = 0;
    readonly kind = Tenant;
    readonly since = new Date(0);
    readonly pair = [1, { two: "three" }];

    override async configure(request: Request) {
        Common.configured++;
        configured.push("configured");
        await super.configure(request);
    }
}

test("what runs may have in common is no reason to refuse", async () => {
    const provider = new Common();
    await besideAnother(provider, { "project:token": "first" }, async () => {
        const stack = newStack({ config: { "project:token": "second" } });
        await stack.up(() => void thing(provider, "a"));
        expect((stack.resources().a?.outputs as Props).seen).toEqual(of("second"));
    });
    expect([provider.made, provider.token]).toEqual([["first"], "first"]);
});

test("a factory makes the object of a second run", async () => {
    onTestFinished(forgetProviders);
    const made: WithClient[] = [];
    registerProvider(WithClient, () => {
        const one = new WithClient();
        made.push(one);
        return one;
    });
    const provider = new WithClient();
    await besideAnother(provider, { "project:token": "first" }, async () => {
        await newStack({ config: { "project:token": "second" } }).up(() => void thing(provider, "a"));
    });
    expect([provider.client.token, ...made.map(({ client }) => client.token)]).toEqual(["first", "second"]);
});

test("what a program registers by hand counts for its own run first", async () => {
    onTestFinished(forgetProviders);
    const deleted: string[][] = [];
    class Local extends Echo {
        token = "";

        async delete(_id: string, props: Props) {
            deleted.push([props.stack, this.token]);
        }
    }
    let waiting = 0;
    let go = (): void => {};
    const meeting = new Promise<void>((resolve) => {
        go = resolve;
    });
    const deploy = async (name: string) => {
        const stack = newStack({ stack: name });
        await stack.up(() => void new Thing(new Local(), "a", { stack: name }));
        await stack.up(async () => {
            registerProvider(Local, () => Object.assign(new Local(), { token: `token of ${name}` }));
            if (++waiting === 2) {
                go();
            }
            await meeting;
        });
    };
    await Promise.all(["one", "two"].map(deploy));
    expect(deleted.sort()).toEqual([
        ["one", "token of one"],
        ["two", "token of two"],
    ]);
});

class Assigned {
    token: string | undefined = "";
    readonly create = async (props: Props) => ({ id: "made", outs: { ...props, token: this.token } });

    async configure({ config }: Request) {
        this.token = config.get("token");
    }
}

test("an object whose constructor makes its methods is made again for a second run", async () => {
    const provider = new Assigned();
    await besideAnother(provider, { "project:token": "first" }, async () => {
        const stack = newStack({ config: { "project:token": "second" } });
        await stack.up(() => void new Thing(provider, "a"));
        expect((stack.resources().a?.outputs as Props).token).toBe("second");
    });
});

test("the object of the program is called when one run at a time uses it", async () => {
    const provider = {
        configured: 0,
        token: "",
        log: [] as string[],
        async configure({ config }: Request) {
            this.configured++;
            this.log.push("configure");
            this.token = config.get("token") ?? "";
        },
        async create(inputs: Props) {
            this.log.push(`create ${this.token}`);
            return { id: "made", outs: inputs };
        },
    };
    for (const token of ["first", "second"]) {
        await newStack({ config: { "project:token": token } }).up(() => void new Thing(provider, "a"));
        expect(provider.token).toBe(token);
    }
    expect(provider.configured).toBe(2);
    expect(provider.log).toEqual(["configure", "create first", "configure", "create second"]);
});

test("what the program sets between runs counts", async () => {
    const provider = new Tenant();
    const stack = newStack();
    await stack.up(() => void thing(provider, "a"));
    provider.region = "east";
    await stack.up(() => void thing(provider, "b"));
    expect(stack.export().replaceAll("\\", "")).toContain('"region":"east"');
});

test("a run lets go of its providers however it ends", async () => {
    const provider = new Tenant();
    const failing = { create: () => Promise.reject(new Error("no")) };
    const programs = [
        () => void new Thing(failing, "b", { a: thing(provider, "a").id }),
        () => {
            thing(provider, "a");
            throw new Error("no");
        },
        () => void thing(provider, "a"),
    ];
    for (const [number, program] of programs.entries()) {
        const stack = newStack({ config: { "project:token": `t${number}` } });
        const { outcome } = await stack.run("update", program);
        expect(outcome).toBe(number === 2 ? "succeeded" : "failed");
    }
    expect([provider.made, provider.token]).toEqual([["a", "a", "a"], "t2"]);
});

class Hanging extends Tenant {
    static release: () => void = () => {};
    static readonly released = new Promise<void>((resolve) => {
        Hanging.release = resolve;
    });

    override async create(props: Props) {
        if (props.name === "a") {
            await Hanging.released;
        }
        return super.create(props);
    }
}

test("a method that was given up keeps its object", async () => {
    const provider = new Hanging();
    const deploy = async (name: string, token: string, more: Record<string, string> = {}): Promise<Stack> => {
        const stack = newStack({ config: { "project:token": token, ...more } });
        await stack.up(() => void thing(provider, name));
        return stack;
    };
    await expect(deploy("a", "first", { "maloko:callLimit": "3s" })).rejects.toThrow("was given up");
    // It still runs with what it was configured with.
    const other = await deploy("b", "second");
    expect((other.resources().b?.outputs as Props).seen).toEqual(of("second"));
    expect(provider.token).toBe("first");
    Hanging.release();
    await new Promise((resolve) => setImmediate(resolve));
    await deploy("c", "third");
    expect([provider.token, provider.made]).toEqual(["third", ["a", "c"]]);
});
