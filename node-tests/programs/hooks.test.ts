// Resource hooks run around operations, error hooks after failures.
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { newStack, type Props, Recording, Thing } from "../support/kit";

const MOMENTS = ["beforeCreate", "afterCreate", "beforeUpdate", "afterUpdate", "beforeDelete", "afterDelete"] as const;

type Told = Record<string, pulumi.ResourceHookArgs>;

/** A provider and hooks that note their calls in one list. */
class Noting extends Recording {
    readonly told: Told = {};

    /** What was called since the last time. */
    take(): string[] {
        const names = this.calls.map(([name]) => name).filter((name) => name !== "diff" && name !== "check");
        this.calls.length = 0;
        return names;
    }

    hook(moment: string, opts?: pulumi.ResourceHookOptions): pulumi.ResourceHook {
        const note = (args: pulumi.ResourceHookArgs) => {
            this.calls.push([moment]);
            this.told[moment] = args;
        };
        return new pulumi.ResourceHook(moment, note, opts);
    }

    everywhere(): pulumi.ResourceHookBinding {
        return Object.fromEntries(MOMENTS.map((moment) => [moment, [this.hook(moment)]]));
    }
}

function hooked(provider: object, hooks: pulumi.ResourceHookBinding, props: Props = { size: 1 }): void {
    new Thing(provider, "a", props, { hooks });
}

function closed(reason: string): () => void {
    return () => {
        throw new Error(reason);
    };
}

function texts(result: { diagnostics: { severity: string; message: string }[] }, severity: string): string[] {
    return result.diagnostics.filter((it) => it.severity === severity).map(({ message }) => message);
}

function names(stack: ReturnType<typeof newStack>): string[] {
    return Object.keys(stack.resources());
}

test("hooks run around each operation and not around same", async () => {
    const stack = newStack();
    const provider = new Noting();
    await stack.up(() => hooked(provider, provider.everywhere()));
    expect(provider.take()).toEqual(["beforeCreate", "create", "afterCreate"]);
    await stack.up(() => hooked(provider, provider.everywhere()));
    expect(provider.take()).toEqual([]);
    await stack.up(() => hooked(provider, provider.everywhere(), { size: 2 }));
    expect(provider.take()).toEqual(["beforeUpdate", "update", "afterUpdate"]);
    await stack.destroy(() => hooked(provider, provider.everywhere(), { size: 2 }));
    expect(provider.take()).toEqual(["beforeDelete", "delete", "afterDelete"]);
});

test("hooks are told of the old and the new side", async () => {
    const stack = newStack();
    const provider = new Noting();
    await stack.up(() => hooked(provider, provider.everywhere()));
    await stack.up(() => hooked(provider, provider.everywhere(), { size: 2 }));
    await stack.destroy(() => hooked(provider, provider.everywhere(), { size: 2 }));
    const [old, now] = [{ size: 1 }, { size: 2 }];
    const sides = Object.fromEntries(
        Object.entries(provider.told).map(([moment, args]) => [
            moment,
            [args.id, args.oldInputs, args.newInputs, args.oldOutputs, args.newOutputs],
        ]),
    );
    expect(sides).toEqual({
        beforeCreate: ["", undefined, old, undefined, undefined],
        afterCreate: ["made", undefined, old, undefined, old],
        beforeUpdate: ["made", old, now, old, undefined],
        afterUpdate: ["made", old, now, old, now],
        beforeDelete: ["made", now, undefined, now, undefined],
        afterDelete: ["made", now, undefined, now, undefined],
    });
    expect(provider.told.afterUpdate).toMatchObject({
        name: "a",
        type: "pulumi-nodejs:dynamic:Resource",
        urn: "urn:pulumi:dev::project::pulumi-nodejs:dynamic:Resource::a",
    });
});

test("a secret reaches a hook as an output", async () => {
    const provider = new Noting();
    await newStack().up(() => hooked(provider, provider.everywhere(), { token: pulumi.secret("hush"), size: 1 }));
    const inputs = provider.told.beforeCreate?.newInputs as Props;
    expect(pulumi.Output.isInstance(inputs.token)).toBe(true);
    expect(inputs.size).toBe(1);
});

test("an async hook is awaited", async () => {
    const provider = new Noting();
    const slow = async () => {
        await new Promise(setImmediate);
        provider.calls.push(["slow"]);
    };
    await newStack().up(() => hooked(provider, { beforeCreate: [slow] }));
    expect(provider.take()).toEqual(["slow", "create"]);
});

test("a failing before hook stops the operation", async () => {
    const stack = newStack();
    const provider = new Noting();
    const result = await stack.run("update", () =>
        hooked(provider, { beforeCreate: [new pulumi.ResourceHook("closed", closed("not on a Friday"))] }),
    );
    expect(result.outcome).toBe("failed");
    expect(texts(result, "error").join()).toContain("the hook 'closed' (before_create) failed: not on a Friday");
    expect(provider.take()).toEqual([]);
    expect(names(stack)).not.toContain("a");
});

test("a hook whose errors are ignored only warns", async () => {
    const result = await newStack().up(() => {
        const hook = new pulumi.ResourceHook("closed", closed("not on a Friday"), { ignoreErrors: true });
        hooked(new Noting(), { beforeCreate: [hook] });
    });
    expect(texts(result, "warning").join()).toContain("not on a Friday");
});

test("in a preview only hooks with on dry run are called", async () => {
    const provider = new Noting();
    await newStack().preview(() =>
        hooked(provider, {
            beforeCreate: [provider.hook("wet")],
            afterCreate: [provider.hook("dry", { onDryRun: true })],
        }),
    );
    expect(provider.take()).toEqual(["dry"]);
});

/** Fails twice. */
class Failing extends Noting {
    override async create(inputs: Props) {
        const made = await super.create(inputs);
        if (this.calls.filter(([name]) => name === "create").length < 3) {
            throw new TypeError(`try ${this.calls.filter(([name]) => name === "create").length}`);
        }
        return made;
    }
}

function failing(provider: Failing, answer: (args: pulumi.ErrorHookArgs) => boolean | Promise<boolean>): void {
    hooked(provider, { onError: [new pulumi.ErrorHook("again", answer)] });
}

test("an operation is tried again for as long as an error hook asks for it", async () => {
    const stack = newStack();
    const provider = new Failing();
    const told: unknown[] = [];
    const result = await stack.up(() =>
        failing(provider, (args) => {
            told.push([args.failedOperation, args.name, args.newInputs, args.errors]);
            return true;
        }),
    );
    expect(provider.take()).toEqual(["create", "create", "create"]);
    expect(told).toEqual([
        ["create", "a", { size: 1 }, ["TypeError: try 1"]],
        ["create", "a", { size: 1 }, ["TypeError: try 2", "TypeError: try 1"]],
    ]);
    expect(texts(result, "warning").filter((text) => text.includes("TypeError: try"))).toHaveLength(2);
    expect(names(stack)).toContain("a");
});

test("an error hook that does not ask for it changes nothing", async () => {
    const provider = new Failing();
    const result = await newStack().run("update", () => failing(provider, () => false));
    expect(provider.take()).toEqual(["create"]);
    expect(result.thrown?.value).toBeInstanceOf(TypeError);
});

test("an async error hook is awaited", async () => {
    const provider = new Failing();
    await newStack().up(() => failing(provider, async () => true));
    expect(provider.take()).toEqual(["create", "create", "create"]);
});
