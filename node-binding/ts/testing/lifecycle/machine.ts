// Takes a real stack through the steps, and looks after each of them whether it is as the model says.
import { messageOf } from "../../process/errors";
import { Sdk } from "../../sdk";
import type { CrashKind } from "../crash";
import { type Direct, direct } from "../direct";
import { type CrashPlan, Kit } from "../kit";
import { breach, Discarded, firstDifference, LawBroken, told } from "../laws/broken";
import { type ConfigSource, type Place, type ProviderSource, providerOf, removerOf } from "../laws/options";
import { type Made, plain, Trial } from "../laws/trial";
import { planText } from "../stack/plan";
import type { TestStack } from "../stack/stack";
import type { Inputs } from "../stack/subject";
import { objectsOf, type World } from "../worlds";
import type { Model } from "./model";
import { type PlannedPoint, pointsOf } from "./points";
import type { Moment, Step } from "./steps";

const INFO = { title: "a lifecycle", file: "", replay: "" };

/** A kit whose next operation can be cut off. */
class CrashingKit extends Kit {
    next: Omit<CrashPlan, "stack"> | undefined;

    override crashOf(): Omit<CrashPlan, "stack"> | undefined {
        return this.next;
    }

    override crashed(): void {
        this.next = undefined;
    }
}

/** What a machine is made of. */
export interface MachineSource {
    provider: ProviderSource;
    place: Place;
    config?: ConfigSource | undefined;
    volatile?: readonly string[] | undefined;
}

/** What an `up` left of a resource that it updated. */
interface Ended extends Made {
    name: string;
    /** As the program has them. */
    news: Inputs;
}

/** Somebody who deploys the program: a process of its own, if it were not for the test. */
interface Writer {
    provider: object;
    stack: TestStack;
}

const WRITING = ["create", "update", "delete"] as const;

/** One stack and its world. */
export class Machine {
    /** The steps that were taken, with the one that went wrong. */
    readonly taken: Step[] = [];
    // Of each resource, what its last update came to.
    readonly #updated = new Map<string, Ended>();
    readonly #kit = new CrashingKit(INFO);
    readonly #program = new Map<string, Inputs>();
    readonly #foreign: Set<string>;
    readonly #config: Record<string, string>;
    readonly #writers: Writer[] = [];
    #writer: Writer;
    // What is being done, as messages say it.
    #where = "";
    // The last writer's provider, for what is asked of it without the engine.
    #direct: Direct;

    private constructor(
        private readonly source: MachineSource,
        private readonly world: World | undefined,
    ) {
        const { config = {} } = source;
        this.#config = typeof config === "function" ? config(world) : config;
        this.#writer = this.#newWriter();
        this.#direct = direct(this.#writer.provider);
        this.#foreign = new Set(this.#objects());
    }

    static async begin(source: MachineSource): Promise<Machine> {
        const machine = new Machine(source, await source.place.renew());
        await machine.#configure();
        return machine;
    }

