// Why an operation failed, as a program goes on by it: a reason, a line of text, and who holds the stack.
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TryLater } from "maloko";
import {
    type CommandError,
    ConcurrentUpdateError,
    LocalWorkspace,
    type LocalWorkspaceOptions,
    mayPass,
    type Stack,
    StackAlreadyExistsError,
    StackNotFoundError,
} from "maloko/automation";
import { expect, test } from "vitest";
import { directory, echo, newStack, placed } from "../support/automation-kit";
import { Echo, failureOf, heldCreate, type Props, Thing } from "../support/kit";

const MODULES = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");

const commandErrorOf = async (failing: Promise<unknown>) => (await failureOf(failing)) as CommandError;

const one = (provider: object, protect?: boolean) => async () =>
    void new Thing(provider as Echo, "a", { text: "it" }, protect === undefined ? {} : { protect });

test("what a provider or the program does is told apart", async () => {
    const failing = {
        create: async (inputs: Props) => {
            throw new Error(`no room for ${inputs.text}`);
        },
    };
    const refusing = {
        ...failing,
        check: async (_olds: Props, news: Props) => ({
            inputs: news,
            failures: [{ property: "text", reason: "too short" }],
        }),
    };
    const raises = async () => {
        throw new RangeError("plan");
    };
    for (const [program, reason, text] of [
        [one(failing), "provider", "no room for it"],
        [one(refusing), "inputs", "text is not valid: too short"],
        [raises, "program", "RangeError: plan"],
    ] as const) {
        const error = await commandErrorOf((await newStack(program)).up());
        expect([error.reason, error.holder]).toEqual([reason, undefined]);
        expect(error.text).toContain(text);
        expect(error.text).not.toContain("\n");
        expect(mayPass(error.reason)).toBe(false);
    }
});

test("what is protected or not expected is told apart", async () => {
    const stack = await newStack(one(new Echo(), true));
    await stack.up();
    expect((await commandErrorOf(stack.destroy())).reason).toBe("protected");
    stack.workspace.program = async () => {
        await one(new Echo(), true)();
        new Thing(new Echo(), "b", {});
    };
    expect((await commandErrorOf(stack.up({ expectNoChanges: true }))).reason).toBe("unexpected-changes");
});

test("stacks that are missing or there already have classes of their own", async () => {
    const options = placed();
    await newStack(echo, options);
    const there = await commandErrorOf(newStack(echo, options));
    expect([there instanceof StackAlreadyExistsError, there.reason]).toEqual([true, "stack-exists"]);
    const args = { stackName: "prod", projectName: "project", program: echo };
    const missing = await commandErrorOf(LocalWorkspace.selectStack(args, options));
    expect([missing instanceof StackNotFoundError, missing.reason]).toEqual([true, "no-stack"]);
});

test("keys states backends and settings are told apart", async () => {
    const state = directory();
    const variables = { PULUMI_BACKEND_URL: `file://${state}` };
    const stack = await newStack(echo, placed({ envVars: variables }));
    await stack.up();
    const { envVars } = stack.workspace;
    const failedWith = async (others: Record<string, string>) => {
        stack.workspace.envVars = { ...envVars, ...others };
        return await commandErrorOf(stack.refresh());
    };
    expect((await failedWith({ PULUMI_CONFIG_PASSPHRASE: "wrong" })).reason).toBe("key");
    const away = await failedWith({ PULUMI_BACKEND_URL: "postgres://nobody@127.0.0.1:1/none" });
    expect([away.reason, mayPass(away.reason)]).toEqual(["backend", true]);
    expect((await failedWith({ MALOKO_ATTEMPT: "two" })).reason).toBe("configuration");
    const file = join(state, ".pulumi/stacks/project/dev.json");
    writeFileSync(file, readFileSync(file, "utf8").slice(0, -20));
    expect((await failedWith({})).reason).toBe("damaged");
});

/** An `up` that is in a `create` until it is told to go on. */
async function running(options: LocalWorkspaceOptions) {
    const { provider, begun, letGo } = heldCreate();
    const stack: Stack = await newStack(one(provider), options);
    const failing = commandErrorOf(stack.up());
    await begun;
    const ended = async () => {
        letGo();
        return await failing;
    };
    return { stack, ended };
}

test("who holds a stack is told with its attempt", async () => {
    const { stack, ended } = await running(placed({ envVars: { MALOKO_ATTEMPT: "tenants:up/dev:3" } }));
    const refused = await commandErrorOf(stack.up());
    expect([refused instanceof ConcurrentUpdateError, refused.reason, mayPass(refused.reason)]).toEqual([
        true,
        "locked",
        true,
    ]);
    expect(refused.holder).toMatchObject({ operation: "maloko up", run: "tenants:up/dev", attempt: 3 });
    expect(refused.holder?.pid).toBeGreaterThan(0);
    expect(refused.holder?.since).toMatch(/^20/);
    expect(refused.text).toContain("attempt 3 at 'tenants:up/dev'");
    // Somebody takes the stack from it: the run ends, whatever comes of its call.
    const { workDir, envVars, pulumiCommand } = stack.workspace;
    await pulumiCommand.run(["cancel", "--yes", "--stack", "dev"], workDir, envVars);
    const lost = await ended();
    expect([lost.reason, mayPass(lost.reason)]).toEqual(["lease-lost", true]);
});

