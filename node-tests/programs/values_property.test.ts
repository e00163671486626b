// Whatever a value is, and wherever the state is kept: it comes back as it was, or it is said that it does not (P9 of docs/internals/reliability.md).
// The values are drawn from a seed (`MALOKO_VALUES_SEED`), each as an input and as an output of a resource of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type * as pulumi from "@pulumi/pulumi";
import { expect, onTestFinished, test } from "vitest";
import { failureOf, newStack, Thing } from "../support/kit";
import { byDay, NIGHT } from "../support/night";
import { Project } from "../support/project";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const SERVERS = join(ROOT, "engine-stores", "tests");
const SEED = Number(process.env.MALOKO_VALUES_SEED ?? "1");
const NUMBER = NIGHT ? 120 : 40;

const PROGRAM = `import { appendFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";

const SPECIAL: any[] = [
    2 ** 53 - 1, 2 ** 53, 2 ** 63, -(2 ** 63), 1e20, 1e22, 0, -0, NaN, Infinity, -Infinity, 5e-324, 1.7976931348623157e308, 0.1,
    true, false, null, "", "\\\\0", "NaN", "\\u{1F40E}", "\\\\u2028", "__proto__", "x".repeat(100_000), "\\u{17E}\\u{1F40E}".repeat(20_000),
    JSON.parse('{"__proto__": {"polluted": true}}'), JSON.parse('{"constructor": 1, "": 2}'), { "a.b[0]": [{ '"': "'" }] },
    [], {}, [[]], [null, null], { hasOwnProperty: 0, valueOf: 1 },
];
const KEYS = ["a", "", "__proto__", "a.b", "[0]", "\\u{17E}", "4dabf18193072939515e22adb298388x", "constructor", "length"];

// mulberry32
function drawing(seed: number): (end: number) => number {
    return (end) => {
        seed = (seed + 0x6d2b79f5) | 0;
        let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
    };
}

function drawn(draw: (end: number) => number, depth: number): any {
    const kind = draw(depth > 0 ? 10 : 7);
    if (kind < 3) {
        return SPECIAL[draw(SPECIAL.length)];
    }
    if (kind === 3) {
        return draw(2 ** 32) * 2 ** draw(50) * (draw(2) ? 1 : -1);
    }
    if (kind === 4) {
        return (draw(2) ? 1 : -1) * (draw(2 ** 30) / 2 ** 30) * 10 ** (draw(600) - 300);
    }
    if (kind < 7) {
        const ranges = [[0, 0x80], [0, 0xd800], [0xe000, 0x110000]];
        const letter = () => {
            const [from, to] = ranges[draw(3)] as [number, number];
            return String.fromCodePoint(from + draw(to - from));
        };
        return Array.from({ length: draw(20) }, letter).join("");
    }
    if (kind === 7) {
        return Array.from({ length: draw(4) }, () => drawn(draw, depth - 1));
    }
    if (kind === 8) {
        return Object.fromEntries(Array.from({ length: draw(4) }, () => [KEYS[draw(KEYS.length)], drawn(draw, depth - 1)]));
    }
    let deep = drawn(draw, 0);
    const levels = [5, 20, 26][draw(3)] as number;
    for (let level = 0; level < levels; level++) {
        deep = level % 2 ? [deep] : { d: deep };
    }
    return deep;
}

function same(one: any, other: any): boolean {
    if (one === null || other === null || typeof one !== "object" || typeof other !== "object") {
        return Object.is(one, other);
    }
    const keys = Object.keys(one);
    return (
        Array.isArray(one) === Array.isArray(other) &&
        keys.length === Object.keys(other).length &&
        keys.every((key) => Object.hasOwn(other, key) && same(one[key], other[key]))
    );
}

// The SDK makes another object of one with a member of this name, before anybody sees it.
function losesMembers(value: any): boolean {
    return (
        value !== null &&
        typeof value === "object" &&
        Object.entries(value).some(([key, member]) => key === "__proto__" || losesMembers(member))
    );
}

function note(what: string, name: string, kept: boolean): void {
    appendFileSync("seen.jsonl", JSON.stringify([what, name, kept]) + "\\n");
}

const VALUES = new Map<string, any>();
for (let number = 0; number < NUMBER; number++) {
    VALUES.set("value-" + number, [drawn(drawing(SEED * 100_003 + number), 3)]);
}
SPECIAL.forEach((value, number) => void VALUES.set("special-" + number, [value]));

const keeping: any = {
    async create(props: any) {
        if ("in" in props) {
            note("input", props.name, same(props.in, VALUES.get(props.name.slice("in-".length))));
            return { id: props.name, outs: { name: props.name } };
        }
        return { id: props.name, outs: { name: props.name, value: VALUES.get(props.name.slice("out-".length)) } };
    },
    async diff(_id: string, olds: any, news: any) {
        if (!("in" in news)) {
            note("output", news.name, same(olds.value, VALUES.get(news.name.slice("out-".length))));
        }
        return { changes: false };
    },
};
class Kept extends pulumi.dynamic.Resource {
    constructor(name: string, inputs: any = {}) {
        super(keeping, name, { name, value: undefined, ...inputs });
    }
}
for (const [name, value] of VALUES) {
    if (!losesMembers(value)) {
        new Kept("in-" + name, { in: value });
    }
    new Kept("out-" + name);
}`;