    // For calls that are made without the engine.
    #configure(): Promise<void> {
        return this.#asking((asked) => asked.configure(this.#config));
    }

    // Asks the provider without the engine. What it holds for that is let go of: the stack's runs have their own.
    async #asking<T>(ask: (asked: Direct) => Promise<T>): Promise<T> {
        try {
            return await ask(this.#direct);
        } finally {
            await this.#direct.close();
        }
    }

    /** Can the provider and its world do this at all? */
    can(step: Step): boolean {
        switch (step[0]) {
            case "import":
                return this.#has("read");
            case "drift":
                return this.#has("read") && typeof this.world?.mutateRemote === "function";
            case "vanish":
                return this.#has("read") && removerOf(this.world) !== undefined;
            default:
                return true;
        }
    }

    /** Does a step, and looks whether the stack is as the model says then. Throws a LawBroken where it is not. */
    async take(step: Step, model: Model): Promise<void> {
        this.taken.push(step);
        await this.#take(step, model);
    }

    async #take(step: Step, model: Model): Promise<void> {
        this.#where = step[0];
        try {
            await this.#do(step, model);
        } catch (thrown) {
            if (thrown instanceof Discarded || thrown instanceof LawBroken) {
                throw thrown;
            }
            breach(this.#where, "it to succeed", `an error: ${messageOf(thrown)}`, thrown);
        }
        this.#compare(this.#where, model);
    }

    /** Removes everything; nothing may be left. What was updated has to be as a create of the same inputs makes it. */
    async end(model: Model): Promise<void> {
        if (model.state.size > 0) {
            await this.#take(["destroy"], model);
        }
        const { provider, place, config, volatile = [] } = this.source;
        for (const { name, news, ...made } of place.resets ? this.#updated.values() : []) {
            const trial = await Trial.begin({ provider, place, config, volatile });
            try {
                const it = firstDifference(await trial.create(news), made, volatile);
                if (it !== undefined) {
                    const expected = `${told(it.expected)}, as a create of the same inputs makes it`;
                    breach(`${it.path} of ${name}`, expected, `${told(it.found)} after an update`);
                }
            } finally {
                await trial.end();
            }
        }
    }

    async #do(step: Step, model: Model): Promise<void> {
        switch (step[0]) {
            case "edit":
                if (await this.#accepts(step[2])) {
                    model.program.set(step[1], step[2]);
                    this.#program.set(step[1], step[2]);
                }
                return;
            case "remove":
                model.program.delete(step[1]);
                this.#program.delete(step[1]);
                return;
            case "up":
                return this.#up(model);
            case "preview":
                return this.#preview(model);
            case "refresh":
                await this.#stack.refresh();
                return model.refreshed();
            case "destroy":
                await this.#stack.destroy();
                return model.destroyed();
            case "import":
                return this.#import(step[1], step[2], model);
            case "drift":
                model.changed.add(step[1]);
                await this.world?.mutateRemote?.(this.#stack.row(step[1]).id);
                return;
            case "vanish":
                model.lost.add(step[1]);
                await removerOf(this.world)?.(this.#stack.row(step[1]).id);
                return;
            case "crash":
                return this.#crash(step[1], step[2], model);
            case "lose_answer":
                return this.#loseAnswer(model);
            case "restart":
                this.#writer = this.#newWriter(this.#stack);
                this.#direct = direct(this.#writer.provider);
                return this.#configure();
            case "second_writer":
                return this.#secondWriter(step[1], model);
        }
    }

    async #up(model: Model): Promise<void> {
        const { plan } = await this.#stack.up({ refresh: model.drifted });
        model.deployed();
        const unsettled = await this.#stack.settles();
        if (unsettled !== undefined) {
            breach("up", "nothing to be left to do", unsettled);
        }
        for (const [name, { action }] of Object.entries(plan)) {
            const news = this.#program.get(name);
            if (action === "update" && news !== undefined) {
                const { id, outputs } = this.#stack.row(name);
                this.#updated.set(name, { name, news, id, outputs: plain(outputs) as Inputs });
            }
        }
    }

    async #preview(model: Model): Promise<void> {
        const before = this.#objects();
        const plan = await this.#stack.preview({ refresh: model.drifted });
        const kept = new Set([...model.state.keys()].filter((name) => !model.lost.has(name)));
        for (const name of new Set([...model.program.keys(), ...kept])) {
            const expected = !kept.has(name) ? "create" : model.program.has(name) ? undefined : "delete";
            const action = plan[name]?.action;
            const wrong = expected === undefined ? action === "create" || action === "delete" : action !== expected;
            if (wrong) {
                breach(`preview of ${name}`, expected ?? "an update, a replacement or nothing", planText(plan));
            }
        }
        if (before.join() !== this.#objects().join()) {
            breach("preview", `the world to be as it was: ${told(before)}`, told(this.#objects()));
        }
    }

    async #import(name: string, inputs: Inputs, model: Model): Promise<void> {
        const id = await this.#asking(async (asked) => {
            const { inputs: checked, failures } = await asked.check({}, inputs);
            return failures.length > 0 ? undefined : (await asked.create(checked)).id;
        });
        if (id === undefined) {
            return;
        }
        this.#program.set(name, inputs);
        model.program.set(name, inputs);
        await this.#stack.import(name, id);
        model.state.set(name, inputs);
    }

    async #crash(nth: number, kind: CrashKind, model: Model): Promise<void> {
        const points = pointsOf(await this.#stack.preview({ refresh: model.drifted }), kind);
        const point = points[(nth - 1) % Math.max(points.length, 1)];
        if (point !== undefined) {
            this.#where = `crash, at ${point.label}`;
            this.#kit.next = { label: this.#next(point), kind };
        }
        try {
            await this.#up(model);
        } finally {
            this.#kit.next = undefined;
        }
    }

    // Points have the same label each time they are passed, and a number from the second time on.
    #next({ label, ahead }: PlannedPoint): string {
        const points = this.#writers.flatMap(({ stack }) => stack.points);
        const passed = points.filter((it) => it.label === label || it.label.startsWith(`${label} (`)).length + ahead;
        return passed === 0 ? label : `${label} (${passed + 1})`;
    }

    async #loseAnswer(model: Model): Promise<void> {
        const throws = new Error("the answer was lost");
        const stubs = this.#writing.map((method) => this.#stack.stub(method, { throws, after: true }));
        try {
            await this.#stack.up({ refresh: model.drifted });
        } catch (thrown) {
            if (thrown !== throws) {
                throw thrown;
            }
        } finally {
            for (const stub of stubs) {
                stub.restore();
            }
        }
        await this.#up(model);
    }

    async #secondWriter(moment: Moment, model: Model): Promise<void> {
        const other = this.#newWriter(this.#stack);
        if (moment === "before") {
            await other.stack.up({ refresh: model.drifted });
            model.deployed();
            this.#compare("second_writer, after the second one", model);
            return this.#up(model);
        }
        let refusal: string | undefined;
        let tried = false;
        const provider = this.#writer.provider as Record<string, (...args: unknown[]) => unknown>;
        const stubs = this.#writing.map((method) =>
            this.#stack.stub(method, {
                calls: async (...args) => {
                    if (!tried) {
                        tried = true;
                        refusal = await other.stack.up().then(() => undefined, messageOf);
                    }
                    return provider[method]?.(...args);
                },
            }),
        );
        try {
            await this.#up(model);
        } finally {
            for (const stub of stubs) {
                stub.restore();
            }
        }
        if (tried && !refusal?.includes("is locked by")) {
            const expected = "who deploys while somebody else does to be told who that is";
            breach("second_writer", expected, refusal ?? "that both have deployed");
        }
        await other.stack.up();
    }

    #compare(rule: string, model: Model): void {
        const rows = this.#stack.rows().filter(({ custom }) => custom);
        const waiting = rows.filter((row) => row.delete);
        if (waiting.length > 0) {
            breach(
                rule,
                "nothing to wait for its deletion",
                waiting.map(({ name, id }) => `${name} (${id})`).join(", "),
            );
        }
        const names = rows.map(({ name }) => name).sort();
        const expected = [...model.state.keys()].sort();
        if (names.join() !== expected.join()) {
            breach(rule, `the state to have ${expected.join(", ") || "nothing"}`, names.join(", ") || "nothing");
        }
        if (this.world === undefined) {
            return;
        }
        const there = this.#objects().filter((id) => !this.#foreign.has(id));
        const ids = rows.filter(({ name }) => !model.lost.has(name)).map(({ name, id }) => ({ name, id }));
        const orphans = there.filter((id) => !ids.some((row) => row.id === id));
        if (orphans.length > 0) {
            breach(rule, "no object that the stack does not know", `${orphans.join(", ")} beside ${told(ids)}`);
        }
        const missing = ids.find(({ id }) => !there.includes(id));
        if (missing !== undefined) {
            breach(rule, `the object ${told(missing.id)} of ${missing.name} to be there`, told(there));
        }
        if (new Set(ids.map(({ id }) => id)).size < ids.length) {
            breach(rule, "an object for each resource", told(ids));
        }
    }

    async #accepts(inputs: Inputs): Promise<boolean> {
        return (await this.#asking((asked) => asked.check({}, inputs))).failures.length === 0;
    }

    #objects(): string[] {
        return this.world === undefined ? [] : objectsOf(this.world);
    }

    #has(method: string): boolean {
        return typeof (this.#direct.provider as Record<string, unknown>)[method] === "function";
    }

    get #stack(): TestStack {
        return this.#writer.stack;
    }

    // The methods that the provider has, of those that do something.
    get #writing(): string[] {
        return WRITING.filter((method) => this.#has(method));
    }

    // With the state of a stack that is there already, or an empty one.
    #newWriter(beside?: TestStack): Writer {
        const provider = providerOf(this.source.provider, this.world);
        const { Resource } = Sdk.load(process.cwd());
        const program = (): void => {
            for (const [name, inputs] of this.#program) {
                new Resource(provider, name, { ...inputs });
            }
        };
        const settings = { settle: false, config: this.#config, seed: 1, providers: [provider] };
        const stack = beside === undefined ? this.#kit.stack(program, settings) : beside.another(program, settings);
        const writer = { provider, stack };
        this.#writers.push(writer);
        return writer;
    }
}
