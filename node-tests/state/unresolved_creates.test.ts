// Creates whose outcome is unknown: what is kept, shown, looked for and repeated.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentCall, TypedProvider } from "maloko";
import { expect, onTestFinished, test } from "vitest";
import { type Props, Thing } from "../support/kit";
import { project } from "../support/project";
import { Stack } from "../support/stacks";

interface UnresolvedCreate {
    key: string;
    doubt: string;
    error: string;
    attempts: number;
    returned?: unknown;
    resource: { id?: string; inputs: Props };
}

/** A stack whose state can be looked into. */
class OpenStack extends Stack {
    constructor(private readonly directory = mkdtempSync(join(tmpdir(), "maloko-test-"))) {
        super({ directory });
        onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    }

    unresolvedCreates(): UnresolvedCreate[] {
        const file = join(this.directory, ".pulumi", "stacks", "project", "dev.json");
        const { checkpoint } = JSON.parse(readFileSync(file, "utf8"));
        return checkpoint.latest.maloko_suspects ?? [];
    }
}

const HALF_A_CHARACTER = "\ud83d";

function cycle(): Props {
    const outs: Props = { name: "it" };
    outs.self = outs;
    return outs;
}

function deep(): Props {
    let outs: Props = {};
    for (let depth = 0; depth < 600; depth++) {
        outs = { inner: outs };
    }
    return outs;
}

function raises(): never {
    throw new Error("the service is away");
}

const WITHOUT_ID: Record<string, () => unknown> = {
    raises,
    nothing: () => undefined,
    dict: () => ({ outs: {}, fresh: true }),
    "no id": () => ({ id: null, outs: {} }),
    "empty id": () => ({ id: "", outs: {} }),
    "bytes as id": () => ({ id: new Uint8Array([255, 254]), outs: {} }),
    "half a character as id": () => ({ id: HALF_A_CHARACTER, outs: {} }),
};
const WITH_ID: Record<string, () => unknown> = {
    set: () => ({ id: "made", outs: { tags: new WeakSet() } }),
    cycle: () => ({ id: "made", outs: cycle() }),
    "too deep": () => ({ id: "made", outs: deep() }),
};

/** Makes objects, by their operation keys, and then ends as it is told. */
class Cloud {
    readonly keys: string[] = [];
    readonly objects = new Map<string, Props>();
    ending: (() => unknown) | undefined;
    passesKeyOn = true;

