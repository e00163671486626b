// The SDK's `stateMigrations`: functions of the program that rewrite the state before it is compared.
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { Echo, newStack, type Props, Thing } from "../support/kit";

/** Runs a program whose first resource has the migration; previews first, which must say the same. */
async function migrated(
    stack: ReturnType<typeof newStack>,
    program: (opts: pulumi.ResourceOptions) => void,
    migration: pulumi.StateMigration,
    expected: Record<string, number>,
): Promise<void> {
    const withMigration = () => program({ stateMigrations: [migration] });
    expect((await stack.run("update", withMigration, { dryRun: true })).changes).toEqual(expected);
    expect((await stack.up(withMigration)).changes).toEqual(expected);
}

function errors(result: { diagnostics: { severity: string; message: string }[] }): string {
    return result.diagnostics
        .filter(({ severity }) => severity === "error")
        .map(({ message }) => message)
        .join();
}

test("a migration rewrites inputs before they are compared", async () => {
    const stack = newStack();
    const token = () => pulumi.secret("s3cret");
    await stack.up(() => void new Thing(new Echo(), "a", { size: 1, token: token() }));
    const seen: string[] = [];
    const rename: pulumi.StateMigration = ({ urn, oldState }) => {
        seen.push(urn);
        const [resource] = oldState as [{ inputs: Props; outputs: Props }];
        if (!("size" in resource.inputs)) {
            return undefined;
        }
        for (const bag of [resource.inputs, resource.outputs]) {
            bag.width = bag.size;
            delete bag.size;
        }
        expect(JSON.stringify(resource.inputs.token)).toContain("s3cret");
        return { newState: [resource] };
    };
    const program = (opts: pulumi.ResourceOptions) =>
        void new Thing(new Echo(), "a", { width: 1, token: token() }, opts);
    await migrated(stack, program, rename, { same: 2 });
    expect(stack.resources().a?.inputs).toMatchObject({ width: 1 });
    expect(stack.resources().a?.inputs).not.toHaveProperty("size");
    expect(seen[0]).toMatch(/::a$/);
    // It is called again, finds nothing to do, and leaves everything alone.
    await migrated(stack, program, rename, { same: 2 });
    expect(seen).toHaveLength(4);
    expect(JSON.stringify(stack.resources().a?.inputs)).toContain("1b47061264138c4ac30d75fd1eb44270");
});

test("a migration that raises fails the run with its error", async () => {
    const stack = newStack();
    await stack.up(() => void new Thing(new Echo(), "a", { n: 1 }));
    const broken: pulumi.StateMigration = () => {
        throw new Error("no such shape");
    };
    const opts = { stateMigrations: [broken] };
    const result = await stack.run("update", () => void new Thing(new Echo(), "a", { n: 2 }, opts));
    expect(result.outcome).toBe("failed");
    expect(errors(result)).toContain("a state migration of 'a' failed");
    expect(errors(result)).toContain("no such shape");
    expect(stack.resources().a?.inputs).toMatchObject({ n: 1 });
});
