// Runs the same programs against two SDKs for Node, and compares what the engine is asked and what comes back.
//
//     node behaviour_nodejs.mjs OFFICIAL OURS [--keep FILE]
//
// What came of the official one can be kept in a file, which then stands for it (FILE.json): a digest of each case.
//
// Both are folders of JavaScript from which `@pulumi/pulumi` can be resolved. Each class is made with arguments that
// have every name, without arguments, looked up by an id and made of a reference; each function is called in both
// forms, and each method is called. What the monitor of the mocks sees is compared as it goes over the wire, so
// options count, too.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const words = process.argv.slice(2);
const self = fileURLToPath(import.meta.url);

function compare(official, ours) {
    const run = (folder, environment) => {
        const options = { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...environment } };
        return JSON.parse(execFileSync(process.execPath, [self, "--record", folder], options).toString());
    };
    let cases = 0;
    let differences = 0;
    const environments = [{}, variables()];
    const isKept = official.endsWith(".json");
    const known = isKept
        ? JSON.parse(readFileSync(official, "utf8"))
        : environments.map(environment => run(official, environment));
    if (words.includes("--keep")) {
        const kept = known.map(cases => Object.fromEntries(Object.entries(cases).map(([name, came]) => [name, digest(came)])));
        writeFileSync(words[words.indexOf("--keep") + 1], `${JSON.stringify(kept, null, 1)}\n`);
    }
    for (const [at, environment] of environments.entries()) {
        const [theirs, mine] = [known[at], run(ours, environment)];
        for (const name of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
            cases += 1;
            const other = JSON.stringify(mine[name]);
            const isSame = isKept ? theirs[name] === digest(mine[name]) : JSON.stringify(theirs[name]) === other;
            if (!isSame) {
                differences += 1;
                console.log(`differs  ${name}\n    official: ${JSON.stringify(theirs[name])}\n    ours:     ${other}`);
            }
        }
    }
    console.log(`${basename(ours)}: ${cases} cases, ${differences} differ`);
    process.exitCode = differences > 0 || cases === 0 ? 1 : 0;
}

// `undefined` is a case that only the other one has.
const digest = came => createHash("sha256").update(JSON.stringify(came) ?? "").digest("base64").slice(0, 16);

// What defaults are read from: the schemas of the tests, and the packages that are compared.
function variables() {
    const texts = { FEATURES_HOST: "box", LEAF_NAME: "", LEAF: "ivy", FEATURES_REGION: "north", KUBECONFIG: "/tmp/k" };
    const flags = { LEAF_RIPE: "F", FEATURES_DEBUG: "1", FEATURES_VERBOSE: "TRUE", PULUMI_K8S_ENABLE_SECRET_MUTABLE: "no" };
    const numbers = { LEAF_RATIO: "1.5e1", PULUMI_K8S_CLIENT_BURST: "7", PULUMI_K8S_CLIENT_QPS: "many" };
    return { ...texts, ...flags, ...numbers, FEATURES_NAME: "named" };
}

async function record(folder) {
    process.env.PULUMI_CONFIG = JSON.stringify({
        "features:region": "south", "features:retries": "5", "features:list": '["a"]', "features:leaf": '{"size":2}',
        "features:secretToken": "hush", "oldbridge:proxy": '{"url":"u"}', "oldbridge:token": "t", "tls:proxy": '{"url":"u"}',
    });
    const load = createRequire(join(folder, "index.js"));
    const pulumi = load("@pulumi/pulumi");
    const { runtime } = pulumi;
    const seen = [];
    await runtime.setMocks(mocks(), "project", "stack", false);
    const monitor = runtime.getMonitor();
    // Every reference is one to a resource that exists.
    monitor.resources.get = urn => ({ urn, id: "an-id", state: { name: "of the engine", size: 3 } });
    watch(monitor, seen);
    // A request that the runtime itself refuses is told once more, outside of the call that made it.
    process.on("unhandledRejection", error => void seen.push({ rejected: error?.message ?? String(error) }));
    pulumi.log.warn = async text => void seen.push({ warning: text });
    const found = {};
    const sdk = load(folder);
    for (const [path, value] of walk(sdk, "", new Set())) {
        const runs = isClass(value) ? ofClass(value, pulumi) : ofFunction(value);
        for (const [what, act] of Object.entries(runs)) {
            seen.length = 0;
            const came = await outcome(act, pulumi);
            await settle(runtime);
            found[`${path} ${what}`] = sorted({ came, seen: [...seen].sort(byText) });
        }
    }
    for (const [name, value] of Object.entries(await referenced(sdk, load, pulumi))) {
        found[name] = sorted(value);
    }
    return found;
}

