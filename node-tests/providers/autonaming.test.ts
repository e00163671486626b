// Names that the engine gives to objects of providers that ask for it.
import { expect, test } from "vitest";
import { Echo, failureOf, newStack, type Props, Thing } from "../support/kit";

class Buckets {
    static autonaming: unknown = "bucketName";
    readonly #live: string[] = [];

    get live(): string[] {
        return this.#live;
    }

    async create(inputs: Props) {
        if (this.#live.includes(inputs.bucketName)) {
            throw new Error("the name is taken");
        }
        this.#live.push(inputs.bucketName);
        return { id: inputs.bucketName as string, outs: inputs };
    }

    async diff(_id: string, olds: Props, news: Props) {
        return {
            changes: JSON.stringify(olds) !== JSON.stringify(news),
            replaces: olds.zone === news.zone ? [] : ["zone"],
        };
    }

    async update(_id: string, _olds: Props, news: Props) {
        return { outs: news };
    }

    async delete(id: string) {
        this.#live.splice(this.#live.indexOf(id), 1);
    }
}

type Stack = ReturnType<typeof newStack>;

function nameOf(stack: Stack, resource = "a"): string {
    return String((stack.resources()[resource]?.outputs as Props).bucketName);
}

function ops(steps: { op: string; urn: string }[]): string[] {
    return steps.filter(({ urn }) => urn.endsWith("::a")).map(({ op }) => op);
}

test("a missing name is filled in kept by updates and drawn anew by a replacement", async () => {
    const [provider, stack] = [new Buckets(), newStack()];
    await stack.up(() => void new Thing(provider, "a", { zone: "x", bucketName: undefined }));
    const first = nameOf(stack);
    expect(first).toMatch(/^a-[0-9a-f]{7}$/);
    await stack.up(() => void new Thing(provider, "a", { zone: "x", size: 2 }));
    expect(nameOf(stack)).toBe(first);
    const result = await stack.up(() => void new Thing(provider, "a", { zone: "y", size: 2 }));
    expect(nameOf(stack)).not.toBe(first);
    expect(ops(result.steps)).toEqual(["create-replacement", "replace", "delete-replaced"]);
    expect(provider.live).toEqual([nameOf(stack)]);
});

test("an explicit name makes a replacement delete first unless the option says otherwise", async () => {
    const [provider, stack] = [new Buckets(), newStack()];
    await stack.up(() => void new Thing(provider, "a", { zone: "x", bucketName: "mine" }));
    const result = await stack.up(() => void new Thing(provider, "a", { zone: "y", bucketName: "mine" }));
    expect(ops(result.steps)).toEqual(["delete-replaced", "replace", "create-replacement"]);
    const first = { deleteBeforeReplace: false };
    const failed = failureOf(stack.up(() => void new Thing(provider, "a", { zone: "z", bucketName: "mine" }, first)));
    expect((await failed).message).toContain("the name is taken");
});

test("the configuration says how names are made", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a pattern in the engine's syntax
    const pattern = "${project}-${stack}-${name}-${num(3)}";
    const stack = newStack({ config: { "pulumi:autonaming": JSON.stringify({ pattern }) } });
    await stack.up(() => void new Thing(new Buckets(), "a", { zone: "x" }));
    expect(nameOf(stack)).toMatch(/-a-\d{3}$/);
});

test("disabled automatic names ask for an explicit one", async () => {
    const stack = newStack({ config: { "pulumi:autonaming": '{"mode": "disabled"}' } });
    const { message } = await failureOf(stack.up(() => void new Thing(new Buckets(), "a", { zone: "x" })));
    expect(message).toContain("property 'bucketName' is missing, and pulumi:autonaming turns automatic names off");
});

test("a longest name is respected", async () => {
    class Short extends Buckets {
        static override autonaming = { property: "bucketName", maxLength: 12 };
    }
    const stack = newStack();
    await stack.up(() => void new Thing(new Short(), "a-long-name", { zone: "x" }));
    expect(nameOf(stack, "a-long-name")).toMatch(/^a-lo-[0-9a-f]{7}$/);
});

test.each([
    [3, "must be the name of a property"],
    [{ maxLength: 3 }, "must be the name of a property"],
    [{ property: "n", longest: 3 }, "unknown member"],
    [{ property: "n", maxLength: 0 }, "must be a whole number above 0"],
])("a declaration that cannot be used is an error %#", async (declared, reason) => {
    class Wrong extends Buckets {
        static override autonaming = declared;
    }
    const { message } = await failureOf(newStack().up(() => void new Thing(new Wrong(), "a", { zone: "x" })));
    expect(message).toContain(reason);
});

test("providers that do not opt in see nothing of it", async () => {
    const stack = newStack({ config: { "pulumi:autonaming": '{"mode": "disabled"}' } });
    await stack.up(() => void new Thing(new Echo(), "a", { zone: "x" }));
    const { __provider, ...outputs } = stack.resources().a?.outputs as Props;
    expect(outputs).toEqual({ zone: "x" });
});
