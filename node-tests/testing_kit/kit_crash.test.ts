// Runs that are cut off wherever that is possible, and done again.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { CrashTest, crashEverywhere, expect, Kit } from "maloko/vitest";
import { describe, test as plain } from "vitest";
import { type Props, Thing } from "../support/kit";
import { atNight, byDay, NIGHT } from "../support/night";
import { BucketProvider, Cloud } from "./cloud";

const nightly = atNight(plain);

type Info = Parameters<CrashTest<unknown>["cleanRun"]>[0];
type CrashCase = Awaited<ReturnType<CrashTest<unknown>["cleanRun"]>>[number];

/** Makes one bucket for each operation key, however often it is asked: so nothing is made twice. */
class Idempotent extends BucketProvider {
    constructor(private readonly own: Cloud) {
        super(own);
    }

    override async create(inputs: Props) {
        const id = `bucket-${inputs.name}`;
        this.own.things.set(id, inputs);
        return { id, outs: { ...inputs } };
    }
}

/** Runs kit-samples/forgetful.ts; gives what was printed, and which of its tests failed. */
async function forgetful(more: string[]): Promise<{ text: string; failed: string[] }> {
    const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
    const config = ["--config", "kit-samples/forgetful.config.ts", "--reporter", "verbose"];
    const options = { cwd: import.meta.dirname, env: { ...process.env, NO_COLOR: "1" } };
    const ended = promisify(execFile)(process.execPath, [vitest, "run", ...config, ...more], options);
    const { stdout, stderr } = await ended.catch((failed: { stdout: string; stderr: string }) => failed);
    const failed = [...stdout.matchAll(/^ *× .* > one object > (.*?)(?: \d+ms)?$/gm)].map(([, title]) => String(title));
    return { text: stdout + stderr, failed };
}

function ten(cloud: Cloud): void {
    let last: Thing | undefined;
    for (let index = 0; index < 10; index++) {
        const opts = index % 3 === 0 || last === undefined ? {} : { dependsOn: [last] };
        last = new Thing(new Idempotent(cloud), `b${index}`, { name: `n${index}` }, opts);
    }
}

const EVERYWHERE: Parameters<typeof crashEverywhere<Cloud>> = [
    ["kill", "raise_before", "raise_after", "hang", "enospc", "lose_lock"],
    async ({ stack, world }) => {
        const s = stack(() => void new Thing(new Idempotent(world), "b", { name: "one" }));
        await s.up();
        expect([...world.things.keys()]).toEqual(["bucket-one"]);
        await s.destroy();
        expect(world.things.size).toBe(0);
    },
    { title: "nothing is lost wherever a run is cut off", world: Cloud },
];

/** Cuts a test off at these points. The error of one that fails begins with its title. */
async function cutOff<World>(crashes: CrashTest<World>, info: Info, cases: CrashCase[]): Promise<void> {
    for (const { title, ...crash } of cases) {
        await crashes.crashRun(info, crash).catch((error: Error) => {
            throw new Error(`${title}: ${error.message}`, { cause: error });
        });
    }
}

// By day a third of the points, each with every kind; that each is a test of its own shows `forgetful`.
if (NIGHT) {
    crashEverywhere(...EVERYWHERE);
} else {
    plain("nothing is lost wherever a run is cut off", async () => {
        const crashes = new CrashTest(...EVERYWHERE);
        const info = { title: "t", file: import.meta.filename, replay: "npx vitest" };
        const cases = await crashes.cleanRun(info);
        const labels = [...new Set(cases.map(({ label }) => label))];
        await cutOff(
            crashes,
            info,
            cases.filter(({ label }) => labels.indexOf(label) % 6 === 0),
        );
    });
}

describe("ten buckets", () => {
    const crashes = new CrashTest(
        ["kill", "raise_after"],
        async ({ stack, world }) => {
            const s = stack(() => ten(world), { settle: false });
            await s.up();
            expect(world.things.size).toBe(10);
        },
        { world: Cloud },
    );
    const info = { title: "ten buckets", file: import.meta.filename, replay: "npx vitest" };

    plain("each run passes the same points", async () => {
        const titles = async () => (await crashes.cleanRun(info)).map(({ title }) => title);
        const first = await titles();
        expect(await titles()).toEqual(first);
        expect(first).toContain("before create of b0: kill");
        expect(first).toContain("after create of b9: raise_after");
        expect(first).toContain("journal: creating b5: kill");
        expect(first).toContain("removal of the journal: kill");
    });

    nightly("every point of ten resources is covered", async () => {
        await cutOff(crashes, info, await crashes.cleanRun(info));
    });
});

