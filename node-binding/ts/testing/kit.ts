// What belongs to one test: its stacks and cassette, and what is to be true when it ends.
import * as path from "node:path";
import { messageOf } from "../process/errors";
import { endsWithin } from "../process/waiting";
import { type Direct, direct, type ProviderLike } from "./direct";
import { pageDirectory, writePage } from "./page";
import { Cassette, type CassetteOptions } from "./recorded/cassettes";
import { Ledger } from "./stack/ledger";
import type { Report } from "./stack/operate";
import type { Owner } from "./stack/owner";
import type { CrashPlan } from "./stack/points";
import { checkSettings, type StackSettings } from "./stack/settings";
import { TestStack } from "./stack/stack";
import type { Subject } from "./stack/subject";
import { orphansOf } from "./worlds";

/** Which test it is. */
export interface TestInfo {
    /** Its full name. */
    title: string;
    /** Its file. */
    file: string;
    /** The command that runs this test alone. */
    replay: string;
    /** Does the runner keep the process alive as long as the test runs? Then the process may end although a call hangs. */
    alive?: boolean;
    /** Ends the test as skipped, with a reason, by throwing what the runner knows. */
    skip?: (reason: string) => void;
    /** Prints what went on in a test that has failed. */
    tell?: (evidence: string) => void;
}

/** A test has deleted what an earlier run of it left, and is to do nothing else. */
export class CleanupOnly extends Error {
    override readonly name = "CleanupOnly";
}

// So long (milliseconds) an operation that nobody awaited may take to end once it is told to.
const GRACE = 1000;

/** The kit of one test. */
export class Kit implements Owner {
    readonly #stacks: TestStack[] = [];
    readonly #worlds = new Set<object>();
    readonly #open = new Map<Promise<unknown>, string>();
    readonly #crash: CrashPlan | undefined;
    readonly #world: object | undefined;
    #cassette: Cassette | undefined;
    #ended = false;
    #ending = false;
    // What was noted of the last run for its page.
    #record: string | undefined;
    readonly #more: string[] = [];
    readonly #ledgers: Ledger[] = [];
    readonly #direct: Direct[] = [];
    #sweeping: Promise<void> | undefined;

    /** Did the crash happen that the test was to have? */
    struck = false;

    /** `world`: what the stacks are given that are not given another one. */
    constructor(
        readonly info: TestInfo,
        { crash, world }: { crash?: CrashPlan | undefined; world?: unknown } = {},
    ) {
        this.#crash = crash;
        this.#world = typeof world === "object" && world !== null ? world : undefined;
    }

    /**
     * A private stack with an empty state, which is destroyed when the test ends. `subject`: a program (a function), a class
     * of resources, a provider object or its class. Throws a TypeError for anything else.
     */
    readonly stack = (subject: Subject, settings: StackSettings = {}): TestStack => {
        this.check("stack");
        checkSettings(settings);
        const world = settings.world ?? this.#world;
        const stack = new TestStack(this, subject, { ...settings, ...(world === undefined ? {} : { world }) });
        this.#stacks.push(stack);
        if (world !== undefined) {
            this.#worlds.add(world);
        }
        return stack;
    };

    /** A provider without an engine, as {@link direct} gives it; `close` is called when the test ends. */
    readonly direct = (provider: ProviderLike, warn?: (text: string) => void): Direct => {
        this.check("direct");
        const made = direct(provider, warn);
        this.#direct.push(made);
        return made;
    };

    /**
     * Plays HTTP responses from a file for the rest of the test. Without a name, it is called like the test and stands in
     * `__cassettes__` beside the test's file. Nothing is recorded unless `options.record` or MALOKO_RECORD says so.
     */
    readonly cassette = (name?: string, options: CassetteOptions = {}): Cassette => {
        this.check("cassette");
        if (this.#cassette?.inUse === true) {
            throw new Error(
                `this test has the cassette ${this.#cassette.file} already: one is enough for all its requests`,
            );
        }
        const { dir, name: base } = path.parse(this.info.file);
        const file =
            name === undefined
                ? path.join(dir, "__cassettes__", base, `${this.info.title.replace(/[^\w.-]+/g, "_")}.json`)
                : path.resolve(dir, name);
        this.#cassette = new Cassette(file, options, () => this.#secrets());
        return this.#cassette;
    };

