// Names that the engine gives to objects of providers that ask for it.
import { expect, test } from "vitest";
import { failureOf, newStack, type Props, Thing } from "../support/kit";

class Buckets {
    static autonaming: unknown = "bucketName";

    async create(inputs: Props) {
        return { id: inputs.bucketName as string, outs: inputs };
    }

    async diff(_id: string, olds: Props, news: Props) {
        return { changes: true, replaces: olds.zone === news.zone ? [] : ["zone"] };
    }

    async update(_id: string, _olds: Props, news: Props) {
        return { outs: news };
    }

    async delete() {}
}

function nameOf(stack: ReturnType<typeof newStack>, resource = "a"): string {
    return String((stack.resources()[resource]?.outputs as Props).bucketName);
}

test("a missing name is filled in kept by updates and drawn anew by a replacement", async () => {
    const [provider, stack] = [new Buckets(), newStack()];
    await stack.up(() => void new Thing(provider, "a", { zone: "x", bucketName: undefined }));
    const first = nameOf(stack);
    expect(first).toMatch(/^a-[0-9a-f]{7}$/);
    await stack.up(() => void new Thing(provider, "a", { zone: "x", size: 2 }));
    expect(nameOf(stack)).toBe(first);
    await stack.up(() => void new Thing(provider, "a", { zone: "y", size: 2 }));
    expect(nameOf(stack)).not.toBe(first);
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
