// Transforms alter registrations before they are planned: within the process, in their order, with live values.
import * as net from "node:net";
import * as pulumi from "@pulumi/pulumi";
import { expect, test, vi } from "vitest";
import { Echo, newStack, Recording, Thing } from "../support/kit";

// How a deployment marks what is secret.
const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };

function resourceOf(stack: ReturnType<typeof newStack>, name: string) {
    const resource = stack.resources()[name];
    if (resource === undefined) {
        throw new Error(`there is no ${name}`);
    }
    return resource;
}

/** Appends a letter to the property `text` of custom resources. */
function appending(letter: string): pulumi.ResourceTransform {
    return (args) => {
        if (!args.custom) {
            return undefined;
        }
        return { props: { ...args.props, text: `${args.props.text}${letter}` }, opts: args.opts };
    };
}

class Group extends pulumi.ComponentResource {
    constructor(name: string, opts?: pulumi.ComponentResourceOptions) {
        super("tests:index:Group", name, {}, opts);
    }
}

test("a resources own transforms come first then its ancestors then the stacks", async () => {
    const stack = newStack();
    await stack.up(() => {
        pulumi.runtime.registerResourceTransform(appending("s"));
        const outer = new Group("outer", { transforms: [appending("o")] });
        const inner = new Group("inner", { transforms: [appending("i")], parent: outer });
        new Thing(new Echo(), "a", { text: "-" }, { transforms: [appending("1"), appending("2")], parent: inner });
        new Thing(new Echo(), "b", { text: "-" });
    });
    expect(resourceOf(stack, "a").inputs?.text).toBe("-12ios");
    expect(resourceOf(stack, "b").inputs?.text).toBe("-s");
});

test("a transform that returns nothing changes nothing", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Recording(), "a", { text: "-" }));
    const transforms = [() => undefined];
    const result = await stack.up(() => void new Thing(new Recording(), "a", { text: "-" }, { transforms }));
    expect(result.changes).toEqual({ same: 2 });
});

test("an async transform is awaited", async () => {
    const stack = newStack();
    await stack.up(() => {
        pulumi.runtime.registerResourceTransform(async (args) => {
            await new Promise(setImmediate);
            return { props: { ...args.props, text: "slow" }, opts: args.opts };
        });
        new Thing(new Echo(), "a", { text: "-" });
    });
    expect(resourceOf(stack, "a").inputs?.text).toBe("slow");
});

test("a transform is told the type the name and the parent but not the provider", async () => {
    const told: unknown[] = [];
    const telling: pulumi.ResourceTransform = (args) => {
        told.push([args.custom, args.type, args.name, Object.keys(args.props)]);
        return undefined;
    };
    await newStack().up(() => void new Thing(new Echo(), "a", { text: "-" }, { transforms: [telling] }));
    expect(told).toEqual([[true, "pulumi-nodejs:dynamic:Resource", "a", ["text"]]]);
});

test("a transform changes options and sees what is inherited", async () => {
    const stack = newStack();
    const seen: unknown[] = [];
    const protecting: pulumi.ResourceTransform = (args) => {
        seen.push(args.opts.protect);
        const more = { additionalSecretOutputs: ["text"], aliases: [{ name: "before" }] };
        return { props: args.props, opts: pulumi.mergeOptions(args.opts, more) };
    };
    const program = (name: string, ...transforms: pulumi.ResourceTransform[]) => {
        const parent = new Group("group", { protect: true });
        new Thing(new Recording(), name, { text: "-" }, { parent, transforms });
    };
    await stack.up(() => program("before"));
    const result = await stack.up(() => program("a", protecting));
    expect(seen).toEqual([true]);
    expect(result.changes).toEqual({ same: 3 });
    expect(resourceOf(stack, "a")).toMatchObject({ protect: true, additionalSecretOutputs: ["text"] });
});

test("secrets stay secret and outputs are outputs in a transform", async () => {
    const stack = newStack();
    const seen: Record<string, boolean> = {};
    const looking: pulumi.ResourceTransform = (args) => {
        for (const [key, value] of Object.entries(args.props)) {
            seen[key] = pulumi.Output.isInstance(value);
        }
        return { props: { ...args.props, more: 1 }, opts: args.opts };
    };
    const program = () => {
        const a = new Thing(new Echo(), "a", { text: "one" });
        const props = { plain: "x", token: pulumi.secret("hush"), from: a.text };
        new Thing(new Echo(), "b", props, { transforms: [looking] });
    };
    await stack.preview(program);
    await stack.up(program);
    expect(seen).toEqual({ plain: false, token: true, from: true });
    const resource = resourceOf(stack, "b");
    expect(resource.inputs).toMatchObject({ from: "one", more: 1, token: SECRET });
    expect(resource.replacementTrigger).toBeUndefined();
    expect(resource.dependencies).toEqual([expect.stringMatching(/::a$/)]);
});

test("a transform that raises is named with the resource", async () => {
    const error = new RangeError("no tags for you");
    const tagged: pulumi.ResourceTransform = () => {
        throw error;
    };
    const result = await newStack().run("update", () => void new Thing(new Echo(), "a", {}, { transforms: [tagged] }));
    expect(result.outcome).toBe("failed");
    expect(result.thrown?.value).toBe(error);
    const errors = result.diagnostics.filter(({ severity }) => severity === "error");
    expect(errors).toHaveLength(1);
    expect(errors[0]?.urn).toMatch(/::a$/);
    expect(errors[0]?.message).toContain("a transform of 'a' failed: tagged: RangeError: no tags for you");
    expect(errors[0]?.message).toContain("transforms.test.ts");
});

test("a function call is transformed too", async () => {
    const found: unknown[] = [];
    await newStack().up(async () => {
        pulumi.runtime.registerInvokeTransform((args) => ({
            args: { ...args.args, urn: args.args.urn.replace("::wrong", "::a") },
            opts: args.opts,
        }));
        const a = new Thing(new Echo(), "a", { text: "found" });
        const urn = await new Promise<string>((resolve) => a.urn.apply(resolve));
        const answer = await pulumi.runtime.invoke("pulumi:pulumi:getResource", { urn: urn.replace("::a", "::wrong") });
        found.push(answer.state.text);
    });
    expect(found).toEqual(["found"]);
});

test("no socket is opened for callbacks", async () => {
    const stack = newStack();
    const listen = vi.spyOn(net.Server.prototype, "listen");
    await stack.up(() => void new Thing(new Echo(), "a", { text: "-" }, { transforms: [appending("x")] }));
    expect(listen).not.toHaveBeenCalled();
    expect(resourceOf(stack, "a").inputs?.text).toBe("-x");
});
