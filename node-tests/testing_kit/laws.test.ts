// The laws of providers. What each catches is data, which corpus.test.ts tries.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import type * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import {
    checkLaws,
    expect,
    LAW_NAMES,
    type LawOptions,
    LawSuite,
    type LawVerdict,
    type ProviderSource,
    test,
} from "maloko/vitest";
import { onTestFinished } from "vitest";
import type { Props } from "../support/kit";
import { atNight, NIGHT } from "../support/night";
import { bucketOptions, GoodProvider, NewVersion, SeesNoSize } from "../support/planted";

const nightly = atNight(test);

// By day each law draws fewer examples.
const FEWER = NIGHT ? {} : { examples: 1 };

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const RUNNERS = {
    vitest: [join(dirname(require.resolve("vitest/package.json")), "vitest.mjs"), "run", "--reporter=json", "--config"],
    jest: [join(dirname(require.resolve("jest/package.json")), "bin", "jest.js"), "--json", "--config"],
};

function others(verdicts: LawVerdict[]): string[] {
    return verdicts.filter(({ status }) => status !== "holds").map(({ status, text }) => `${status}: ${text}`);
}

async function verdictOf(provider: ProviderSource, options: LawOptions, law: (typeof LAW_NAMES)[number]) {
    const [verdict] = await checkLaws(provider, options, { only: [law] });
    return verdict as LawVerdict;
}

test("a provider in memory that is right keeps all laws", async () => {
    const verdicts = await checkLaws(GoodProvider, { ...bucketOptions, ...FEWER });
    expect(others(verdicts)).toEqual([]);
    expect(verdicts.map(({ law }) => law)).toEqual(LAW_NAMES);
});

nightly("a failure is shrunk and names the property", async () => {
    const verdict = await verdictOf(SeesNoSize, bucketOptions, "L4");
    expect(verdict.text).toContain("property: size\n");
    expect(verdict.text).toContain('first:    {"acl": "public", "name": "aaa", "password": "[secret 1]", "size": 2}');
    expect(verdict.text).toContain('then:     {"acl": "public", "name": "aaa", "password": "[secret 1]", "size": 1}');
});

test("a failure can be replayed", async () => {
    // By day only the size is drawn, which is soon made small.
    const [known] = bucketOptions.baseline.map((resource) => fc.constant(resource.inputs));
    const sized = fc.tuple(known ?? fc.constant({}), fc.nat(999)).map(([inputs, size]) => ({ ...inputs, size }));
    const options = NIGHT ? bucketOptions : { ...bucketOptions, inputs: sized };
    const { text } = await verdictOf(SeesNoSize, { ...options, seed: undefined } as unknown as LawOptions, "L4");
    const [, line = ""] = /again: MALOKO_REPLAY=(\S+)/.exec(text) ?? [];
    // It is copied from a terminal.
    expect(line).toMatch(/^.{1,39}$/);
    onTestFinished(() => {
        delete process.env.MALOKO_REPLAY;
    });
    process.env.MALOKO_REPLAY = line;
    const again = await verdictOf(SeesNoSize, options, "L4");
    const plain = (it: string): string => it.replace(/again: .*/, "");
    expect(plain(again.text)).toBe(plain(text));
    process.env.MALOKO_REPLAY = "rubbish";
    await expect(verdictOf(SeesNoSize, bucketOptions, "L4")).rejects.toThrow("MALOKO_REPLAY=rubbish is not SEED,PATH");
});

// By day the laws of "findings of one cause" are tests of vitest, and Python has the list.
for (const runner of ["vitest", "jest"] as const) {
    nightly(`each law is a test: ${runner}`, async () => {
        const config = { vitest: "kit-samples/laws.config.ts", jest: "kit-samples/laws.jest.config.cjs" }[runner];
        const { stdout } = await run(process.execPath, [...RUNNERS[runner], config], { cwd: import.meta.dirname });
        const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
            testResults: { assertionResults: { title: string; status: string }[] }[];
        };
        const all = testResults.flatMap(({ assertionResults }) => assertionResults);
        const numbers = all.flatMap(({ title }) => /^L(\d+) /.exec(title)?.[1] ?? []);
        expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => String(index + 1)));
        expect(all.filter(({ status }) => status !== "passed").map(({ title }) => title)).toEqual([
            "L12 secrets stay secret (needs `secret`: the names of the inputs that are secret, or none of them)",
            "L13 a create that is cut off makes one object (waived: the service has no idempotency key)",
            "L16 outs of the previous release still fit (needs `baseline`: what the previous release has left in a state, as a file or data)",
        ]);
    });
}

class Shelf {
    readonly boxes = new Map<string, Props>();
    made = 0;
    objects() {
        return this.boxes;
    }
}

/** Keeps its world in the open, as members of classes are. */
class OnShelf {
    constructor(private readonly shelf: Shelf) {}
    async create(inputs: Props) {
        const id = String(++this.shelf.made);
        this.shelf.boxes.set(id, inputs);
        return { id, outs: inputs };
    }
    async delete(id: string) {
        this.shelf.boxes.delete(id);
    }
}

/** Keeps the inputs itself, too. */
class RemembersAll extends OnShelf {
    last: Props = {};
    override async create(inputs: Props) {
        this.last = inputs;
        return super.create(inputs);
    }
}

