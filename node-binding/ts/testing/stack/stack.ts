// A private stack of a test: the real engine over a store in memory, with the program in this process.

import { loadAddon, type NativeStack } from "../../native";
import { parseJson, toJsonText } from "../../originals";
import { messageOf } from "../../process/errors";
import { callersFrames, placeAt } from "../frames";
import { ask } from "../judgement";
import { pageDirectory } from "../page";
import { secretTexts } from "../redaction";
import { withoutSecrets } from "../serializers";
import { joinWorld } from "../worlds";
import { Calls } from "./calls";
import { noteFailure, type Failure as OperationFailure } from "./failures";
import { Leftovers, type Teardown } from "./leftovers";
import { type Operating, type Order, operate, type Report } from "./operate";
import { configurationOf, orderOf } from "./order";
import { outcomeOf, runOf } from "./outcome";
import type { Owner } from "./owner";
import { Packages } from "./packages";
import { type Plan, planText } from "./plan";
import type { Point } from "./points";
import {
    CheckFailed,
    type History,
    type ImportOptions,
    NeverSettles,
    OperationFailed,
    type OperationOptions,
    type Outcome,
    type PreviewOptions,
    type ResourceState,
    type Run,
    type StackSettings,
    type TestClock,
    type UnresolvedCreate,
    type UpOptions,
    type Verb,
} from "./settings";
import { type Behaviour, type CallPattern, type Stub, Stubs } from "./stubs";
import { type Inputs, programOf, type Subject } from "./subject";

// So long (milliseconds) a program may wait for nothing that the engine does.
const QUIET = 2000;

// What a task of the engine's side asks for (`engine-kit/src/task`).
type TaskRequest =
    | { do: "run"; order: Pick<Order, "verb"> & Partial<Order> }
    | { do: "end"; outcome: "done"; value: unknown }
    | { do: "end"; outcome: "raised" }
    | { do: "end"; outcome: "broken"; text: string; caused: boolean };

/** What became of a task, and of its last operation. */
interface TaskResult {
    value: unknown;
    outcome: Outcome | undefined;
    failure: { cause: unknown } | undefined;
}

/** One stack. Its operations come one after the other; several stacks may be at work at once. */
export class TestStack {
    /** The stack's name. */
    readonly name: string;
    /** The project's name. */
    readonly project: string;
    /** Configuration for the next operation: `s.config.acl = "private"`. */
    readonly config: Record<string, unknown>;
    /** The configuration that is secret. */
    readonly secrets: Record<string, string>;
    /** Outputs of other stacks, by name, for stack references. */
    readonly references: Record<string, Record<string, unknown>>;
    /** The properties for the next operation. */
    readonly inputs: Inputs;
    /** What its providers were asked in the operations of the test. */
    readonly calls = new Calls();
    /** All operations so far that the test asked for, in order. */
    readonly runs: Run[] = [];
    /** The stack's clock. */
    readonly clock: TestClock;
    /** @internal At which points its operations could have been cut off. */
    readonly points: Point[] = [];
    /** @internal The engine's side of it. */
    readonly native: NativeStack;

    readonly #kit: Owner;
    readonly #settings: StackSettings;
    readonly #program: (inputs: Inputs) => unknown;
    readonly #stubs = new Stubs();
    readonly #packages: Packages;
    readonly #leftovers: Leftovers;
    #open: { label: string; operating?: Operating } | undefined;
    #written = false;
    #providers: object[];
    #left = false;
    #failure: OperationFailure | undefined;