const byText = (one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

// All classes and functions, by the path on which a program reaches them. Configuration counts as a value.
function* walk(space, path, known) {
    for (const name of Object.keys(space).sort()) {
        let value;
        try {
            value = space[name];
        } catch (error) {
            value = () => Promise.reject(error);
        }
        const here = path ? `${path}.${name}` : name;
        if (here.startsWith("config.") && typeof value !== "function") {
            yield [here, () => value];
        } else if (typeof value === "function" && !known.has(value)) {
            known.add(value);
            yield [here, value];
        } else if (typeof value === "object" && value !== null && !known.has(value)) {
            known.add(value);
            yield* walk(value, here, known);
        }
    }
}

const isClass = value => /^class /.test(Function.prototype.toString.call(value));

// Arguments that have every name.
const every = make => new Proxy({}, { get: (target, name) => (typeof name === "string" && name !== "then" ? make(name) : undefined) });
const texts = () => every(name => (name === "dependsOn" ? undefined : `the ${name}`));
// Objects within are those that have defaults in the schemas of the tests and in the packages that are compared.
const within = { leaf: { size: 0, name: "n" }, must: { ratio: 0.5 }, plainLeaf: { ripe: false }, proxy: { host: "h" }, deep: {} };
const objects = () => every(name => ({ of: name, flag: false, none: null, list: [1, { two: 2 }], ...within }));
const falsy = () => every(name => (name.length % 2 === 0 ? "" : false));

function ofClass(value, pulumi) {
    const type = value.__pulumiType;
    const isProvider = value.prototype instanceof pulumi.ProviderResource;
    const urn = `urn:pulumi:stack::project::${isProvider ? `pulumi:providers:${type}` : type}::given`;
    const options = { protect: true, version: "9.9.9", aliases: [{ name: "old" }], additionalSecretOutputs: ["mine"], ignoreChanges: ["x"] };
    const runs = {
        "of texts": () => new value("made", texts()),
        "of objects": () => new value("made", objects()),
        "of falsy values": () => new value("made", falsy()),
        "of outputs": () => new value("made", every(name => pulumi.secret({ of: name, ...within }))),
        "with options": () => new value("made", texts(), options),
        "without arguments": () => new value("made"),
        "of a reference": () => new value("made", undefined, { urn }),
        "an instance": async () => {
            const made = new value("made", texts());
            return [made, null, undefined, {}, { __pulumiType: type }].map(one => value.isInstance(one));
        },
        "a derived class": () => new (class Derived extends value {})("made", texts()),
    };
    if (value.get) {
        runs["looked up"] = () => value.get("found", "an-id", texts(), options);
        runs["looked up without a state"] = () => value.get("found", "an-id");
    }
    const own = Object.getOwnPropertyNames(value.prototype).filter(name => name !== "constructor");
    for (const name of own) {
        runs[`${name}()`] = () => new value("made", texts())[name](texts());
        runs[`${name}() without arguments`] = () => new value("made", texts())[name]();
    }
    return runs;
}

function ofFunction(value) {
    if (value.name.endsWith("ProvideDefaults") || value.length === 1 && /ProvideDefaults|\.\.\.val/.test(String(value))) {
        return { "of nothing": () => value({}), "of values": () => value({ size: 9, name: "n", leaf: {}, must: { size: 1 }, plainLeaf: { ripe: false } }) };
    }
    return {
        "of texts": () => value(texts(), { version: "8.8.8" }),
        "of objects": () => value(objects()),
        "of single values": () => value(1, 2, 3, { version: "7.7.7" }),
        "without arguments": () => value(),
    };
}

async function outcome(act, pulumi) {
    try {
        return await plain(await act(), pulumi, 0);
    } catch (error) {
        return { error: error.message };
    }
}

// A result as data, with secrets and outputs marked.
async function plain(value, pulumi, depth) {
    if (pulumi.Output.isInstance(value)) {
        const [inner, isSecret, isKnown] = [await value.promise(true), await value.isSecret, await value.isKnown];
        return { output: await plain(inner, pulumi, depth + 1), isSecret, isKnown };
    }
    if (pulumi.Resource.isInstance(value)) {
        if (depth > 2) {
            return { resource: value.__pulumiType };
        }
        const names = Object.keys(value).filter(name => !name.startsWith("__"));
        const members = await Promise.all(names.map(async name => [name, await plain(value[name], pulumi, depth + 1)]));
        return { resource: value.__pulumiType, class: value.constructor.name, members: Object.fromEntries(members) };
    }
    if (Array.isArray(value)) {
        return Promise.all(value.map(inner => plain(inner, pulumi, depth)));
    }
    if (typeof value === "object" && value !== null) {
        const members = Object.keys(value).map(async name => [name, await plain(value[name], pulumi, depth)]);
        return Object.fromEntries(await Promise.all(members));
    }
    return value === undefined ? "(undefined)" : value;
}

function mocks() {
    return {
        newResource: args => ({ id: args.id || `${args.name}-id`, state: { ...args.inputs, made: "by the mocks", result: "r" } }),
        call: args => ({ res: "alone", result: 1, config: "c", trees: [{ name: "t" }], answer: "a", given: args.inputs }),
    };
}

// What goes over the wire, other than where it comes from in the program.
function watch(monitor, seen) {
    for (const name of ["registerResource", "readResource", "invoke", "call", "registerPackage"]) {
        const act = monitor[name]?.bind(monitor);
        if (!act) {
            continue;
        }
        monitor[name] = (request, ...rest) => {
            const told = request.toObject();
            for (const place of ["sourceposition", "stacktrace"]) {
                delete told[place];
            }
            // Younger than what was recorded of the official SDKs; most requests do not set it.
            if (told.usesOutputValues === false) {
                delete told.usesOutputValues;
            }
            // Structures over the wire are easier to read as what they mean.
            for (const struct of ["object", "properties", "args"]) {
                const found = request[`get${struct[0].toUpperCase()}${struct.slice(1)}`]?.();
                if (found?.toJavaScript) {
                    delete told[struct];
                    told[struct] = found.toJavaScript();
                }
            }
            seen.push({ [name]: told });
            return act(request, ...rest);
        };
    }
}

async function settle(runtime) {
    for (let turn = 0; turn < 3; turn += 1) {
        await new Promise(done => setImmediate(done));
    }
    await runtime.waitForRPCs?.().catch(() => undefined);
}

const sorted = value => {
    if (Array.isArray(value)) {
        return value.map(sorted);
    }
    if (typeof value === "object" && value !== null) {
        return Object.fromEntries(Object.keys(value).sort().map(name => [name, sorted(value[name])]));
    }
    return value;
};

// References become classes, of modules that no program has loaded yet, too.
async function referenced(sdk, load, pulumi) {
    const rpc = load("@pulumi/pulumi/runtime/rpc");
    const found = {};
    const { version } = load("./package.json");
    const types = new Set();
    for (const [, value] of walk(sdk, "", new Set())) {
        if (isClass(value) && value.__pulumiType.includes(":")) {
            types.add(value.__pulumiType);
        }
    }
    for (const type of [...types].sort()) {
        const urn = `urn:pulumi:stack::project::${type}::given`;
        const key = "4dabf18193072939515e22adb298388d";
        const reference = { [key]: "5cf8f73096256a8f31e491e813e4eb8e", urn, id: "an-id", packageVersion: version };
        try {
            const made = rpc.deserializeProperty(reference);
            found[`a reference to ${type}`] = { class: made.constructor.name, type: made.__pulumiType };
        } catch (error) {
            found[`a reference to ${type}`] = { error: error.message };
        }
    }
    await settle(pulumi.runtime);
    return found;
}

if (words[0] === "--record") {
    process.stdout.write(JSON.stringify(await record(resolve(words[1]))));
} else {
    compare(resolve(words[0]), resolve(words[1]));
}
