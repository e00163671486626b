// Between maloko and Pulumi: code in a state is never run, and `stack export --for-pulumi` writes what Pulumi runs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, expect, test } from "vitest";
import { atNight, byDay, NIGHT } from "../support/night";
import { Project, project } from "../support/project";

const nightly = atNight(test);

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
import * as fs from "node:fs";
import { twice } from "./helper";
class Tagged {
    declare greeting: string | undefined;
    constructor(readonly tag: string) {}
    async configure(req: pulumi.dynamic.ConfigureRequest) { this.greeting = req.config.get("greeting"); }
    async create(props: any) { return { id: "made", outs: { ...props, text: "made" } }; }
    async read(id: string, props: any) {
        const here = fs.existsSync(".") ? this.tag : "";
        return { id, props: { n: props.n, text: [this.greeting, here, twice(21)].join(" ") } };
    }
    async diff(id: string, olds: any, news: any) { return { changes: olds.n !== news.n }; }
}
class Asking extends Tagged {
    constructor(readonly text: pulumi.Output<string>) { super("asked"); }
    async read(id: string, props: any) { return { id, props: { n: props.n, text: this.text.get() } }; }
}
class Thing extends pulumi.dynamic.Resource {
    declare readonly text: pulumi.Output<string>;
    constructor(provider: object, name: string) {
        super(provider as pulumi.dynamic.ResourceProvider, name, { n: 1, text: undefined });
    }
}
EXTRA
const tagged = new Thing(new Tagged("tag"), "tagged");
new Thing(new Asking(tagged.text), "asking");
new Thing(new Asking(pulumi.secret("hush")), "secretly");
`;
const HELPER = "export function twice(x: number) { return x * 2; }";
const SIGNATURE = "4dabf18193072939515e22adb298388d";

interface StoredResource {
    urn: string;
    id: string;
    inputs?: Record<string, unknown>;
    outputs?: Record<string, unknown>;
}
type Properties = Record<string, unknown>;
interface StoredResources {
    [name: string]: { id: string; inputs: Properties; outputs: Properties };
}

const USING = `class Using extends Tagged {
    async create(props: any) { await pulumi.log.info("in create"); return { id: "made", outs: props }; }
    async read(id: string, props: any) {
        const known = pulumi.Output.isInstance(pulumi.output(1)) && pulumi.all([1]) !== undefined;
        await pulumi.log.debug("unheard");
        const text = [known, pulumi.runtime.isDryRun(), new pulumi.asset.StringAsset("asset").text, props.n];
        return { id, props: { n: props.n, text: String(await Promise.all(text)) } };
    }
}
new Thing(new Using("using"), "using");
new Thing(new Tagged("plain"), "plain");
const secret = pulumi.secret("s");
let called = 0;
const functions: (() => unknown)[] = [
    () => pulumi.log.info("a"),
    () => pulumi.all([1]).apply((it) => pulumi.output(it)),
    () => new Thing(new Using("in a function"), "in-a-function"),
    () => { called++; return [secret]; },
];
export const serialized = Promise.all(functions.map(async (it) =>
    (await pulumi.runtime.serializeFunction(it, { allowSecrets: true })).text.startsWith("exports.handler = ")));
