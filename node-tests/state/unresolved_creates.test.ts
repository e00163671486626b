// Creates whose outcome is unknown: what `find` may be and answer in Node. What the engine keeps, shows and repeats is asked in Python.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentCall, TypedProvider } from "maloko";
import { expect, onTestFinished, test } from "vitest";
import { type Props, Thing } from "../support/kit";
import { atNight } from "../support/night";
import { project } from "../support/project";
import { Stack } from "../support/stacks";

const nightly = atNight(test);

/** A stack whose state can be looked into. */
class OpenStack extends Stack {
    constructor(private readonly directory = mkdtempSync(join(tmpdir(), "maloko-test-"))) {
        super({ directory });
        onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    }

    unresolvedCreates(): { resource: { id?: string } }[] {
        const file = join(this.directory, ".pulumi", "stacks", "project", "dev.json");
        const { checkpoint } = JSON.parse(readFileSync(file, "utf8"));
        return checkpoint.latest.maloko_suspects ?? [];
    }
}

function raises(): never {
    throw new Error("the service is away");
}

/** Makes objects, by their operation keys, and then ends as it is told. */
class Cloud {
    readonly keys: string[] = [];
    readonly objects = new Map<string, Props>();
    ending: (() => unknown) | undefined;

    async create(inputs: Props): Promise<any> {
        const key = currentCall().operationKey;
        this.keys.push(key);
        const id = `object-${this.keys.length}`;
        this.objects.set(id, { ...inputs, key });
        return this.ending === undefined ? { id, outs: inputs } : this.ending();
    }

    async delete(id: string) {
        this.objects.delete(id);
    }
}

/** One whose objects can be found again. */
class Searchable extends Cloud {
    async find(wanted: string, _inputs: Props): Promise<{ id: string; props: Props } | undefined> {
        for (const [id, { key, ...props }] of this.objects) {
            if (key === wanted) {
                return { id, props };
            }
        }
        return undefined;
    }
}

const thing =
    (provider: object, name = "a") =>
    () =>
        void new Thing(provider, name, { size: "small" });

async function failing(stack: OpenStack, provider: Cloud, ending: () => unknown = raises): Promise<void> {
    provider.ending = ending;
    expect((await stack.run("update", thing(provider))).outcome).toBe("failed");
    provider.ending = undefined;
}

const messages = (result: { diagnostics: { severity: string; message: string }[] }, severity: string): string[] =>
    result.diagnostics.filter((it) => it.severity === severity).map(({ message }) => message);

nightly("a create whose process dies leaves an unresolved create", () => {
    const dying = project({
        "index.ts": `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs"; import { currentCall } from "maloko";
class Dying {
    async create(props: any) {
        fs.appendFileSync("keys", currentCall().operationKey + "\\n");
        if (!fs.existsSync("alive")) {
            process.kill(process.pid, "SIGKILL");
        }
        return { id: "made", outs: props };
    }
}
new (pulumi.dynamic.Resource as any)(new Dying(), "a", { size: "small" });`,
    });
    const up = ["up", "--yes", "--skip-preview", "--stack", "dev"];
    expect(dying.run(...up).status).not.toBe(0);
    const shown = dying.ok("stack", "--stack", "dev");
    expect(shown).toContain("1 unresolved create, whose object may exist:");
    expect(shown).toContain("its create was under way when the run ended");
    dying.write({ alive: "" });
    const said = dying.ok(...up);
    // The key was passed on: the service makes no second object.
    expect(said).not.toContain("too many");
    const keys = dying.read("keys").trim().split("\n");
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(dying.ok("stack", "--stack", "dev")).not.toContain("unresolved");
});

test("the object that find finds is adopted without a create", async () => {
    const stack = new OpenStack();
    const provider = new Searchable();
    await failing(stack, provider);
    const done = await stack.up(thing(provider));
    expect(done.changes).toEqual({ import: 1, same: 2 });
    expect([...provider.objects.keys()]).toEqual(["object-1"]);
    expect([stack.resources().a?.id, stack.unresolvedCreates()]).toEqual(["object-1", []]);
    expect(messages(done, "info").join()).toContain("its object was found, with the id 'object-1'");
    expect((await stack.up(thing(provider))).changes).toEqual({ same: 2 });
});

