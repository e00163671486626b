// `close` of a provider: once for each that was configured, at the end of the run.

import { currentCall } from "maloko";
import { checkLaws, checkLifecycle, Kit } from "maloko/vitest";
import { beforeEach, expect, test } from "vitest";
import { besideAnotherRun, Echo, newStack, type Props, Thing } from "../support/kit";
import { atNight, NIGHT } from "../support/night";
import { bucketInputs, bucketOptions, GoodProvider, Service } from "../support/planted";
import { project } from "../support/project";

const nightly = atNight(test);

interface Request {
    config: { get(key: string): string | undefined };
}

const log: string[] = [];
let open = 0;
let most = 0;

beforeEach(() => {
    log.length = 0;
    open = 0;
    most = 0;
});

function opened(): void {
    open++;
    most = Math.max(most, open);
    log.push("configure");
}

function closed(): void {
    open--;
    log.push("close");
}

/** Opens a connection when it is configured. */
class Connected {
    async configure({ config }: Request): Promise<void> {
        if (config.get("refused") !== undefined) {
            throw new Error("refused");
        }
        opened();
    }

    async check(_olds: Props, inputs: Props) {
        return { inputs };
    }

    async create(inputs: Props) {
        log.push("create");
        return { id: "made", outs: inputs };
    }

    async delete() {
        log.push("delete");
    }

    close(): unknown {
        closed();
        return undefined;
    }
}

class Awaiting extends Connected {
    override async close(): Promise<void> {
        await Promise.resolve();
        closed();
    }
}

const told = ({ diagnostics }: { diagnostics: { severity: string; message: string }[] }): string[] =>
    diagnostics
        .filter(({ message }) => message.includes("`close`"))
        .map(({ severity, message }) => `${severity}: ${message}`);

test("providers may have close", async () => {
    for (const Kind of [Connected, Awaiting]) {
        const kit = new Kit({ title: "a test", file: import.meta.filename, replay: "" });
        const provider = new Kind();
        let wanted = 20;
        const stack = kit.stack(
            () => {
                for (let n = 0; n < wanted; n++) {
                    new Thing(provider, `r${n}`);
                }
                new Thing(provider, "stays");
            },
            { settle: false },
        );
        await stack.up();
        expect([log[0], log.at(-1), log.filter((it) => it === "close").length, open]).toEqual([
            "configure",
            "close",
            1,
            0,
        ]);
        // What leaves the program is deleted first.
        log.length = 0;
        wanted = 0;
        await stack.up();
        expect(log).toEqual(["configure", ...Array(20).fill("delete"), "close"]);
        await kit.finish();
        log.length = 0;
    }
});

const CANCELLED = `
import * as fs from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { currentCall } from "maloko";

class Connected {
    async configure() {}

    async create() {
        fs.writeFileSync("started", "");
        const { signal } = currentCall()!;
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        return { id: "made", outs: {} };
    }

    async close() {
        await Promise.resolve();
        fs.writeFileSync("closed", "");
    }
}

class Thing extends pulumi.dynamic.Resource {
    constructor() {
        super(new Connected() as pulumi.dynamic.ResourceProvider, "a", {});
    }
}
new Thing();
`;

test("close is called when a run is cancelled", async () => {
    const it = project({ "index.ts": CANCELLED });
    await it.interrupted(["up", "--yes", "--skip-preview", "--stack", "dev"], async (child) => {
        child.signal("SIGINT");
    });
    expect(it.read("closed")).toBe("");
});

test("a provider that was not configured is not closed", async () => {
    class Without extends Echo {
        close(): never {
            throw new Error("never");
        }
    }
    expect(told(await newStack().up(() => void new Thing(new Without(), "a")))).toEqual([]);
    const stack = newStack({ config: { "project:refused": "yes" } });
    expect((await stack.run("update", () => void new Thing(new Connected(), "b"))).outcome).toBe("failed");
    expect(log).toEqual([]);
});

test("a close that takes arguments is a helper", async () => {
    class Helped extends Echo {
        async configure() {}

        close(why: string): never {
            throw new Error(why);
        }
    }
    expect(told(await newStack().up(() => void new Thing(new Helped(), "a")))).toEqual([]);
});

test("an error of close is a warning that names the provider", async () => {
    class Broken extends Connected {
        override close(): unknown {
            return Promise.reject(new Error("the connection is gone"));
        }
    }
    const result = await newStack().up(() => void new Thing(new Broken(), "a"));
    expect(told(result)).toEqual([expect.stringMatching(/^warning: `close` of Broken failed.*the connection is gone/)]);
});

test("a close that hangs is given up", async () => {
    let over = false;
    class Hanging extends Connected {
        override close(): unknown {
            const signal = currentCall()?.signal;
            return new Promise(() => {
                signal?.addEventListener("abort", () => {
                    over = true;
                });
            });
        }
    }
    const stack = newStack({ config: { "maloko:callLimit": "3s" } });
    const result = await stack.up(() => void new Thing(new Hanging(), "a"));
    expect(told(result)).toEqual([expect.stringContaining("took longer than 3s")]);
    expect(over).toBe(true);
});

test("a copy that a second run was given is closed", async () => {
    const provider = new Connected();
    await besideAnotherRun(
        () => new Thing(provider, "first"),
        async () => {
            await newStack().up(() => void new Thing(provider, "a"));
            expect(log).toEqual(["configure", "create", "configure", "create", "close"]);
        },
    );
    expect(open).toBe(0);
});

/** A provider of things in a world, over a connection. */
class Pooled extends GoodProvider {
    async configure() {
        opened();
    }

    override async create(inputs: Props) {
        expect(open, "the connection is closed").toBeGreaterThan(0);
        return super.create(inputs as never);
    }

    override async delete(id: string, props: Props) {
        expect(open, "the connection is closed").toBeGreaterThan(0);
        return super.delete(id, props as never);
    }

    async close() {
        closed();
    }
}

test("the kits call close", async () => {
    const kit = new Kit({ title: "a test", file: import.meta.filename, replay: "" });
    const direct = kit.direct(new Connected());
    await direct.configure();
    await direct.create({});
    expect(open).toBe(1);
    const stack = kit.stack(() => void new Thing(new Connected(), "a"));
    await stack.up();
    expect(open).toBe(1);
    await kit.finish();
    expect(open).toBe(0);
    expect(stack.calls.of("close")).toHaveLength(stack.calls.of("configure").length);
});

nightly("laws and lifecycles end with no connection open", async () => {
    const verdicts = await checkLaws(Pooled, { ...bucketOptions, examples: NIGHT ? 3 : 1 });
    expect(verdicts.filter(({ status }) => status === "broken").map(({ text }) => text)).toEqual([]);
    expect([open, most > 0]).toEqual([0, true]);
    const options = { inputs: bucketInputs, world: Service, seed: 20, examples: NIGHT ? 30 : 10 };
    const { error, rules } = await checkLifecycle(Pooled, options);
    expect(error).toBeUndefined();
    expect(Object.keys(rules)).toContain("crash");
    expect(open).toBe(0);
    // One for each run that goes on.
    expect(most).toBeLessThan(5);
});