test("L12 leaves out what only the world keeps", async () => {
    const inputs = [{ token: "abcdefabcdef" }, { token: "ghijklghijkl" }];
    const options = { inputs, world: Shelf, secret: ["token"] };
    expect(others(await checkLaws(OnShelf, options, { only: ["L12"] }))).toEqual([]);
    const { text } = await verdictOf(RemembersAll, options, "L12");
    expect(text).toMatch(/property: \(the printed provider\)\n.*\n {2}found: .*last: \{ token: '\[secret/);
});

test("findings of one cause are told together", async () => {
    const vitest = RUNNERS.vitest.filter((it) => !it.startsWith("--reporter"));
    const args = [...vitest, "kit-samples/forbidden.config.ts", "-t", " L(3|9|15) "];
    const said = await run(process.execPath, args, { cwd: import.meta.dirname }).catch((failed) => failed);
    expect(said.stderr).toContain("these 3 findings have one cause (L3, L9, L15): Error: 403: forbidden");
});

test("a waiver without a reason is refused", () => {
    const suite = (waive: Record<string, string>) => () => new LawSuite(GoodProvider, { ...bucketOptions, waive });
    expect(suite({ L13: " " })).toThrow("`waive` of L13 has no reason");
    expect(suite({ L99: "there is none" })).toThrow('there is no law "L99": there are L1, L2');
});

test("settings that make no sense are told", async () => {
    const attempt = (options: object, provider: unknown = GoodProvider) =>
        checkLaws(provider as ProviderSource, options as LawOptions, { only: ["L2"] });
    await expect(attempt({})).rejects.toThrow("laws needs `inputs`: an arbitrary of fast-check");
    await expect(attempt({ inputs: "abc" })).rejects.toThrow('it was given "abc"');
    await expect(attempt({ inputs: [] })).rejects.toThrow("a list of examples with at least one in it");
    await expect(attempt(bucketOptions, "Good")).rejects.toThrow(
        "laws takes a provider object, its class, or a function",
    );
    await expect(attempt({ inputs: [{}] })).rejects.toThrow("GoodProvider is to be given a world, and there is none");
    await expect(attempt({ ...bucketOptions, ...FEWER, world: class {} })).resolves.toBeDefined();
    await expect(
        checkLaws(GoodProvider, { ...bucketOptions, baseline: "none.json" }, { only: ["L16"] }),
    ).rejects.toThrow("the baseline none.json cannot be read");
});

test("what a baseline recorded is what law 16 reads", async ({ stack }) => {
    const directory = mkdtempSync(join(tmpdir(), "maloko-baseline-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const baseline = join(directory, "v1.json");
    const [inputs] = bucketOptions.baseline.map((resource) => resource.inputs);
    const s = stack(new GoodProvider(new bucketOptions.world()), { inputs: inputs ?? {} });
    await s.up();
    s.saveBaseline(baseline);
    expect((await verdictOf(GoodProvider, { ...bucketOptions, baseline }, "L16")).status).toBe("holds");
    expect((await verdictOf(NewVersion, { ...bucketOptions, baseline }, "L16")).status).toBe("broken");
});

test("an exception of the provider keeps its identity", async () => {
    const lost = new Error("the connection");
    class Failing extends GoodProvider {
        override update(): never {
            throw lost;
        }
    }
    const verdict = await verdictOf(Failing, { ...bucketOptions, ...FEWER }, "L4");
    expect(verdict.text).toContain("L4 diff and update agree: Failing raised Error: the connection");
    expect(verdict.error?.cause).toBe(lost);
});

nightly("examples in a list need no fast-check", async () => {
    const inputs = fc.sample(bucketOptions.inputs, { numRuns: 4, seed: 1 });
    expect(others(await checkLaws(GoodProvider, { ...bucketOptions, inputs }))).toEqual([]);
});

test("a connection while planning is refused and told", async () => {
    let refused: unknown;
    class Connecting extends GoodProvider {
        override async diff(id: string, olds: Props, news: Props) {
            const socket = connect(80, "192.0.2.1");
            [refused] = await once(socket, "error").catch((error: unknown) => [error]);
            socket.destroy();
            return super.diff(id, olds, news);
        }
    }
    const { text, status } = await verdictOf(Connecting, { ...bucketOptions, ...FEWER }, "L10");
    expect(status).toBe("broken");
    expect(text).toContain("property: diff\n");
    expect(text).toContain("expected: no use of the network: it runs in previews, too");
    expect(String(refused)).toContain("planning is not to touch the network");
});

test("the laws wait for async methods", async () => {
    class Waiting extends GoodProvider {
        override async create(inputs: Props) {
            await setTimeout(1);
            return super.create(inputs);
        }

        override async delete(id: string, props: Props) {
            await setTimeout(1);
            return super.delete(id, props);
        }
    }
    expect(others(await checkLaws(Waiting, { ...bucketOptions, examples: NIGHT ? 3 : 1 }))).toEqual([]);
});

test("check has its configuration under the first law", async () => {
    class Configured extends GoodProvider {
        prefix: string | undefined;

        configure({ config }: pulumi.dynamic.ConfigureRequest) {
            this.prefix = config.get("prefix");
        }

        override async check(olds: Props, news: Props) {
            if (this.prefix === undefined) {
                throw new Error("check came before configure");
            }
            return super.check(olds, news);
        }
    }
    const options = { ...bucketOptions, config: { prefix: "team-" } };
    expect((await verdictOf(Configured, options, "L1")).status).toBe("holds");
});