test("the operation key is the same for every attempt until one succeeds", async () => {
    const stack = new OpenStack();
    const provider = new Cloud();
    await failing(stack, provider);
    await failing(stack, provider, () => undefined);
    await stack.up(thing(provider));
    expect(provider.keys).toHaveLength(3);
    expect(new Set(provider.keys).size).toBe(1);
    await stack.up(() => {
        thing(provider)();
        thing(provider, "b")();
    });
    expect(new Set(provider.keys).size).toBe(2);
    expect(currentCall().operationKey).toBe("");
});

test("an id that is no text is looked up with read", async () => {
    class Readable extends Cloud {
        async read(id: string, props: Props) {
            return { id, props: { ...props, read: true } };
        }
    }
    const stack = new OpenStack();
    const provider = new Readable();
    await failing(stack, provider, () => ({ id: 42, outs: {} }));
    expect(stack.unresolvedCreates()[0]?.resource.id).toBe("42");
    await stack.up(thing(provider));
    expect(stack.resources().a?.id).toBe("42");
    expect(provider.keys).toHaveLength(1);
});

test("a find that raises creates nothing", async () => {
    class Away extends Cloud {
        async find(_key: string, _inputs: Props): Promise<undefined> {
            throw new Error("the service is away");
        }
    }
    const stack = new OpenStack();
    const provider = new Away();
    await failing(stack, provider);
    const done = await stack.run("update", thing(provider));
    expect(done.outcome).toBe("failed");
    expect(messages(done, "error")[0]).toContain("find could not tell whether an earlier create made the object");
    expect([provider.keys.length, stack.unresolvedCreates().length]).toEqual([1, 1]);
});

test("a helper that is called find and takes other arguments is not asked", async () => {
    class Helped extends Cloud {
        find(_repository: string, _name: string, _color: string): never {
            throw new Error("nobody is to call this");
        }
    }
    const stack = new OpenStack();
    const provider = new Helped();
    await failing(stack, provider);
    await stack.up(thing(provider));
    expect(provider.keys).toHaveLength(2);
});

test("find may answer at once or later", async () => {
    class Sync extends Cloud {
        find(wanted: string, _inputs: Props) {
            const found = [...this.objects].find(([, { key }]) => key === wanted);
            return found === undefined ? null : { id: found[0], props: {} };
        }
    }
    const stack = new OpenStack();
    const provider = new Sync();
    await failing(stack, provider);
    await stack.up(thing(provider));
    expect(provider.keys).toHaveLength(1);
});

test("find of a typed provider gets typed inputs", async () => {
    const seen: { size: string }[] = [];
    class Typed extends TypedProvider<{ size: string }, { size: string; url: string }> {
        async create(): Promise<never> {
            throw new Error("the service is away");
        }

        override async find(_key: string, inputs: { size: string }) {
            seen.push(inputs);
            return { id: "made", props: { ...inputs, url: "https://made" } };
        }
    }
    const stack = new OpenStack();
    const provider = new Typed();
    expect((await stack.run("update", thing(provider))).outcome).toBe("failed");
    await stack.up(thing(provider));
    expect(seen).toEqual([{ size: "small" }]);
    expect(stack.resources().a?.outputs?.url).toBe("https://made");
});

const LEAKING = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
class Leaking {
    async create(props: any): Promise<any> {
        if (fs.existsSync("raise")) {
            throw new Error("refused with " + props.password);
        }
        return { outs: props, fresh: "a-token-that-nobody-knows" };
    }
}
new (pulumi.dynamic.Resource as any)(new Leaking(), "a", { password: pulumi.secret("correct-horse") });`;

test("no secret of an error or a result is kept in plain text", () => {
    const leaking = project({ "index.ts": LEAKING, raise: "" });
    const up = () => leaking.run("up", "--yes", "--skip-preview", "--stack", "dev");
    const listed = (...more: string[]): any[] =>
        JSON.parse(leaking.ok("stack", "--json", "--stack", "dev", ...more)).suspects;
    const state = () => leaking.read(".maloko/.pulumi/stacks/test/dev.json");
    expect(up().status).not.toBe(0);
    expect(state()).not.toContain("correct-horse");
    expect(listed()[0].error).toBe("Error: refused with [secret]");
    rmSync(join(leaking.directory, "raise"));
    expect(up().status).not.toBe(0);
    expect(state()).not.toContain("a-token-that-nobody-knows");
    expect(leaking.ok("stack", "--stack", "dev")).not.toContain("a-token-that-nobody-knows");
    const [unresolved] = listed("--show-secrets");
    expect(unresolved.returned).toContain("a-token-that-nobody-knows");
    expect([unresolved.doubt, unresolved.attempts]).toEqual(["unreadable", 2]);
});
