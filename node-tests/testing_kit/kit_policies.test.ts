// Policies that look at what a stack of the testing kit does: objects of the official package, and folders of packs.
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ResourceValidationArgs, ResourceValidationPolicy, StackValidationPolicy } from "@pulumi/policy";
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "maloko/vitest";
import { Echo, Thing } from "../support/kit";

const PACK = `
const { PolicyPack } = require("@pulumi/policy");
new PolicyPack("house", { policies: [{ name: "look", description: "d", validateResource: (args, report) => {
    if (args.name === "b") report("here, too");
} }] });
`;

function program(): void {
    const things = new Echo();
    new Thing(things, "a", { text: "long enough", password: pulumi.secret("hush") });
    new Thing(things, "b", { text: "short" });
}

const SHORT: ResourceValidationPolicy = {
    name: "short",
    description: "Texts are long.",
    configSchema: { properties: { least: { type: "number", default: 6 } } },
    validateResource: (args, report) => {
        const { least } = args.getConfig<{ least: number }>();
        if (typeof args.props.text === "string" && args.props.text.length < least) {
            report(`${pulumi.getProject()}: fewer than ${least} letters`);
        }
    },
};
const MANDATORY: ResourceValidationPolicy = { ...SHORT, enforcementLevel: "mandatory" };

test("policies of a test look at every resource", async ({ stack }) => {
    const [found, ...others] = (await stack(program).up({ policies: [SHORT] })).violations;
    expect(others).toEqual([]);
    expect(found).toMatchObject({ policy: "short", pack: "policies", level: "advisory", name: "b" });
    expect(found?.message).toBe("Texts are long.\nproject: fewer than 6 letters");
});

test("a mandatory policy fails the run and nothing is made", async ({ stack }) => {
    const s = stack(program);
    const why = /mandatory policies are violated: short \(b\): Texts are long/;
    await expect(s.preview({ policies: [MANDATORY] })).rejects.toThrow(why);
    const run = await s.run("up", { policies: [MANDATORY] });
    expect(run.outcome).toBe("failed");
    expect(run.violations.map(({ name }) => name)).toEqual(["b"]);
    expect(s.resources()).not.toHaveProperty("b");
});

test("policies of a test are configured", async ({ stack }) => {
    const s = stack(program);
    const policyConfig = { short: { least: 20, enforcementLevel: "advisory" } };
    const { violations } = await s.run("preview", { policies: [MANDATORY], policyConfig });
    expect(violations.map(({ name }) => name).sort()).toEqual(["a", "b"]);
    const disabled = await s.run("preview", { policies: [MANDATORY], policyConfig: { all: "disabled" } });
    expect(disabled.violations).toEqual([]);
    const wrong = s.preview({ policies: [SHORT], policyConfig: { shorter: "advisory" } });
    await expect(wrong).rejects.toThrow("names 'shorter', which is none of its policies");
});

test("a policy rewrites what a stack makes", async ({ stack }) => {
    const policy: ResourceValidationPolicy = {
        name: "longer",
        description: "d",
        enforcementLevel: "remediate",
        remediateResource: ({ props }) => (props.text === "short" ? { ...props, text: "long enough" } : undefined),
    };
    const s = stack(program);
    const { remediations } = await s.up({ policies: [policy], settle: false });
    expect(s.outputs("b").text).toBe("long enough");
    expect(remediations).toMatchObject([
        { policy: "longer", name: "b", before: { text: "short" }, after: { text: "long enough" } },
    ]);
});

test("a policy looks at the whole stack", async ({ stack }) => {
    const policy: StackValidationPolicy = {
        name: "count",
        description: "d",
        validateStack: async ({ resources }, report) => {
            report(`${resources.filter(({ props }) => "text" in props).length} things`);
        },
    };
    const { violations } = await stack(program).up({ policies: [policy] });
    expect(violations.map(({ message }) => message)).toEqual(["d\n2 things"]);
});

test("a policy that raises ends the run with its words", async ({ stack }) => {
    const policy: ResourceValidationPolicy = {
        name: "broken",
        description: "d",
        validateResource: () => {
            throw new Error("out of paper");
        },
    };
    const run = await stack(program).run("preview", { policies: [policy] });
    expect(run.outcome).toBe("failed");
    expect(run.error).toContain("out of paper");
});

test("policies see that a value is secret and tell nobody", async ({ stack }) => {
    const has = ({ props }: ResourceValidationArgs): boolean => "password" in props;
    const policies: ResourceValidationPolicy[] = [
        {
            name: "look",
            description: "d",
            validateResource: (args, report) => {
                if (has(args)) {
                    report(`its password is ${args.props.password}`);
                }
            },
        },
        {
            name: "same",
            description: "d",
            enforcementLevel: "remediate",
            remediateResource: (args) => (has(args) ? { ...args.props, text: "new" } : undefined),
        },
    ];
    const run = await stack(program).run("preview", { policies });
    expect(run.violations[0]?.message).toContain("its password is");
    expect(run.violations[0]?.message).not.toContain("hush");
    expect(run.remediations[0]?.before.password).toBe("[secret]");
});

test("folders of packs look beside the policies of a test", async ({ stack }) => {
    const folder = mkdtempSync(join(tmpdir(), "maloko-pack-"));
    writeFileSync(join(folder, "PulumiPolicy.yaml"), "runtime: nodejs\n");
    writeFileSync(join(folder, "package.json"), '{"name": "house", "version": "0.0.7", "main": "index.js"}');
    writeFileSync(join(folder, "index.js"), PACK);
    symlinkSync(join(dirname(import.meta.dirname), "node_modules"), join(folder, "node_modules"));
    const { violations } = await stack(program).run("preview", { policies: [SHORT, folder] });
    expect(violations.map(({ pack, name, message }) => [pack, name, message]).sort()).toEqual([
        ["house", "b", "d\nhere, too"],
        ["policies", "b", "Texts are long.\nproject: fewer than 6 letters"],
    ]);
});

test("what is no policy is refused", async ({ stack }) => {
    const s = stack(program);
    const refused = (policies: unknown): Promise<unknown> => s.preview({ policies: policies as [] });
    await expect(refused([5])).rejects.toThrow("takes policies of @pulumi/policy and folders of packs, not 5");
    await expect(s.run("destroy", { policies: [SHORT] })).rejects.toThrow("has no option `policies`");
    await expect(s.preview({ policyConfig: {} })).rejects.toThrow("for no policies");
    await expect(refused(["not-there"])).rejects.toThrow("no PulumiPolicy.yaml");
});