/** What a server says first: where it is. */
async function started(command: string, args: string[]): Promise<string> {
    const server: ChildProcess = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void server.stdin?.end());
    const [line] = await once(createInterface({ input: server.stdout as NodeJS.ReadableStream }), "line");
    return String(line);
}

/** The variables of a store of each kind. */
const places: Record<string, () => Promise<NodeJS.ProcessEnv>> = {
    directory: async () => ({}),
    s3: async () => {
        const python = join(ROOT, ".venv", "bin", "python");
        const port = await started(python, [join(SERVERS, "servers", "moto_server.py")]);
        const url = `s3://states/values?region=us-east-1&endpoint=http://127.0.0.1:${port}`;
        return { MALOKO_BACKEND_URL: url, AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
    },
    postgres: async () => ({
        MALOKO_BACKEND_URL: `${await started(join(SERVERS, "postgres-server"), [])}&schema=values`,
    }),
};

// What a store does is the same Rust code, which Python asks by day.
test.each(
    byDay(Object.keys(places), (place) => place === "directory"),
)("values survive in every store or it is said that they do not: %s", async (place) => {
    const variables = await (places[place] as () => Promise<NodeJS.ProcessEnv>)();
    const program = PROGRAM.replaceAll("SEED", String(SEED)).replaceAll("NUMBER", String(NUMBER));
    const project = new Project({ "index.ts": program }, onTestFinished, variables);
    const once = ["--yes", "--skip-preview", "--stack", "dev", "--json"];
    const said = project.ok("up", ...once) + project.ok("up", ...once, "--expect-no-changes");
    const events = said
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { diagnosticEvent?: { urn?: string } });
    const named = new Set(events.map(({ diagnosticEvent }) => diagnosticEvent?.urn?.split("::").at(-1)));
    const seen = project
        .read("seen.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as [string, string, boolean]);
    const count = (wanted: string) => seen.filter(([what]) => what === wanted).length;
    expect(count("output")).toBeGreaterThan(NUMBER);
    expect(count("input")).toBeGreaterThan(NUMBER);
    const silent = seen.filter(([, name, kept]) => !kept && !named.has(name));
    expect(silent, `again: MALOKO_VALUES_SEED=${SEED}`).toEqual([]);
}, 120_000);

test.each([
    "\ud800",
    "a\udfff",
    { "\ud800": 1 },
    [["\udc00x"]],
])("what cannot survive is refused before any call: %#", async (value) => {
    const called: string[] = [];
    const noting = {
        async check(_olds: unknown, news: unknown) {
            called.push("check");
            return { inputs: news, failures: [] };
        },
        async create(props: unknown) {
            called.push("create");
            return { id: "made", outs: props };
        },
    } as pulumi.dynamic.ResourceProvider;
    const { message } = await failureOf(newStack().up(() => void new Thing(noting, "a", { value })));
    expect(message).toContain("'a'");
    expect(message).toContain("value");
    expect(called).toEqual([]);
});