    /** @internal Tests make stacks with their fixture `stack`. */
    constructor(kit: Owner, subject: Subject, settings: StackSettings, native?: NativeStack) {
        this.#kit = kit;
        this.#settings = settings;
        this.#program = programOf(subject, settings.resource ?? "it");
        this.name = settings.name ?? "dev";
        this.project = settings.project ?? "project";
        this.config = { ...settings.config };
        this.secrets = { ...settings.secrets };
        this.references = { ...settings.references };
        this.inputs = { ...settings.inputs };
        this.#providers = settings.providers ?? [];
        this.#packages = new Packages(settings.stubs, settings.plugins, settings.schemas);
        const { TestStack: Native } = loadAddon();
        const isKept = settings.realCloud === true && native === undefined;
        const ledger = isKept ? kit.ledger(this.project, this.name, this.#packages.kind) : undefined;
        const own = native ?? ledger?.native ?? new Native(this.project, this.name);
        this.native = own;
        this.clock = {
            advance: ({ days = 0, hours = 0, minutes = 0, seconds = 0 }) =>
                own.advance(((days * 24 + hours) * 60 + minutes) * 60 + seconds),
            get elapsed() {
                return own.elapsed;
            },
        };
        this.#leftovers = new Leftovers(ledger);
        if (settings.world !== undefined) {
            joinWorld(settings.world, { ids: () => this.allResources().map(({ id }) => id) });
        }
    }

    /**
     * Another stack object on the same state, as somebody else has it who works on the same stack: only one of the two may work
     * on it at a time. It is not destroyed by itself.
     */
    another(subject: Subject, settings: StackSettings = {}): TestStack {
        const { stubs, plugins, schemas } = this.#settings;
        return new TestStack(
            this.#kit,
            subject,
            { stubs, plugins, schemas, ...settings } as StackSettings,
            this.native,
        );
    }

    /** Changes the properties for the next operation. */
    set(inputs: Inputs): void {
        Object.assign(this.inputs, inputs);
    }

    /** What `up` would do. Fails with the very error that the program or a provider throws. */
    preview(options: PreviewOptions = {}): Promise<Plan> {
        return this.#operation("preview", async () => (await this.#run(orderOf("preview", options))).plan);
    }

    /**
     * Makes the world as the program says. The next plans, with the same targets and excludes, have to be empty, or it
     * fails with {@link NeverSettles}.
     */
    up(options: UpOptions = {}): Promise<Outcome> {
        const { settle = this.#settings.settle ?? true, ...rest } = options;
        return this.#operation("up", async () => {
            const outcome = await this.#run(orderOf("up", rest));
            if (settle) {
                const { targets = [], excludes = [] } = rest;
                await this.#do("settle", { after: "up", targets, excludes });
            }
            return outcome;
        });
    }

    /** Makes the state as the world is. */
    refresh(options: OperationOptions = {}): Promise<Outcome> {
        return this.#operation("refresh", () => this.#run(orderOf("refresh", options)));
    }

    /** Deletes everything. */
    destroy(options: OperationOptions = {}): Promise<Outcome> {
        return this.#operation("destroy", () => this.#run(orderOf("destroy", options)));
    }

    /** Takes over the object with this id as the resource that the program registers under this name. */
    import(name: string, id: string): Promise<Outcome> {
        return this.#operation("import", async () => (await this.#do("import", { name, id })).outcome as Outcome);
    }

    /** Does an operation, and says how it ended instead of failing. */
    run(verb: Verb, options: PreviewOptions = {}): Promise<Run> {
        return this.#operation(verb, async () => runOf(verb, await this.#reported(orderOf(verb, options))));
    }

    /** @internal Does what is ordered once, and says how it ended instead of failing: for lifecycles. */
    attempt(order: Pick<Order, "verb"> & Partial<Order>): Promise<Report> {
        return this.#operation(order.verb, () => this.#execute(order));
    }

    /**
     * Fails with {@link NeverSettles} unless two more plans, without and with a refresh, are empty. Their calls are not those of
     * the test: `calls`, `runs` and `history` do not have them.
     */
    assertSettled({ targets = [], excludes = [] }: Pick<OperationOptions, "targets" | "excludes"> = {}): Promise<void> {
        return this.#operation("assertSettled", async () => void (await this.#do("settle", { targets, excludes })));
    }

    /**
     * Fails with {@link CheckFailed} unless the object of the resource, imported by its id into a stack that does not know it,
     * needs no change after that and has the id, the inputs and the outputs that it has here.
     */
    importsCleanly(name: string, { ignore = [] }: ImportOptions = {}): Promise<void> {
        return this.#operation("importsCleanly", async () => void (await this.#do("import_cleanly", { name, ignore })));
    }

    /** The id of a resource. */
    id(name: string): string {
        return this.resource(name).id;
    }

    /** The outputs of a resource, with secrets in plain text; without a name, those of the stack. */
    outputs(name?: string): Record<string, unknown> {
        const last = this.runs.findLast(({ verb }) => verb === "up" || verb === "refresh");
        return name === undefined ? (last?.outputs ?? {}) : this.resource(name).outputs;
    }

    /** What a resource was in the course of the test; empty for one that never was. */
    history(name: string): History {
        return this.#forSnapshots(parseJson(this.native.history(name)) as History);
    }

    /** The resources of the state by their names, with secrets in plain text. */
    resources(): Record<string, ResourceState> {
        const there = this.allResources().filter((resource) => !resource.delete);
        return this.#forSnapshots(Object.fromEntries(there.map((it) => [it.name, this.#forSnapshots(it)])));
    }

    /** The resource of a name in the state. Throws an error that names those that are there. */
    resource(name: string): ResourceState {
        const resources = this.resources();
        const found = Object.hasOwn(resources, name) ? resources[name] : undefined;
        if (found === undefined) {
            const names = Object.keys(resources).join(", ") || "none";
            throw new Error(`the state has no resource '${name}'; those that it has: ${names}`);
        }
        return found;
    }