    #secrets(): string[] {
        return this.#stacks.flatMap((stack) => Object.values(stack.secrets));
    }

    /** Fails when the test has ended. */
    check(what: string): void {
        if (this.#ended) {
            throw new Error(
                `\`${what}\` came after the end of the test '${this.info.title}': what a test gets is for this test only; ` +
                    "is an `await` missing?",
            );
        }
    }

    /** Remembers an operation until it ends. A failure is the one's who awaits it, or of the test's end. */
    track(operation: Promise<unknown>, label: string): void {
        this.#open.set(operation, label);
        const ended = (): void => void this.#open.delete(operation);
        operation.then(ended, ended);
    }

    /** Where the next stack is kept on disk, as its providers talk to a real cloud. */
    ledger(project: string, stack: string, plugins: "stubs" | "real"): Ledger {
        const { title: test, file } = this.info;
        const ledger = new Ledger({ test, file, project, stack, plugins }, this.#stacks.length, process.cwd());
        this.#ledgers.push(ledger);
        return ledger;
    }

    /** Where the test is run for no other reason, deletes what its earlier runs have left, and ends it: MALOKO_SWEEP. */
    async sweep(): Promise<void> {
        if (process.env.MALOKO_SWEEP) {
            this.#sweeping ??= this.#sweep();
            await this.#sweeping;
        }
    }

    // Each stack by itself, whatever is wrong with others.
    async #sweep(): Promise<void> {
        const done: string[] = [];
        const errors: unknown[] = [];
        for (const stack of this.#stacks) {
            await stack.drain().then(
                (swept) => done.push(...swept),
                (error: unknown) => errors.push(error),
            );
        }
        const reached = new Set(this.#ledgers.map(({ directory }) => directory));
        const others = (this.#ledgers[0]?.siblings() ?? []).filter((directory) => !reached.has(directory));
        if (others.length > 0) {
            errors.push(
                new Error(
                    "this test makes more stacks after its first operation, where a sweep ends it; run it without " +
                        `MALOKO_SWEEP, which deletes what they have left: ${others.join(", ")}`,
                ),
            );
        }
        throwAll(errors);
        const what = done.length === 0 ? "nothing was left" : `deleted: ${done.join(", ")}`;
        this.info.skip?.(what);
        throw new CleanupOnly(what);
    }

    /** Where the operations of a stack are to be cut off. */
    crashOf(stack: object): Omit<CrashPlan, "stack"> | undefined {
        const crash = this.#crash;
        return crash === undefined || this.struck || this.#stacks[crash.stack] !== stack
            ? undefined
            : { label: crash.label, kind: crash.kind };
    }

    /** The crash has happened. */
    crashed(): void {
        this.struck = true;
    }

    /** The stacks that the test made. */
    get stacks(): readonly TestStack[] {
        return this.#stacks;
    }

    /** Says something more in the report of a failed test. */
    addEvidence(text: string): void {
        this.#more.push(text);
    }

    /** Takes note of an operation: the last one is shown that failed, changed something or would have. */
    ran({ outcome, changes, page }: Report): void {
        const changed = Object.keys(changes).some((op) => op !== "same");
        const tells = outcome !== "succeeded" || (!this.#ending && changed);
        if (page !== undefined && (tells || this.#record === undefined)) {
            this.#record = page;
        }
    }

    /** Writes the page of the last run, where MALOKO_PAGE names a directory for it, and gives its file. */
    writePage(): string | undefined {
        const directory = pageDirectory();
        return directory === undefined || this.#record === undefined
            ? undefined
            : writePage(this.info, this.#record, directory);
    }

    /** Tells of a test that has failed what happened, and where the page of its last run is. */
    tell(evidence: string, page = this.writePage()): void {
        this.info.tell?.(page === undefined ? evidence : `${evidence}\npage of the last run: ${page}`);
    }

    /** What happened, for the report of a failed test. */
    evidence(): string {
        const stacks = this.#stacks.map((stack, index) => {
            const title = this.#stacks.length === 1 ? "" : `stack ${index + 1}\n`;
            return `${title}${stack.evidence()}`;
        });
        return [...this.#more, ...stacks, `again: ${this.info.replay}`].join("\n");
    }

    /** Ends the test: nothing may go on, and nothing may be left. Throws an error that names what is. */
    async finish(): Promise<void> {
        this.#ending = true;
        const errors: unknown[] = [];
        const attempt = async (action: () => unknown): Promise<void> => {
            try {
                await action();
            } catch (error) {
                errors.push(error);
            }
        };
        await attempt(() => this.#endOperations());
        for (const made of this.#direct.reverse()) {
            await attempt(() => made.close());
        }
        if (!process.env.MALOKO_KEEP) {
            for (const stack of [...this.#stacks].reverse()) {
                await attempt(() => stack.busy === undefined && stack.tearDown());
            }
            // What is left on purpose is there on purpose.
            const worlds = this.#stacks.some(({ isLeft }) => isLeft) ? [] : this.#worlds;
            for (const world of worlds) {
                await attempt(() => {
                    const orphans = orphansOf(world);
                    if (orphans.length > 0) {
                        throw new Error(
                            `at the end of the test, these objects are left in the world, and no stack knows them: ${orphans.join(", ")}`,
                        );
                    }
                });
            }
            for (const stack of this.#stacks) {
                await attempt(() => stack.forget());
            }
        }
        this.#ended = true;
        await attempt(() => this.#cassette?.eject());
        throwAll(errors);
    }

    async #endOperations(): Promise<void> {
        if (this.#open.size === 0) {
            return;
        }
        const labels = [...new Set(this.#open.values())].map((label) => `\`${label}\``).join(" and ");
        const calls = this.#stacks.flatMap((stack) => stack.cancel());
        await endsWithin(GRACE, Promise.allSettled([...this.#open.keys()]));
        const where = calls.length === 0 ? "" : `, in ${calls.join(" and ")}`;
        const stays = this.#open.size === 0 ? "" : "; it does not end, although it was cancelled";
        throw new Error(
            `${labels} was still going on when the test ended${where}: is an \`await\` missing before it?${stays}`,
        );
    }
}

function throwAll(errors: unknown[]): void {
    if (errors.length === 1) {
        throw errors[0];
    }
    if (errors.length > 1) {
        throw new AggregateError(errors, errors.map(messageOf).join("\n"));
    }
}