plain("a point that is not reached fails", async () => {
    const crashes = new CrashTest(["kill"], async ({ stack }) => void (await stack(() => {}).up()));
    const info = { title: "t", file: import.meta.filename, replay: "npx vitest" };
    const run = crashes.crashRun(info, { stack: 0, label: "before create of nobody", kind: "kill" });
    await expect(run).rejects.toThrow("the run did not come to the point 'before create of nobody'");
});

plain("a provider that makes an object twice is found where the answer is lost", async () => {
    const crashes = new CrashTest(
        ["kill"],
        async ({ stack, world }) => {
            await stack(() => void new Thing(new BucketProvider(world), "b", { name: "one" })).up();
        },
        { world: Cloud },
    );
    const info = { title: "t", file: import.meta.filename, replay: "npx vitest" };
    const failed: string[] = [];
    const cases = await crashes.cleanRun(info);
    for (const { title, ...crash } of byDay(cases, (it) => it.label.endsWith("create of b"))) {
        await crashes.crashRun(info, crash).catch(() => failed.push(title));
    }
    expect(failed).toContain("after create of b: kill");
    expect(failed).not.toContain("before create of b: kill");
});

plain("a failure runs again from the line that is printed", async () => {
    const first = await forgetful([]);
    expect(first.failed).toContain("after create of b: raise_after");
    const lines = [...first.text.matchAll(/^again: npx vitest run (\S+) -t (".*")$/gm)];
    const [, file, title] = lines.find(([line]) => line.includes("after create of b")) ?? [];
    expect(file).toBe("kit-samples/forgetful.ts");
    const alone = await forgetful([String(file), "-t", JSON.parse(String(title))]);
    expect(alone.failed).toEqual(["after create of b: raise_after"]);
});

plain("a run that is killed leaves its journal", async () => {
    const info = { title: "t", file: "t", replay: "npx vitest" };
    const world = new Cloud();
    let seen = "";
    class Looking extends Kit {
        override crashed(): void {
            super.crashed();
            seen = this.evidence();
            expect(s.resources()).toEqual({});
        }
    }
    const kit = new Looking(info, { crash: { stack: 0, label: "after create of b", kind: "kill" }, world });
    const s = kit.stack(() => void new Thing(new Idempotent(world), "b", { name: "one" }));
    await s.up();
    expect(seen).toMatch(/journal of the last operation:\n.*begin/s);
    expect([...world.things.keys()]).toEqual(["bucket-one"]);
    await kit.finish();
});

plain("another word for a crash is refused", () => {
    expect(() => new CrashTest(["boom" as "kill"], () => {})).toThrow("'boom' is no kind of crash: there are kill");
});

plain("a test that fails as it is is not cut off", async () => {
    let runs = 0;
    const crashes = new CrashTest(["kill"], async ({ stack }) => {
        runs++;
        await stack(() => {}).up();
        throw new Error("as it is");
    });
    const info = { title: "t", file: "t", replay: "npx vitest" };
    await expect(crashes.cleanRun(info)).rejects.toThrow("as it is");
    expect(runs).toBe(1);
});

plain("a world that serves is begun and ended with each run", async () => {
    const seen: string[] = [];
    class Served extends Cloud {
        async start() {
            seen.push("start");
        }

        stop() {
            seen.push(`stop with ${this.things.size}`);
        }
    }
    const crashes = new CrashTest(
        ["kill"],
        async ({ stack, world }) => {
            seen.push("run");
            await stack(() => void new Thing(new Idempotent(world), "b", { name: "one" })).up();
        },
        { world: Served },
    );
    await crashes.cleanRun({ title: "t", file: "t", replay: "npx vitest" });
    expect(seen).toEqual(["start", "run", "stop with 0"]);
});
