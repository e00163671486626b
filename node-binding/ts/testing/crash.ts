// Cutting a test's operations off wherever that is possible, and doing them again.
import * as fs from "node:fs";
import * as path from "node:path";
import { parseJson } from "../originals";
import { ask } from "./judgement";
import { CleanupOnly, Kit, type TestInfo } from "./kit";
import type { CrashKind, CrashPlan } from "./stack/points";
import { made } from "./stack/subject";

/** Why one of these is no kind of crash; undefined when all are. */
export function mistakeInKinds(kinds: readonly unknown[]): string | undefined {
    return ask<{ mistake: string | null }>({ ask: "crash_kinds", given: kinds.map(String) }).mistake ?? undefined;
}

/** How a function is cut off everywhere. */
export interface CrashOptions<World> {
    /** How the tests are called together; default: the name of the function. */
    title?: string;
    /** Makes a world for each of them: a class without arguments, or a function. Its `start` and `stop` are called around. */
    world?: (new () => World) | (() => World);
    /** Milliseconds for each test; default: the runner's. */
    timeout?: number;
}

/** What the function gets: the kit's fixtures, anew for each test. */
export interface CrashFixtures<World> {
    stack: Kit["stack"];
    maloko: Kit;
    world: World;
}

/** What is cut off: it does operations, and expects what has to hold after them. */
export type CrashFunction<World> = (fixtures: CrashFixtures<World>) => unknown;

/** One test: cut off there, in that way. */
export interface CrashCase extends CrashPlan {
    /** `before create of b: kill`. */
    title: string;
}

/** The function of a `crashEverywhere`, with what belongs to it. */
export class CrashTest<World> {
    readonly title: string;

    /** Throws a TypeError for kinds that there are not. */
    constructor(
        readonly kinds: readonly CrashKind[],
        private readonly action: CrashFunction<World>,
        private readonly options: CrashOptions<World> = {},
    ) {
        this.title = options.title ?? (action.name || "crash everywhere");
        const mistake = mistakeInKinds(kinds);
        if (mistake !== undefined) {
            throw new TypeError(mistake);
        }
    }

    /** Milliseconds for each test; undefined leaves it to the runner. */
    get timeout(): number | undefined {
        return this.options.timeout;
    }

    /** Runs the function without a crash, and gives the cases: one for each point and kind. */
    async cleanRun(info: TestInfo): Promise<CrashCase[]> {
        const kit = await this.#run(info);
        const cases = kit.stacks.flatMap((stack, index) =>
            stack.points.flatMap(({ label, kinds }) =>
                this.kinds.filter((kind) => kinds.includes(kind)).map((kind) => ({ stack: index, label, kind })),
            ),
        );
        if (cases.length === 0) {
            throw new Error(
                `'${this.title}' passes no point at which it could be cut off: does it await an operation?`,
            );
        }
        const many = kit.stacks.length > 1;
        const named = cases.map((it) => {
            const where = many ? `stack ${it.stack + 1}, ` : "";
            return { ...it, title: `${where}${it.label}: ${it.kind}` };
        });
        // Resources take turns as it happens; the list is to be the same each time.
        return named.sort((a, b) => (a.title < b.title ? -1 : 1));
    }

    /** Runs the function with a crash. Fails where the function does, and where the crash is never reached. */
    async crashRun(info: TestInfo, crash: CrashPlan): Promise<void> {
        const kit = await this.#run(info, crash);
        if (!kit.struck) {
            throw new Error(
                `the run did not come to the point '${crash.label}': it does not take the same way each time`,
            );
        }
    }

    async #run(info: TestInfo, crash?: CrashPlan): Promise<Kit> {
        const { world: make } = this.options;
        const world = make === undefined ? undefined : made(make);
        const serving = world as { start?(): unknown; stop?(): unknown } | undefined;
        const kit = new Kit(info, { crash, world });
        await serving?.start?.();
        try {
            return await withKit(kit, async () => {
                await this.action({ stack: kit.stack, maloko: kit, world: world as World });
                return kit;
            });
        } finally {
            await serving?.stop?.();
        }
    }
}

/** The time of a test is over. */
export class TestTimeout extends Error {
    override readonly name = "TestTimeout";
}

/** Does something with a kit, and ends it. What fails in `action` is what is thrown; what went on then is told. */
export async function withKit<T>(kit: Kit, action: () => Promise<T>): Promise<T> {
    try {
        return await ended(kit, action);
    } catch (thrown) {
        if (!(thrown instanceof CleanupOnly)) {
            kit.tell(kit.evidence());
        }
        throw thrown;
    }
}

async function ended<T>(kit: Kit, action: () => Promise<T>): Promise<T> {
    let result: T;
    try {
        result = await action();
    } catch (thrown) {
        const more = await kit.finish().then(
            () => undefined,
            (error: Error) => error,
        );
        if (more !== undefined && thrown instanceof TestTimeout) {
            throw new TestTimeout(`${thrown.message}\n${more.message}`);
        }
        if (more !== undefined) {
            kit.addEvidence(more.message);
        }
        throw thrown;
    }
    await kit.finish();
    return result;
}

/** The cases of an earlier clean run; undefined where none is written down. */
export function readCases(file: string): CrashCase[] | undefined {
    if (!fs.existsSync(file)) {
        return undefined;
    }
    try {
        const { version, cases } = parseJson(fs.readFileSync(file, "utf8")) as {
            version?: number;
            cases?: CrashCase[];
        };
        if (version === 1 && Array.isArray(cases)) {
            return cases;
        }
    } catch {
        // Told below.
    }
    throw new Error(`${file} does not hold the points of a clean run: delete it, and run the test again`);
}

/** Writes them down, for a runner that has to know its tests beforehand. */
export function writeCases(file: string, cases: CrashCase[]): void {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `${JSON.stringify({ version: 1, cases }, undefined, 2)}\n`);
}