    /** @internal The resources of the state, with those that wait for their deletion. */
    allResources(): (ResourceState & { delete: boolean })[] {
        return (parseJson(this.native.resources()) as { resources: (ResourceState & { delete: boolean })[] }).resources;
    }

    // Snapshots of what has its secrets in plain text are files, and have none of them.
    #forSnapshots<T extends object>(value: T): T {
        const secrets = (): string[] => [
            ...Object.values(this.secrets),
            ...secretTexts(parseJson(this.native.export())),
        ];
        return withoutSecrets(value, secrets);
    }

    /** Objects that may exist, because it is not known what a `create` did. */
    unresolvedCreates(): UnresolvedCreate[] {
        return (parseJson(this.native.resources()) as { unresolvedCreates: UnresolvedCreate[] }).unresolvedCreates;
    }

    /** The state as Pulumi's deployment, with secrets in plain text. */
    export(): string {
        return this.native.export();
    }

    /** Replaces the state by an exported one. */
    restore(deployment: string, place = "the exported state"): void {
        this.native.restore(deployment, place);
        this.#written = true;
    }

    /** Writes the state to a file, for tests of later releases of its providers. Secrets in it are hidden. */
    saveBaseline(file: string): void {
        const deployment = this.native.export();
        ask({ ask: "save_baseline", file, deployment, secrets: this.secrets, known: [] });
    }

    /** What `up` would do to a stack that is as in the baseline of that file. The test's own state stays as it is. */
    upgradePlan(file: string): Promise<Plan> {
        return this.#operation("upgradePlan", async () => {
            const how = "`s.saveBaseline(file)`";
            const deployment = ask({ ask: "baseline", file, secrets: this.secrets, how });
            return (await this.#do("plan_from", { deployment, place: file })).outcome?.plan ?? {};
        });
    }

    /** Answers, fails or delays calls of providers until it is restored: `s.stub("create", { throws: new Error("quota") })`. */
    stub(pattern: string | CallPattern, behaviour: Behaviour): Stub {
        return this.#stubs.add(pattern, behaviour);
    }

    /** The stack is not destroyed when its test ends, for a reason that readers of the test want to know. */
    leave(reason: string): void {
        if (reason === "") {
            throw new TypeError("say why the stack is left as it is");
        }
        this.#left = true;
    }

    /** @internal What goes on just now: the name of the operation. */
    get busy(): string | undefined {
        return this.#open?.label;
    }

    /** Ends what goes on as Ctrl-C would. Gives the provider calls that it waits for. */
    cancel(): string[] {
        const calls = this.#open?.operating?.calls() ?? [];
        this.#open?.operating?.cancel();
        return calls;
    }

    /** @internal What happened, for the report of a failed test. */
    evidence(): string {
        const journal = this.native.stored().journal?.toString();
        const parts = [
            ["last plan", planText(this.runs.at(-1)?.plan ?? {})],
            ["calls", this.calls.toString() || "none"],
            ...(journal === undefined ? [] : [["journal of the last operation", journal]]),
        ];
        return parts.map(([title, text]) => `${title}:\n${text}`).join("\n");
    }

    /** @internal Is the stack left as it is at the end of its test? */
    get isLeft(): boolean {
        return this.#left;
    }

    /** @internal Deletes what is left, for the end of a test. What could not be deleted is named in the error. */
    async tearDown(): Promise<void> {
        if (this.#left) {
            return;
        }
        if (this.#leftovers.undrained !== undefined) {
            throw this.#leftovers.undrained;
        }
        if (this.#written) {
            this.#stubs.clear();
            await this.#operation("teardown", () => this.#leftovers.remove(() => this.#tornDown([])));
        }
    }

    /** @internal Keeps nothing on disk any more if nothing is left: the last that is asked of a stack. */
    forget(): void {
        if (!this.#left) {
            this.#leftovers.forget(this.#written);
        }
    }

    /**
     * @internal Deletes what an earlier run of the test has left, and says what it did; once. Throws an error that names what
     * could not be deleted, or may be left.
     */
    drain(): Promise<string[]> {
        return this.#leftovers.drain((settled) => this.#tornDown(settled));
    }

    async #tornDown(settled: string[]): Promise<Teardown> {
        const command = `MALOKO_SWEEP=1 MALOKO_FORGET_UNRESOLVED='{keys}' ${this.#kit.info.replay}`;
        const ledger = this.#leftovers.directory ?? null;
        const { value, failure } = await this.#do("tear_down", { name: this.name, ledger, settled, command });
        return { ...(value as Omit<Teardown, "failure">), failure };
    }

    // The promise of an operation: one at a time, known to the test's end, and never an unhandled rejection.
    #operation<T>(label: string, action: () => Promise<T>): Promise<T> {
        const busy = this.#open?.label;
        const place = callersFrames();
        const operation = async (): Promise<T> => {
            this.#kit.check(label);
            if (busy !== undefined) {
                throw new Error(
                    `\`${label}\` cannot begin while \`${busy}\` of the same stack goes on: is an \`await\` missing before it?`,
                );
            }
            const open = { label };
            this.#open = open;
            try {
                await this.#kit.sweep();
                await this.drain();
                return await action();
            } catch (thrown) {
                const failure = this.#failure ?? { message: messageOf(thrown), thrown };
                noteFailure(own.promise, failure);
                noteFailure(thrown, failure);
                placeAt(thrown, place);
                throw thrown;
            } finally {
                this.#failure = undefined;
                this.#open = undefined;
            }
        };
        // Anything can be thrown, also what is no object and cannot be looked up by itself.
        const own: { promise?: Promise<T> } = {};
        own.promise = operation();
        this.#kit.track(own.promise, label);
        return own.promise;
    }

    // Has a task of the engine's side done, and throws what it comes to.
    async #do(task: string, members: object): Promise<TaskResult> {
        const steps = this.native.task(toJsonText({ task, ...members }));
        const done: TaskResult = { value: undefined, outcome: undefined, failure: undefined };
        for (let answer: unknown = null; ; ) {
            const request = parseJson(steps.next(toJsonText(answer))) as TaskRequest;
            if (request.do === "end") {
                if (request.outcome === "broken") {
                    const Failed = task === "settle" ? NeverSettles : CheckFailed;
                    throw new Failed(request.text, request.caused ? done.failure : undefined);
                }
                if (request.outcome === "raised") {
                    throw done.failure?.cause;
                }
                return { ...done, value: request.value };
            }
            done.failure = undefined;
            try {
                done.outcome = await this.#run(request.order);
            } catch (cause) {
                done.failure = { cause };
            }
            answer = { error: done.failure === undefined ? null : messageOf(done.failure.cause) };
        }
    }

    // Does what is ordered; throws what failed it.
    async #run(order: Pick<Order, "verb"> & Partial<Order>): Promise<Outcome> {
        const report = await this.#reported(order);
        const outcome = outcomeOf(report);
        if (report.outcome === "succeeded") {
            return outcome;
        }
        const message = report.refusal ?? report.error ?? `the operation ${report.outcome}`;
        const call = report.calls.findLast(({ error }) => error !== null);
        const urn =
            call?.urn ?? report.diagnostics.find(({ severity, urn }) => severity === "error" && urn !== "")?.urn;
        const thrown =
            report.thrown === undefined || report.refusal !== null
                ? new OperationFailed(message, outcome)
                : report.thrown.value;
        this.#failure = {
            ...(urn === undefined ? {} : { urn, resource: urn.slice(urn.lastIndexOf("::") + 2) }),
            ...(call === undefined ? {} : { method: call.method }),
            message,
            thrown,
        };
        throw thrown;
    }

    // Does what is ordered, and what the test has in store for its operations.
    async #reported(order: Pick<Order, "verb"> & Partial<Order>): Promise<Report> {
        const crash = order.aside === true ? undefined : this.#kit.crashOf(this);
        const report = await this.#execute(crash === undefined ? order : { ...order, crash });
        if (report.struck === null) {
            return report;
        }
        this.#kit.crashed();
        // As a user would after a crash: the same again.
        return report.outcome === "succeeded" ? report : this.#execute(order);
    }

    async #execute(order: Pick<Order, "verb"> & Partial<Order>): Promise<Report> {
        const { realCloud, parallel, seed, time = realCloud === true ? "real" : "virtual" } = this.#settings;
        const whole: Order = {
            time,
            config: configurationOf(this),
            references: this.references,
            ...(parallel === undefined ? {} : { parallel }),
            ...(seed === undefined ? {} : { seed }),
            page: pageDirectory() !== undefined,
            preview: false,
            ...order,
        };
        const place = {
            project: this.project,
            stack: this.name,
            directory: process.cwd(),
            quiet: this.#settings.quiet ?? QUIET,
            providers: this.#providers,
            packages: this.#packages,
            alive: this.#kit.info.alive ?? false,
        };
        const operating = operate(this.native, whole, this.#stubs.all, place, () => this.#program(this.inputs));
        if (this.#open !== undefined) {
            this.#open.operating = operating;
        }
        const report = await operating.report.finally(() => {
            this.#providers = place.providers;
        });
        this.#kit.ran(report);
        if (order.aside !== true) {
            const run = runOf(whole.preview ? "preview" : whole.verb, report);
            this.runs.push(run);
            this.calls.add(run.calls);
            this.points.push(...report.points);
            this.#written ||= !whole.preview;
        }
        return report;
    }
}
