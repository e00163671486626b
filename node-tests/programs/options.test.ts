// Resource options, end to end: time limits, replacement triggers, aliases, dependencies on components.
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { newStack, type Props, Recording, Thing } from "../support/kit";

class Group extends pulumi.ComponentResource {
    constructor(name: string, opts?: pulumi.ComponentResourceOptions) {
        super("tests:index:Group", name, {}, opts);
    }
}

interface Result {
    steps: { op: string; urn: string }[];
    diagnostics: { severity: string; message: string }[];
}

/** `op name` of each step, in the order of names; those of the stack and the default provider left out. */
function ops(result: Result): string[] {
    return result.steps
        .filter(({ urn }) => !/::project-dev$|::default$/.test(urn))
        .map(({ op, urn }) => `${op} ${urn.split("::").at(-1)}`)
        .sort();
}

function errorOf(result: Result): string {
    return result.diagnostics.find(({ severity }) => severity === "error")?.message ?? "";
}

// Time limits.

function limited(provider: object, customTimeouts: pulumi.CustomTimeouts): void {
    new Thing(provider, "a", { size: 1 }, { customTimeouts });
}

test("an async call that takes too long is given up and stays pending", async () => {
    const stack = newStack();
    const slow = { create: () => new Promise<never>(() => {}) };
    const result = await stack.run("update", () => limited(slow, { create: "50ms" }));
    expect(result.outcome).toBe("failed");
    expect(errorOf(result)).toContain(
        "create of 'a' took longer than the 50ms that the option 'customTimeouts' gives it",
    );
    expect(stack.resources()).toEqual({});
    const next = await stack.up(() => {});
    expect(next.diagnostics.map(({ message }) => message).join()).toContain(
        "an earlier run was interrupted while creating this resource",
    );
});

// Replacement triggers.

function triggered(replacementTrigger: unknown): void {
    new Thing(new Recording(), "a", { size: 1 }, { replacementTrigger });
}

test("a changed replacement trigger replaces", async () => {
    const stack = newStack();
    await stack.up(() => triggered("one"));
    expect(stack.resources().a?.replacementTrigger).toBe("one");
    expect(ops(await stack.up(() => triggered("one")))).toEqual(["same a"]);
    const replaced = await stack.up(() => triggered({ deep: [2] }));
    expect(ops(replaced)).toEqual(["create-replacement a", "delete-replaced a", "replace a"]);
});

test("a secret replacement trigger is kept secret", async () => {
    const stack = newStack();
    await stack.up(() => triggered(pulumi.secret("hush")));
    const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
    expect(stack.resources().a?.replacementTrigger).toMatchObject(secret);
    expect(ops(await stack.up(() => triggered(pulumi.secret("hush"))))).toEqual(["same a"]);
});

test("a replacement trigger survives a transform", async () => {
    const stack = newStack();
    const passing: pulumi.ResourceTransform = (args) => ({ props: args.props, opts: args.opts });
    const opts = { replacementTrigger: "one", transforms: [passing] };
    await stack.up(() => void new Thing(new Recording(), "a", { size: 1 }, opts));
    expect(stack.resources().a?.replacementTrigger).toBe("one");
});

// Aliases.

function aliased(name: string, aliases: pulumi.CustomResourceOptions["aliases"] = [], parent?: pulumi.Resource): void {
    new Thing(new Recording(), name, { size: 1 }, { aliases, parent });
}

test("a resource is found by each form of alias", async () => {
    const stack = newStack();
    const urn = "urn:pulumi:dev::project::pulumi-nodejs:dynamic:Resource::";
    await stack.up(() => aliased("one"));
    expect(ops(await stack.up(() => aliased("two", [{ name: "one" }])))).toEqual(["same two"]);
    expect(ops(await stack.up(() => aliased("three", [`${urn}two`])))).toEqual(["same three"]);
    const moved = await stack.up(() => aliased("three", [{ parent: pulumi.rootStackResource }], new Group("group")));
    expect(ops(moved)).toEqual(["create group", "same three"]);
    const parent = "urn:pulumi:dev::project::tests:index:Group::group";
    const back = await stack.up(() => aliased("three", [{ parent }]));
    expect(ops(back)).toEqual(["delete group", "same three"]);
});

// Dependencies.

test("a dependency on a component is one on its children", async () => {
    const stack = newStack();
    const order: string[] = [];
    const noting = (name: string) => ({
        create: async (outs: Props) => {
            order.push(name);
            return { id: name, outs };
        },
    });
    await stack.up(() => {
        const group = new Group("group");
        const inner = new Group("inner", { parent: group });
        new Thing(noting("a"), "a", {}, { parent: inner });
        new Thing(noting("b"), "b", {}, { dependsOn: [group] });
    });
    expect(order).toEqual(["a", "b"]);
    expect(stack.resources().b?.dependencies).toContainEqual(expect.stringMatching(/::a$/));
});

// Diffs.

test("what diff calls stable is known in a preview", async () => {
    const stack = newStack();
    const seen: unknown[] = [];
    const stable = {
        diff: async (_id: string, olds: Props, news: Props) => ({ changes: olds.size !== news.size, stables: ["arn"] }),
        create: async (inputs: Props) => ({ id: "made", outs: { ...inputs, arn: "arn:1" } }),
        update: async (_id: string, _olds: Props, news: Props) => ({ outs: news }),
    };
    const program = (size: number) => {
        const a = new Thing(stable, "a", { size }, undefined, ["arn"]);
        a.arn.apply((arn: unknown) => seen.push(arn));
    };
    await stack.up(() => program(1));
    seen.length = 0;
    await stack.preview(() => program(2));
    expect(seen).toEqual(["arn:1"]);
});