    async create(inputs: Props): Promise<any> {
        const key = this.passesKeyOn ? currentCall().operationKey : "unknown";
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
    (provider: object, name = "a", props: Props = {}) =>
    () =>
        void new Thing(provider, name, { size: "small", ...props });

async function failing(stack: OpenStack, provider: Cloud, ending: () => unknown = raises): Promise<void> {
    provider.ending = ending;
    expect((await stack.run("update", thing(provider))).outcome).toBe("failed");
    provider.ending = undefined;
}

const messages = (result: { diagnostics: { severity: string; message: string }[] }, severity: string): string[] =>
    result.diagnostics.filter((it) => it.severity === severity).map(({ message }) => message);

test.each([
    ...Object.keys(WITHOUT_ID),
    ...Object.keys(WITH_ID),
])("a create that fails or returns rubbish leaves a record of its object: %s", async (kind) => {
    const stack = new OpenStack();
    const provider = new Cloud();
    await failing(stack, provider, { ...WITHOUT_ID, ...WITH_ID }[kind] ?? raises);
    if (kind in WITH_ID) {
        // The object is known: the next run goes on with it.
        expect(stack.resources().a?.id).toBe("made");
        expect(stack.unresolvedCreates()).toEqual([]);
        return;
    }
    const [unresolved] = stack.unresolvedCreates();
    expect(unresolved?.doubt).toBe(kind === "raises" ? "raised" : "unreadable");
    expect(unresolved?.resource.inputs.size).toBe("small");
    expect([unresolved?.key, unresolved?.attempts]).toEqual([provider.keys[0], 1]);
    expect(unresolved?.error).not.toBe("");
    expect(unresolved?.returned !== undefined).toBe(kind !== "raises");
    expect(stack.resources()).toEqual({});
});

test("a create whose process dies leaves an unresolved create", () => {
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

test("an adopted object follows the program", async () => {
    class Changing extends Searchable {
        async update(id: string, _olds: Props, news: Props) {
            this.objects.set(id, news);
            return { outs: news };
        }
    }
    const stack = new OpenStack();
    const provider = new Changing();
    await failing(stack, provider);
    const done = await stack.up(thing(provider, "a", { size: "large" }));
    expect(done.changes).toEqual({ import: 1, same: 1, update: 1 });
    expect(provider.objects.get("object-1")?.size).toBe("large");
    expect(stack.resources().a?.outputs?.size).toBe("large");
});

test("without find an unresolved create is created again and named", async () => {
    const stack = new OpenStack();
    const provider = new Cloud();
    provider.passesKeyOn = false;
    await failing(stack, provider, () => undefined);
    const done = await stack.up(thing(provider));
    expect([...provider.objects.keys()]).toEqual(["object-1", "object-2"]);
    const [warning] = messages(done, "warning").filter((text) => text.includes("so it is created again"));
    expect(warning).toContain("its create returned something that cannot be used");
    expect(warning).toContain("there may now be one object too many: look for it");
    expect(stack.unresolvedCreates()).toEqual([]);
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

test("a run says at its end what became unresolved", async () => {
    const stack = new OpenStack();
    const provider = new Cloud();
    provider.ending = () => undefined;
    const done = await stack.run("update", thing(provider));
    const [warning] = messages(done, "warning").filter((text) =>
        text.startsWith("these creates failed with an unknown outcome"),
    );
    expect(warning).toContain("\n    a: its create returned something that cannot be used");
    const later = await stack.run("update", () => undefined);
    const told =
        "an earlier create of this resource ended unclearly (its create returned something that cannot be used";
    expect(messages(later, "warning").join()).toContain(told);
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

test("a refresh adopts what find finds and a destroy deletes it", async () => {
    const stack = new OpenStack();
    const provider = new Searchable();
    await failing(stack, provider);
    await stack.refresh(thing(provider));
    expect([stack.resources().a?.id, stack.unresolvedCreates()]).toEqual(["object-1", []]);
    const other = new OpenStack();
    await failing(other, provider);
    expect(provider.objects.size).toBe(2);
    await other.destroy(thing(provider));
    expect([...provider.objects.keys()]).toEqual(["object-1"]);
    expect([other.resources(), other.unresolvedCreates()]).toEqual([{}, []]);
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

test("unresolved creates survive export and import and are forgotten when asked", () => {
    const leaking = project({ "index.ts": LEAKING });
    const run = (...args: string[]) => leaking.run(...args, "--stack", "dev");
    const ok = (...args: string[]) => leaking.ok(...args, "--stack", "dev");
    const listed = (): any[] => JSON.parse(ok("stack", "--json")).suspects;
    expect(run("up", "--yes", "--skip-preview").status).not.toBe(0);
    const exported = ok("stack", "export");
    const cleared = run("refresh", "--yes", "--skip-preview", "--clear-pending-creates");
    expect(cleared.status).toBe(0);
    expect(cleared.output).toContain("Forgot 1 unresolved create:\n  urn:pulumi:dev::");
    expect(listed()).toEqual([]);
    leaking.write({ "copy.json": exported });
    ok("stack", "import", "--file", "copy.json");
    expect(listed()[0].doubt).toBe("unreadable");
    leaking.write({ "index.ts": "export {};" });
    const said = run("destroy", "--yes", "--skip-preview", "--remove").output;
    expect(said).toContain("it still knows of 1 unresolved create whose objects may exist");
    ok("refresh", "--yes", "--skip-preview", "--clear-pending-creates");
    ok("destroy", "--yes", "--skip-preview", "--remove");
});

test("an object of a create that raised is taken over by its id", () => {
    const raising = project({
        "index.ts": `import * as pulumi from "@pulumi/pulumi";
class Raising {
    async create(props: any): Promise<any> {
        throw new Error("no answer");
    }
    async read(id: string, props: any) {
        return { id, props };
    }
}
new (pulumi.dynamic.Resource as any)(new Raising(), "a", { size: "small" });`,
    });
    const up = ["up", "--yes", "--skip-preview", "--stack", "dev"];
    expect(raising.run(...up).status).not.toBe(0);
    const urn = "urn:pulumi:dev::test::pulumi-nodejs:dynamic:Resource::a";
    const asked = ["--import-pending-creates", urn, "--import-pending-creates", "m1"];
    raising.ok("refresh", "--yes", "--skip-preview", ...asked, "--stack", "dev");
    raising.ok(...up, "--expect-no-changes");
    expect(JSON.parse(raising.ok("stack", "--json", "--stack", "dev")).suspects).toEqual([]);
});
