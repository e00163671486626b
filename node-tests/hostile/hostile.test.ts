// Every behaviour in every method: no hang, no abort, a typed error on the resource, the rest of the stack as it was, and
// a next run that works. docs/internals/hostile-providers.md is the table of what was seen.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Echo, type Props, Thing } from "../support/kit";
import { byDay } from "../support/night";
import { type Result, Stack } from "../support/stacks";
import { type Behaviour, expected, type Good, hidesAnObject, TABLE, undone } from "./behaviours";
import { checkDocument, METHODS, note } from "./table";

// In memory, where there is such a place: what is written there thousands of times is of no use afterwards.
const PLACE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

// Far above what a good call takes on a busy machine: such a call must not be given up in place of the hostile one.
const LIMIT = { config: { "maloko:callLimit": "1500ms" } };

/** Makes the answer that the method should give, with such properties. */
function goodAnswer(method: string): Good {
    const answers: Record<string, Good> = {
        configure: () => undefined,
        check: (outs) => ({ inputs: outs }),
        diff: () => ({ changes: true }),
        create: (outs, id = "made") => ({ id, outs }),
        read: (outs, id = "made") => ({ id, props: outs }),
        update: (outs) => ({ outs }),
        delete: () => undefined,
    };
    return answers[method] as Good;
}

class Good1 extends Echo {
    async configure(): Promise<void> {}

    async check(_olds: Props, news: Props) {
        return { inputs: news };
    }

    async diff(_id: string, olds: Props, news: Props): Promise<object> {
        return { changes: olds.n !== news.n };
    }

    async read(id: string, props: Props) {
        return { id, props };
    }

    async update(_id: string, _olds: Props, news: Props) {
        return { outs: news };
    }

    async delete(): Promise<void> {}
}

const bystander = (): void => void new Thing(new Echo(), "bystander", { n: 1 });

function up(stack: Stack, provider: object, n: number): Promise<Result> {
    return stack.run("update", () => {
        bystander();
        new Thing(provider, "a", { n });
    });
}

/** State in which there is the bystander alone, and one in which there is `a` as well: every test goes on from a copy. */
const prepared = { without: "", with: "" };

beforeAll(async () => {
    prepared.without = mkdtempSync(join(PLACE, "maloko-hostile-"));
    prepared.with = mkdtempSync(join(PLACE, "maloko-hostile-"));
    expect((await new Stack({ directory: prepared.without }).run("update", bystander)).outcome).toBe("succeeded");
    cpSync(prepared.without, prepared.with, { recursive: true });
    expect((await up(new Stack({ directory: prepared.with }), new Good1(), 1)).outcome).toBe("succeeded");
});

afterAll(() => {
    rmSync(prepared.without, { recursive: true });
    rmSync(prepared.with, { recursive: true });
});

const MAKING = ["configure", "check", "create"];

/** Runs with the resource in the state in which the method is called. */
async function runWith(stack: Stack, method: string, provider: object): Promise<Result> {
    if (MAKING.includes(method)) {
        return up(stack, provider, 2);
    }
    if (method === "read") {
        return stack.run("refresh", () => {
            bystander();
            new Thing(provider, "a", { n: 1 });
        });
    }
    if (method === "delete") {
        Object.assign(provider, { diff: async () => ({ changes: true, replaces: ["n"], deleteBeforeReplace: true }) });
    }
    return up(stack, provider, 2);
}

function errors({ diagnostics }: Result): string {
    const own = diagnostics.filter(({ severity, urn }) => severity === "error" && urn?.endsWith("::a"));
    return own.map(({ message }) => message).join("\n");
}

/** The outcome in a word. */
function seen(result: Result): string {
    if (result.outcome === "succeeded") {
        return "fine";
    }
    return errors(result).includes("took longer than") ? "given up" : "error";
}

function pending(directory: string): string[] {
    const file = join(directory, ".pulumi", "stacks", "project", "dev.json");
    const { checkpoint } = JSON.parse(readFileSync(file, "utf8")) as Props;
    return (checkpoint.latest.pending_operations ?? []).map(({ type }: Props) => type);
}

// One of each behaviour's methods; Python has others. In `make nightly` all of them in both languages.
const ROWS = TABLE.map((behaviour, row): [string, Behaviour, string[]] => {
    const tried = byDay(METHODS, (_, column) => (row + column) % 7 === 3);
    return [behaviour.name, behaviour, tried];
});

describe.each(ROWS)("%s", (_, behaviour, methods) => {
    test.each(methods)("hostile: %s", async (method) => {
        const directory = mkdtempSync(join(PLACE, "maloko-hostile-"));
        onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
        cpSync(MAKING.includes(method) ? prepared.without : prepared.with, directory, { recursive: true });
        const stack = new Stack({ directory });
        const limited = behaviour.kind === "hangs" ? new Stack({ directory, ...LIMIT }) : stack;
        const bad = Object.assign(new Good1(), { [method]: () => behaviour.play(goodAnswer(method), method) });
        const result = await undone(() => runWith(limited, method, bad));
        const outcome = seen(result);
        expect(outcome, JSON.stringify(result.diagnostics)).toBe(expected(behaviour, method));
        note("nodejs", behaviour.name, method, outcome);
        const resources = stack.resources();
        expect(resources.bystander?.outputs).toMatchObject({ n: 1 });
        if (outcome !== "fine") {
            const said = errors(result);
            expect(said).toMatch(behaviour.says ?? /./);
            expect(said.length).toBeLessThan(100_000);
            await goesOn(stack, directory, behaviour, method, resources);
        }
    });
});

/** After the failure the state says what is known, and a correct provider brings the stack to where it should be. */
async function goesOn(
    stack: Stack,
    directory: string,
    behaviour: Behaviour,
    method: string,
    resources: Props,
): Promise<void> {
    if (["configure", "check", "diff", "read"].includes(method)) {
        // Nothing was changed outside.
        expect(pending(directory)).toEqual([]);
        expect("a" in resources).toBe(method === "diff" || method === "read");
    } else if (method === "create") {
        expect(pending(directory)).toEqual(hidesAnObject(behaviour, method) ? ["creating"] : []);
    } else {
        expect(resources).toHaveProperty("a");
    }
    const again = await up(stack, new Good1(), 3);
    expect(again.outcome, JSON.stringify(again.diagnostics)).toBe("succeeded");
    expect(stack.resources().a?.outputs).toMatchObject({ n: 3 });
    if (hidesAnObject(behaviour, method)) {
        expect(again.diagnostics.map(({ message }) => message).join()).toContain(
            "there may now be one object too many",
        );
    }
}

test("the table in the documents is what was seen", () => {
    checkDocument("nodejs", TABLE.length * METHODS.length);
});

test("there are fifty behaviours and more each with a name of its own", () => {
    expect(TABLE.length).toBeGreaterThanOrEqual(50);
    expect(new Set(TABLE.map(({ name }) => name)).size).toBe(TABLE.length);
});
