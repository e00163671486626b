// Providers whose inputs and outputs have declared types.
import { type Schema, TypedProvider, type Validated } from "maloko";
import { expect, test } from "vitest";
import { failureOf, newStack, type Props, Thing } from "../support/kit";

interface QueueInputs {
    title: string;
    retention: number;
}

interface QueueOutputs extends QueueInputs {
    url: string;
}

/** A schema as the libraries make them. */
const schema: Schema<QueueInputs> = {
    "~standard": {
        validate(value: unknown): Validated<QueueInputs> {
            const { title, retention = 60, consumers = [] } = value as Props;
            const issues = [];
            if (typeof title !== "string") {
                issues.push({ message: "must be a text", path: ["title"] });
            }
            for (const [index, { port }] of consumers.entries()) {
                if (!Number.isInteger(port)) {
                    issues.push({ message: "must be a whole number", path: ["consumers", index, { key: "port" }] });
                }
            }
            return issues.length > 0 ? { issues } : { value: { title, retention } };
        },
    },
};

const seen: unknown[] = [];

class QueueProvider extends TypedProvider<QueueInputs, QueueOutputs> {
    static override inputs = schema;

    async create(inputs: QueueInputs) {
        seen.push(inputs);
        return { id: inputs.title, outs: { ...inputs, url: "made" } };
    }

    override async diff(_id: string, olds: QueueOutputs, news: QueueInputs) {
        return { changes: olds.retention !== news.retention };
    }

    override async update(_id: string, olds: QueueOutputs, news: QueueInputs) {
        return { outs: { ...news, url: `${olds.url}!` } };
    }
}

test("a typed provider gets and returns objects", async () => {
    const stack = newStack();
    seen.length = 0;
    await stack.up(() => void new Thing(new QueueProvider(), "a", { title: "q" }));
    expect(seen).toEqual([{ title: "q", retention: 60 }]);
    await stack.up(() => void new Thing(new QueueProvider(), "a", { title: "q", retention: 5 }));
    expect(stack.resources().a?.outputs).toMatchObject({ retention: 5, url: "made!" });
});

test("a typed method can be called with objects", async () => {
    const { outs } = await new QueueProvider().create({ title: "q", retention: 60 });
    expect(outs).toEqual({ title: "q", retention: 60, url: "made" });
});

test("a typed failure in part keeps the object", async () => {
    class Starting extends QueueProvider {
        override async create(inputs: QueueInputs): Promise<never> {
            const properties: QueueOutputs = { ...inputs, url: "none" };
            throw Object.assign(new Error("not ready"), { id: "half", properties, reasons: ["no answer"] });
        }
    }
    const stack = newStack();
    const result = await stack.run("update", () => void new Thing(new Starting(), "a", { title: "q" }));
    expect(result.outcome).toBe("failed");
    expect(stack.resources().a?.outputs).toMatchObject({ url: "none" });
});

test.each([
    [{}, "title", "must be a text"],
    [{ title: "q", consumers: [{ port: 1 }, { port: 1.5 }] }, "consumers[1].port", "must be a whole number"],
])("inputs that do not fit are refused with their property: %#", async (props, property, reason) => {
    seen.length = 0;
    const { message } = await failureOf(newStack().up(() => void new Thing(new QueueProvider(), "a", props)));
    expect(message).toContain(property);
    expect(message).toContain(reason);
    expect(seen).toEqual([]);
});