export const times = serialized.then(() => called);`;

const files = (extra: string) => ({ "index.ts": PROGRAM.replace("EXTRA", () => extra), "helper.ts": HELPER });

function deployed(extra = ""): Project {
    const it = project(files(extra));
    it.up();
    return it;
}

/** A stack that tests read and none changes, what of it is for Pulumi, and the SDK's server in its project. */
let shared: { it: Project; states: StoredResources; server: Awaited<ReturnType<typeof providerServer>> };

beforeAll(async () => {
    const ends: (() => void)[] = [];
    const it = new Project(files(USING), (remove) => ends.push(remove));
    it.up();
    const states = resourcesOf(exported(it, "--for-pulumi", "--show-secrets"));
    shared = { it, states, server: await providerServer(it, { "test:greeting": "hello" }) };
    return () => {
        shared.server.end();
        for (const end of ends) {
            end();
        }
    };
});

const exported = (it: Project, ...flags: string[]) => it.ok("stack", "export", "--stack", "dev", ...flags);

/** The states of resources with a provider object, by name. */
function resourcesOf(text: string): StoredResources {
    const { resources } = (JSON.parse(text) as { deployment: { resources: StoredResource[] } }).deployment;
    const named = resources
        .filter(({ inputs }) => inputs !== undefined && "__provider" in inputs)
        .map(({ urn, id, inputs = {}, outputs = {} }) => [urn.split("::").at(-1) ?? "", { id, inputs, outputs }]);
    return Object.fromEntries(named) as StoredResources;
}

const isSecret = (value: unknown): value is { plaintext: string } =>
    typeof value === "object" && value !== null && SIGNATURE in value;

/** As the engine hands properties to a provider. */
function withoutSecrets(value: unknown): unknown {
    if (isSecret(value)) {
        return JSON.parse(value.plaintext);
    }
    if (Array.isArray(value)) {
        return value.map(withoutSecrets);
    }
    if (typeof value === "object" && value !== null) {
        return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutSecrets(member)]));
    }
    return value;
}

/** What stands for each provider, apart from which code of it was last at work: another tool does not know that. */
function references(it: Project): Record<string, object> {
    const states = Object.entries(resourcesOf(exported(it, "--show-secrets")));
    const all = states.map(([name, { inputs }]) => {
        const { revision: _, ...found } = JSON.parse(withoutSecrets(inputs.__provider) as string) as {
            revision?: object;
        };
        return [name, found];
    });
    return Object.fromEntries(all) as Record<string, object>;
}

interface Message {
    setId(id: string): void;
    setProperties(properties: unknown): void;
    setInputs(inputs: unknown): void;
    setOlds(olds: unknown): void;
    setNews(news: unknown): void;
    setArgs(args: unknown): void;
    getProperties(): { toJavaScript(): Properties };
    getChanges(): number;
}
type Call = (request: Message, done: (error: Error | null, answer: Message) => void) => void;

/** The SDK's own provider server, which Pulumi's engine starts and calls. */
async function providerServer(it: Project, config: Record<string, string>) {
    const load = createRequire(join(it.directory, "index.js"));
    const sdk = "@pulumi/pulumi";
    const server = spawn(process.execPath, [load.resolve(`${sdk}/cmd/dynamic-provider`), "127.0.0.1:1"], {
        cwd: it.directory,
        env: { ...process.env, PULUMI_NODEJS_PROJECT: "test" },
        stdio: ["ignore", "pipe", "inherit"],
    });
    const [port] = (await once(createInterface(server.stdout), "line")) as [string];
    const messages = load(`${sdk}/proto/provider_pb`) as Record<string, new () => Message>;
    const services = load(`${sdk}/proto/provider_grpc_pb`) as Record<string, new (...args: unknown[]) => object>;
    const { Struct } = load("google-protobuf/google/protobuf/struct_pb.js") as {
        Struct: { fromJavaScript(value: unknown): unknown };
    };
    const grpc = createRequire(load.resolve(sdk))("@grpc/grpc-js") as { credentials: { createInsecure(): unknown } };
    const Client = services.ResourceProviderClient;
    if (Client === undefined) {
        throw new Error("the SDK has no ResourceProviderClient");
    }
    const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure()) as Record<string, Call>;
    const call = (method: string, kind: string, fill: (request: Message) => void) =>
        new Promise<Message>((resolve, reject) => {
            const Request = messages[kind];
            const request = Request && new Request();
            if (request === undefined) {
                throw new Error(`the SDK has no ${kind}`);
            }
            fill(request);
            client[method]?.(request, (error, answer) => (error === null ? resolve(answer) : reject(error)));
        });
    await call("configure", "ConfigureRequest", (request) => request.setArgs(Struct.fromJavaScript(config)));
    return { call, struct: (value: unknown) => Struct.fromJavaScript(value), end: () => void server.kill() };
}

test("the sdks own server runs the providers of an export for pulumi", async () => {
    const { using: _, plain, ...states } = shared.states;
    expect(plain).toBeDefined();
    for (const { inputs, outputs } of Object.values(states)) {
        expect(inputs.__provider).toEqual(outputs.__provider);
    }
    expect(states.tagged?.inputs.__provider).toContain("exports.handler = ");
    expect(isSecret(states.secretly?.inputs.__provider)).toBe(true);

    const { call, struct } = shared.server;
    const answers: Record<string, unknown> = {};
    for (const [name, resource] of Object.entries(states)) {
        const inputs = withoutSecrets(resource.inputs) as Properties;
        const outputs = struct(withoutSecrets(resource.outputs));
        const read = await call("read", "ReadRequest", (request) => {
            request.setId(resource.id);
            request.setProperties(outputs);
            request.setInputs(struct(inputs));
        });
        const diff = async (news: Properties) => {
            const answer = await call("diff", "DiffRequest", (request) => {
                request.setId(resource.id);
                request.setOlds(outputs);
                request.setNews(struct(news));
            });
            return answer.getChanges();
        };
        const { text } = read.getProperties().toJavaScript();
        answers[name] = { text, diffs: [await diff(inputs), await diff({ ...inputs, n: 2 })] };
    }
    expect(answers).toEqual({
        tagged: { text: "hello tag 42", diffs: [1, 2] },
        asking: { text: "made", diffs: [1, 2] },
        secretly: { text: "hush", diffs: [1, 2] },
    });
});

// In Node alone: objects without a class, private fields, and the SDK's serialiser of functions
test("code that uses the SDK is serialised", async () => {
    const { it, states, server } = shared;
    expect(it.outputs()).toEqual({ serialized: Array(4).fill(true), times: 0 });
    expect(it.resources().sort()).toEqual(["asking", "plain", "secretly", "tagged", "using"]);
    const resource = states.using;
    expect(resource?.inputs.__provider).toContain("exports.handler = ");
    const { call, struct } = server;
    const read = await call("read", "ReadRequest", (request) => {
        request.setId("made");
        request.setProperties(struct(withoutSecrets(resource?.outputs)));
        request.setInputs(struct(withoutSecrets(resource?.inputs)));
    });
    expect(read.getProperties().toJavaScript().text).toBe("true,false,asset,1");
});

nightly("an export for pulumi comes back without a change", () => {
    const it = deployed();
    const before = references(it);
    exported(it, "--for-pulumi", "--file", "for-pulumi.json");
    expect(statSync(join(it.directory, "for-pulumi.json")).mode & 0o777).toBe(0o600);
    expect(it.read("for-pulumi.json")).not.toContain("hush");
    it.ok("stack", "import", "--file", "for-pulumi.json", "--stack", "dev");
    it.ok("preview", "--expect-no-changes", "--stack", "dev");
    it.ok("up", "--yes", "--skip-preview", "--expect-no-changes", "--stack", "dev");
    expect(references(it)).toEqual(before);
});

nightly("what cannot be serialised is listed and the rest is written", () => {
    const it = deployed(`new Thing(Object.assign(new Tagged("n"), { bound: Math.max.bind(null) }), "held");`);
    const flags = ["--for-pulumi", "--file", "for-pulumi.json", "--stack", "dev"];
    const { status, stderr } = it.run("stack", "export", ...flags);
    expect(status).toBe(1);
    expect(stderr).toContain("the provider of 1 resource could not be serialised");
    expect(stderr).toContain("Resource::held");
    expect(stderr).toContain("native code");
    const states = resourcesOf(it.read("for-pulumi.json"));
    expect(Object.keys(states).sort()).toEqual(["asking", "held", "secretly", "tagged"]);
    expect(states.tagged?.inputs.__provider).toContain("exports.handler = ");
});

test("nothing executable is in the state", () => {
    const { it } = shared;
    const known = [
        "maloko",
        "language",
        "module",
        "name",
        "attributes",
        "incomplete",
        "lacks_delete",
        "revision",
        "version",
        "code",
    ];
    for (const { inputs } of Object.values(resourcesOf(exported(it, "--show-secrets")))) {
        const reference = JSON.parse(withoutSecrets(inputs.__provider) as string) as object;
        expect(Object.keys(reference).filter((member) => !known.includes(member))).toEqual([]);
    }
    expect(exported(it)).not.toContain("exports.handler");
});

test.each(byDay([false, true], (secret) => !secret))("code in an adopted state is never run: %s", (secret) => {
    // One of them is no longer in the program: nothing but the code in the state is left of its provider.
    const it = project(files(""));
    const trace = join(it.directory, "evaluated");
    const code = `require("fs").writeFileSync(${JSON.stringify(trace)}, ""); exports.handler = () => ({});`;
    const stored = secret ? { [SIGNATURE]: "1b47061264138c4ac30d75fd1eb44270", plaintext: JSON.stringify(code) } : code;
    const state = JSON.parse(exported(shared.it, "--show-secrets")) as { deployment: { resources: StoredResource[] } };
    for (const resource of state.deployment.resources) {
        for (const properties of [resource.inputs, resource.outputs]) {
            if (properties !== undefined && "__provider" in properties) {
                properties.__provider = stored;
            }
        }
    }
    it.write({ "adopted.json": JSON.stringify(state) });
    it.ok("stack", "import", "--file", "adopted.json", "--stack", "dev");

    // By day without what a run of another kind asks in the same way.
    if (NIGHT) {
        expect(it.run("preview", "--stack", "dev").output).toContain("another tool's serialised code");
    }
    const kept = resourcesOf(exported(it, "--for-pulumi", "--show-secrets"));
    expect(kept.plain?.inputs.__provider).toEqual(stored);
    expect(kept.tagged?.inputs.__provider).not.toEqual(stored);
    const flags = ["--yes", "--skip-preview", "--stack", "dev"];
    if (NIGHT) {
        expect(it.run("refresh", ...flags).status).not.toBe(0);
        expect(it.run("refresh", "--no-program", ...flags).status).not.toBe(0);
    }
    expect(it.run("up", ...flags).output).toContain("another tool's serialised code");
    expect(it.run("destroy", ...flags).status).not.toBe(0);
    expect(existsSync(trace)).toBe(false);
});
