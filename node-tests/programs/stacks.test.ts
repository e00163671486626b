// Stacks that refer to each other.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atNight, byDay, NIGHT } from "../support/night";
import { type Project, project } from "../support/project";

const nightly = atNight(test);

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
async function details(network: pulumi.StackReference) {
    const [secret, plain] = [await network.getOutputDetails("token"), await network.getOutputDetails("id")];
    const or = (value: any) => value ?? null;
    return [or(secret.value), secret.secretValue === "t0p-secret", or(plain.value), or(plain.secretValue)];
}
function outputs(): Record<string, any> {
    if (pulumi.getStack() === "prod") {
        return { id: "net-1", token: pulumi.secret("t0p-secret"), list: [1, { a: [null, true] }] };
    }
    const network = new pulumi.StackReference("network", { name: new pulumi.Config().require("other") });
    return {
        id: network.requireOutput("id"),
        token: network.getOutput("token"),
        list: network.getOutput("list"),
        missing: network.getOutput("gone").apply((value) => value === undefined),
        details: details(network),
    };
}
export = outputs();`;

const OTHER_KEY = `import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
class P { async create(props: any) { return { id: "1", outs: props }; } }
class User extends pulumi.dynamic.Resource {
    constructor(name: string, props: any) { super(new P() as any, name, props); }
}
function outputs(): Record<string, any> {
    if (pulumi.getStack() === "prod") {
        return { id: "net-1", token: pulumi.secret("t0p-secret"), db: { user: "ada", password: pulumi.secret("t0p-secret") } };
    }
    const network = new pulumi.StackReference("network", { name: "organization/test/prod" });
    const exported: Record<string, any> = {};
    const used = (value: any) => {
        writeFileSync("used", createHash("sha256").update(JSON.stringify(value)).digest("hex"));
        return "a";
    };
    const details = async (name: string) => {
        const found = await network.getOutputDetails(name);
        return used(found.value ?? found.secretValue);
    };
    const awaited = async (output: any) => used(await output.promise());
    const ways: Record<string, () => any> = {
        "plain": () => network.getOutput("id"),
        "plain member": () => (network.getOutput("db") as any).user,
        "get": () => network.getOutput("token"),
        "require": () => network.requireOutput("token"),
        "outputs": () => (network.outputs as any).token,
        "inside of a text": () => pulumi.interpolate\`postgres://\${(network.outputs as any).token}@host\`,
        "secret member": () => (network.getOutput("db") as any).password,
        "export": () => { exported.token = network.getOutput("token"); return "a"; },
        "used: get": () => network.getOutput("token").apply(used),
        "used: require": () => network.requireOutput("token").apply(used),
        "used: secret member": () => (network.getOutput("db") as any).password.apply(used),
        "used: object": () => network.getOutput("db").apply(used),
        "used: of all outputs": () => (network.outputs as any).token.apply(used),
        "used: all outputs": () => network.outputs.apply(used),
        "used: with others": () => pulumi.all([1, network.getOutput("token")]).apply(used),
        "used: details": () => details("token"),
        "used: awaited": () => awaited(network.getOutput("token")),
        "plain, used: get": () => network.getOutput("id").apply(used),
        "plain, used: member": () => (network.requireOutput("db") as any).user.apply(used),
        "plain, used: of all outputs": () => (network.outputs as any).id.apply(used),
        "plain, used: details": () => details("id"),
    };
    new User("user", { name: "u", asked: ways[process.env.ASK!]!() });
    return exported;
}
export = outputs();`;

/** A project whose stack `prod` is deployed. */
function network(): Project {
    const it = project({ "index.ts": PROGRAM });
    it.ok("stack", "init", "prod");
    it.ok("up", "--yes", "--stack", "prod");
    return it;
}

function outputs(it: Project, ...args: string[]): Record<string, unknown> {
    return JSON.parse(it.ok("stack", "output", "--json", "--stack", "dev", ...args));
}

nightly("a stack reference gives the outputs of another stack by every form of its name", () => {
    const it = network();
    const forms = ["prod", "organization/prod", "organization/test/prod"];
    for (const name of byDay(forms, (_name, place) => place === 0)) {
        it.ok("config", "set", "other", name, "--stack", "dev");
        it.up();
        const given = outputs(it);
        expect(given.id).toBe("net-1");
        expect(given.list).toEqual([1, { a: [null, true] }]);
        expect(given.missing).toBe(true);
        expect(given.details).toEqual([null, true, "net-1", null]);
    }
    if (NIGHT) {
        it.ok("refresh", "--yes", "--skip-preview", "--stack", "dev");
        it.ok("preview", "--stack", "dev", "--expect-no-changes");
    }
    it.ok("destroy", "--yes", "--skip-preview", "--stack", "dev");
});

nightly("a secret of another stack that cannot be decrypted fails the run that asks for it", () => {
    const it = project({ "index.ts": OTHER_KEY });
    const another = { PULUMI_CONFIG_PASSPHRASE: "another" };
    expect(it.runWith(another, "stack", "init", "prod").status).toBe(0);
    const made = it.runWith(another, "up", "--yes", "--skip-preview", "--stack", "prod");
    expect(made.status, made.output).toBe(0);
    const used = join(it.directory, "used");
    const up = (ask: string) => it.runWith({ ASK: ask }, "up", "--yes", "--skip-preview", "--stack", "dev");
    for (const [ask, key] of [
        ["get", "token"],
        ["require", "token"],
        ["outputs", "token"],
        ["inside of a text", "token"],
        ["secret member", "db"],
        ["used: get", "token"],
        ["used: require", "token"],
        ["used: secret member", "db"],
        ["used: object", "db"],
        ["used: of all outputs", "token"],
        ["used: all outputs", "db"],
        ["used: with others", "token"],
        ["used: details", "token"],
        ["used: awaited", "token"],
        ["export", "token"],
    ] as const) {
        const { status, output } = up(ask);
        expect(status, output).not.toBe(0);
        const said = `the output '${key}' of the stack 'organization/test/prod' is a secret that cannot be decrypted`;
        expect(output.split(said), output).toHaveLength(2);
        expect(existsSync(used), ask).toBe(false);
        const exported = it.ok("stack", "export", "--stack", "dev");
        expect(ask === "export" || !/dynamic:[\w/]*Resource::user/.test(exported), "no user was made").toBe(true);
    }
    for (const ask of ["plain", "plain member"]) {
        const { status, output } = up(ask);
        expect(status, output).toBe(0);
    }
    for (const ask of ["get", "member", "of all outputs", "details"]) {
        const { status, output } = up(`plain, used: ${ask}`);
        expect(status, output).toBe(0);
        expect(existsSync(used), ask).toBe(true);
        rmSync(used);
    }
    // Whoever destroys asks for nothing.
    const destroy = ["destroy", "--yes", "--skip-preview", "--stack", "dev", "--run-program"];
    const gone = it.runWith({ ASK: "used: get" }, ...destroy);
    expect(gone.status, gone.output).toBe(0);
    expect(existsSync(used)).toBe(true);
});