test("a run that is stopped says so", async () => {
    const { stack, ended } = await running(placed());
    await stack.cancel();
    const stopped = await ended();
    expect([stopped.reason, stopped.code, mayPass(stopped.reason)]).toEqual(["cancelled", 8, false]);
});

const MAKES = `
const pulumi = require("@pulumi/pulumi");
class Thing extends pulumi.dynamic.Resource {}
new Thing({ create: async (inputs) => ({ id: "made", outs: inputs }) }, "a", {});
`;

test("a program in a process of its own tells the same", async () => {
    const options = placed();
    const workDir = options.workDir as string;
    symlinkSync(MODULES, join(workDir, "node_modules"));
    writeFileSync(join(workDir, "Pulumi.yaml"), "name: project\nruntime: nodejs\n");
    const program = (text: string) => writeFileSync(join(workDir, "index.js"), text);
    program('throw new RangeError(new (require("@pulumi/pulumi").Config)().require("plan"));');
    const stack = await LocalWorkspace.createStack({ stackName: "dev", workDir }, options);
    const unset = await commandErrorOf(stack.up());
    expect([unset.reason, unset.text.includes("plan")]).toEqual(["program", true]);
    await stack.setConfig("plan", { value: "gold" });
    expect((await commandErrorOf(stack.up())).text).toContain("RangeError: gold");
    program(MAKES);
    expect((await commandErrorOf(stack.preview({ expectNoChanges: true }))).reason).toBe("unexpected-changes");
    stack.workspace.envVars = { ...stack.workspace.envVars, PULUMI_CONFIG_PASSPHRASE: "wrong" };
    // It has not begun.
    expect((await commandErrorOf(stack.up())).reason).toBe("key");
});

/** A service's own word for it. */
class Busy extends TryLater {
    constructor() {
        super("7.5", "429: too many requests");
    }
}

class Asking extends Echo {
    static retryableErrors = [RangeError];

    constructor(
        readonly error: Error,
        readonly method: string,
    ) {
        super();
    }

    async check(_olds: Props, news: Props) {
        return { inputs: this.#ask("check", news), failures: [] };
    }

    override async create(inputs: Props) {
        return super.create(this.#ask("create", inputs));
    }

    #ask(method: string, inputs: Props): Props {
        if (method === this.method) {
            throw this.error;
        }
        return inputs;
    }
}

test("a provider says whether its failure may pass", async () => {
    const busy = new Busy();
    class Gone extends RangeError {}
    for (const [error, method, transient, wait] of [
        [busy, "create", true, 7.5],
        [busy, "check", true, 7.5],
        [new TryLater(-1), "create", true, 0],
        // A subclass of one that is declared.
        [new Gone("gone"), "create", true, undefined],
        [new TypeError("nowhere"), "create", false, undefined],
        [Object.assign(new Error("not started"), { id: "id" }), "create", false, undefined],
    ] as const) {
        const failure = await commandErrorOf((await newStack(one(new Asking(error, method)))).up());
        expect([failure.transient, failure.retryAfter]).toEqual([transient, wait]);
        expect([failure.reason, failure.method]).toEqual(["provider", method]);
        expect(failure.cause).toBe(error);
    }
    // An object says it for itself.
    const create = async () => {
        throw new RangeError("gone");
    };
    const failure = await commandErrorOf((await newStack(one({ create, retryableErrors: [RangeError] }))).up());
    expect([failure.transient, failure.retryAfter]).toEqual([true, undefined]);
    expect([busy.message, new TryLater(2).message]).toEqual([
        "429: too many requests",
        "the service asks to be tried again in 2 s",
    ]);
});

test("what is no class of errors is refused when the provider is used", async () => {
    class Wrong extends Echo {
        static retryableErrors = ["RangeError"];
    }
    const failure = await commandErrorOf((await newStack(one(new Wrong()))).up());
    expect(failure.reason).toBe("program");
    expect(failure.toString()).toContain("retryableErrors");
});

const ASKS_LATER = `
const { TryLater } = require("maloko");
const pulumi = require("@pulumi/pulumi");
class Thing extends pulumi.dynamic.Resource {}
const create = async () => {
    throw new TryLater(30, "429");
};
new Thing({ create }, "a", {});
`;

test.each([false, true])("a provider in a process of its own says when to try again", async (isolated) => {
    const options = placed();
    const workDir = options.workDir as string;
    symlinkSync(MODULES, join(workDir, "node_modules"));
    writeFileSync(join(workDir, "Pulumi.yaml"), "name: project\nruntime: nodejs\n");
    writeFileSync(join(workDir, "index.js"), ASKS_LATER);
    const stack = await LocalWorkspace.createStack({ stackName: "dev", workDir }, options);
    const failure = await commandErrorOf(stack.up({ isolated }));
    expect([failure.transient, failure.retryAfter, failure.reason]).toEqual([true, 30, "provider"]);
    expect(failure.text).toContain("429");
});
