// A private stack of a test: the real engine over a store in memory, with the program in this process.

import { loadAddon } from "../../native";
import { toJsonText } from "../../originals";
import { messageOf } from "../../process/errors";
import { callersFrames, placeAt } from "../frames";
import { pageDirectory } from "../page";
import { withoutSecrets } from "../serializers";
import { isListed } from "../values";
import { joinWorld } from "../worlds";
import { readBaseline, writeBaseline } from "./baselines";
import { Calls, type ReportedCall } from "./calls";
import { noteFailure, type Failure as OperationFailure } from "./failures";
import { type Destroyed, Leftovers } from "./leftovers";
import { type Operating, type Order, operate, type Report } from "./operate";
import { importOf, outcomeOf, partDifferences } from "./outcome";
import type { Owner } from "./owner";
import { Packages } from "./packages";
import { type Plan, planText } from "./plan";
import type { Point } from "./points";
import {
    type History,
    type ImportOptions,
    NeverSettles,
    OperationFailed,
    type OperationOptions,
    type Outcome,
    type Row,
    type StackSettings,
    type TestClock,
    type UnresolvedCreate,
    type UpOptions,
} from "./settings";
import { StackState } from "./state";
import { type Behaviour, type CallPattern, type Stub, Stubs } from "./stubs";
import { type Inputs, programOf, type Subject } from "./subject";

// So long (milliseconds) a program may wait for nothing that the engine does.
const QUIET = 2000;

/** One stack. Its operations come one after the other; several stacks may be at work at once. */
export class TestStack {
    /** Configuration for the next operation: `s.config.acl = "private"`. */
    readonly config: Record<string, unknown>;
    readonly secrets: Record<string, string>;
    readonly references: Record<string, Record<string, unknown>>;
    /** The properties for the next operation. */
    readonly inputs: Inputs;
    /** What its providers were asked. */
    readonly calls = new Calls();
    readonly clock: TestClock;
    /** At which points its operations could have been cut off. */
    readonly points: Point[] = [];

    readonly #kit: Owner;
    readonly #settings: StackSettings;
    readonly #program: (inputs: Inputs) => unknown;
    readonly #stubs = new Stubs();
    readonly #packages: Packages;
    readonly #leftovers: Leftovers;
    // That of the stack, or the one on which it does something aside.
    #state: StackState;
    #open: { label: string; operating?: Operating } | undefined;
    #outputs: Record<string, unknown> = {};
    #written = false;
    #providers: object[];
    #left = false;
    #last: Plan = {};
    // The calls and messages of the last operation, those aside as well.
    #asked: readonly ReportedCall[] = [];
    #said: string[] = [];

    /** Tests make stacks with their fixture `stack`. */
    constructor(kit: Owner, subject: Subject, settings: StackSettings, state?: StackState) {
        this.#kit = kit;
        this.#settings = settings;
        this.#program = programOf(subject, settings.resource ?? "it");
        this.config = { ...settings.config };
        this.secrets = { ...settings.secrets };
        this.references = { ...settings.references };
        this.inputs = { ...settings.inputs };
        this.#providers = settings.providers ?? [];
        this.#packages = new Packages(settings.stubs, settings.plugins);
        const { TestStack: Native } = loadAddon();
        const [project, name] = [settings.project ?? "project", settings.name ?? "dev"];
        const ledger = settings.realCloud === true && state === undefined ? kit.ledger(project, name) : undefined;
        const native = state?.native ?? ledger?.native ?? new Native(project, name);
        this.#state = state ?? new StackState(native);
        this.clock = {
            advance: ({ days = 0, hours = 0, minutes = 0, seconds = 0 }) =>
                native.advance(((days * 24 + hours) * 60 + minutes) * 60 + seconds),
        };
        this.#leftovers = new Leftovers(this.#state, ledger, kit.info.replay);
        if (settings.world !== undefined) {
            joinWorld(settings.world, { ids: () => this.rows().map(({ id }) => id) });
        }
    }

    /**
     * Another stack object on the same state, as somebody else has it who works on the same stack: for lifecycles. It is not
     * destroyed by itself.
     */
    another(subject: Subject, settings: StackSettings): TestStack {
        const { stubs, plugins } = this.#settings;
        return new TestStack(this.#kit, subject, { stubs, plugins, ...settings } as StackSettings, this.#state);
    }

    /** Changes the properties for the next operation. */
    set(inputs: Inputs): void {
        Object.assign(this.inputs, inputs);
    }

    /** What `up` would do. Fails with the very error that the program or a provider throws. */
    preview(options: OperationOptions = {}): Promise<Plan> {
        return this.#operation("preview", async () => (await this.#run("up", true, options)).plan);
    }

    /**
     * Makes the world as the program says. The next plans, with the same targets and excludes, have to be empty, or it
     * fails with {@link NeverSettles}.
     */
    up(options: UpOptions = {}): Promise<Outcome> {
        const { settle = this.#settings.settle ?? true, ...rest } = options;
        return this.#operation("up", async () => {
            const outcome = await this.#run("up", false, rest);
            const unsettled = settle ? await this.#unsettled("up", rest) : undefined;
            if (unsettled !== undefined) {
                throw new NeverSettles(unsettled);
            }
            return outcome;
        });
    }

    /** Makes the state as the world is. */
    refresh(options: OperationOptions = {}): Promise<Outcome> {
        return this.#operation("refresh", () => this.#run("refresh", false, options));
    }

    /** Deletes everything. */
    destroy(options: OperationOptions = {}): Promise<Outcome> {
        return this.#operation("destroy", () => this.#run("destroy", false, options));
    }

    /** Takes over the object with this id as the resource that the program registers under this name. */
    import(name: string, id: string): Promise<Outcome> {
        return this.#operation("import", async () => {
            const { plan } = await this.#run("up", true, {});
            const step = plan[name];
            if (step === undefined) {
                throw new Error(
                    `the program registers no resource '${name}' that could be imported; ` +
                        `what is not in the state yet: ${Object.keys(plan).join(", ") || "nothing"}`,
                );
            }
            return this.#run("import", false, {}, { imports: [importOf(step, id)] });
        });
    }

    /** Does an operation once, and says how it ended instead of failing: for lifecycles. */
    attempt(verb: Order["verb"], options: Partial<Order>): Promise<Report> {
        return this.#operation(verb, () => this.#execute(this.#order(verb, options.preview ?? false, options), false));
    }

    /** What keeps the next plans from being empty, as a text; undefined when they are. */
    settles(): Promise<string | undefined> {
        return this.#operation("settles", () => this.#unsettled());
    }

    /** How a resource that is taken over by its id differs from what the state has of it: a line for each difference. */
    importDifferences(name: string, { ignore = [] }: ImportOptions = {}): Promise<string[]> {
        return this.#operation("importDifferences", () => {
            const resource = this.row(name);
            return this.#aside([resource.urn], async () => {
                await this.#run("import", false, {}, { imports: [importOf(resource, resource.id)] }, true);
                const taken = this.row(name);
                const wrong = ["id", "inputs", "outputs"].flatMap((part) =>
                    partDifferences(resource, taken, part, ignore),
                );
                const { plan } = await this.#run("up", true, {}, {}, true);
                const step = plan[name];
                const left = Object.entries(step?.changes ?? {}).filter(([path]) => !isListed(path, ignore));
                if (step !== undefined && (left.length > 0 || Object.keys(step.changes).length === 0)) {
                    wrong.push(
                        `the next preview would ${planText({ [name]: { ...step, changes: Object.fromEntries(left) } })}`,
                    );
                }
                return wrong;
            });
        });
    }

    /** Fails unless `read` gives all that is needed to take over the resource of this name. */
    async importsCleanly(name: string, options: ImportOptions = {}): Promise<void> {
        const wrong = await this.importDifferences(name, options);
        if (wrong.length > 0) {
            throw new Error(`${name} cannot be taken over by its id alone:\n${wrong.join("\n")}`);
        }
    }

    /** The id of a resource. */
    id(name: string): string {
        return this.row(name).id;
    }

    /** The outputs of a resource, with secrets in plain text; without a name, those of the stack. */
    outputs(name?: string): Record<string, unknown> {
        return name === undefined ? this.#outputs : this.row(name).outputs;
    }

    /** What a resource was in the course of the test; empty for one that never was. */
    history(name: string): History {
        return this.#forSnapshots(this.#state.history(name));
    }

    /** The resources in the state. */
    rows(): Row[] {
        return this.#forSnapshots(this.#state.rows());
    }

    /** The resource of a name in the state. Throws an error that names those that are there. */
    row(name: string): Row {
        return this.#forSnapshots(this.#state.row(name));
    }

    // Snapshots of what has its secrets in plain text are files, and have none of them.
    #forSnapshots<T extends object>(value: T): T {
        const state = this.#state;
        return withoutSecrets(value, () => [...Object.values(this.secrets), ...state.secrets()]);
    }

    /** Objects that may exist, because it is not known what a `create` did; `doubt` says why. */
    unresolvedCreates(): UnresolvedCreate[] {
        return this.#state.unresolvedCreates();
    }

    /** The state as Pulumi's deployment, with secrets in plain text. */
    export(): string {
        return this.#state.native.export();
    }

    /** Replaces the state by an exported one. */
    restore(deployment: string, place = "the exported state"): void {
        this.#state.native.restore(deployment, place);
        this.#written = true;
    }

    /** Writes the state to a file, for tests of later releases of its providers. Secrets in it are hidden. */
    saveBaseline(file: string): void {
        writeBaseline(file, this.#state.native.export(), this.secrets);
    }

    /** What `up` would do to a stack that is as in the baseline of that file. The test's own state stays as it is. */
    upgradePlan(file: string): Promise<Plan> {
        return this.#operation("upgradePlan", () =>
            this.#aside([], async () => {
                this.#state.native.restore(readBaseline(file, this.secrets), file);
                return (await this.#run("up", true, {}, {}, true)).plan;
            }),
        );
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

    /** What goes on just now: the name of the operation. */
    get busy(): string | undefined {
        return this.#open?.label;
    }

    /** Ends what goes on as Ctrl-C would. Gives the provider calls that it waits for. */
    cancel(): string[] {
        const calls = this.#open?.operating?.calls() ?? [];
        this.#open?.operating?.cancel();
        return calls;
    }

    /** What happened, for the report of a failed test. */
    evidence(): string {
        const journal = this.#state.native.stored().journal?.toString();
        const parts = [
            ["last plan", planText(this.#last)],
            ["calls", this.calls.toString() || "none"],
            ...(journal === undefined ? [] : [["journal of the last operation", journal]]),
        ];
        return parts.map(([title, text]) => `${title}:\n${text}`).join("\n");
    }

    /** What the engine and the program said in the last operation. */
    get messages(): readonly string[] {
        return this.#said;
    }

    /** Is the stack left as it is at the end of its test? */
    get isLeft(): boolean {
        return this.#left;
    }

    /** Deletes what is left, for the end of a test. What could not be deleted is named in the error. */
    async tearDown(): Promise<void> {
        if (this.#left) {
            return;
        }
        const { undrained } = this.#leftovers;
        if (undrained !== undefined) {
            throw undrained;
        }
        if (this.#written && !this.#leftovers.isEmpty) {
            this.#stubs.clear();
            await this.#leftovers.remove(() => this.#operation("teardown", () => this.#destroyAll()));
        }
    }

    /** Keeps nothing on disk any more if nothing is left: the last that is asked of a stack. */
    forget(): void {
        if (!this.#left) {
            this.#leftovers.forget();
        }
    }

    /**
     * Deletes what an earlier run of the test has left, and says what it did; once. Throws an error that names what could not be
     * deleted, or may be left.
     */
    async drain(): Promise<string[]> {
        return (await this.#leftovers.drain(() => this.#destroyAll())) ?? [];
    }

    async #destroyAll(): Promise<Destroyed> {
        this.#asked = [];
        // Protection is against mistakes, and not against the end of a test.
        const more = { ignoreProtect: true };
        const failure = await this.#run("destroy", false, { continueOnError: true }, more, true).then(
            () => undefined,
            (cause: unknown) => ({ cause }),
        );
        return { failure, calls: this.#asked };
    }

    // Does something on another state: the stack's own, without these resources.
    async #aside<T>(urns: string[], action: () => Promise<T>): Promise<T> {
        const own = this.#state;
        this.#state = own.without(urns);
        try {
            return await action();
        } finally {
            this.#state = own;
        }
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

    #failure: OperationFailure | undefined;

    async #run(
        verb: Order["verb"],
        preview: boolean,
        options: OperationOptions,
        more: Partial<Order> = {},
        aside = false,
    ): Promise<Outcome> {
        const order = this.#order(verb, preview, { ...options, ...more });
        const crash = aside ? undefined : this.#kit.crashOf(this);
        let report = await this.#execute({ ...order, ...(crash === undefined ? {} : { crash }) }, aside);
        if (report.struck !== null) {
            this.#kit.crashed();
        }
        if (report.struck !== null && report.outcome !== "succeeded") {
            // As a user would after a crash: the same again.
            report = await this.#execute(order, aside);
        }
        const outcome = outcomeOf(report);
        if (report.outcome === "succeeded") {
            return outcome;
        }
        const message = report.error ?? `the operation ${report.outcome}`;
        const call = report.calls.findLast(({ error }) => error !== null);
        const urn =
            call?.urn ?? report.diagnostics.find(({ severity, urn }) => severity === "error" && urn !== "")?.urn;
        const thrown = report.thrown === undefined ? new OperationFailed(message, outcome) : report.thrown.value;
        this.#failure = {
            ...(urn === undefined ? {} : { urn, resource: urn.slice(urn.lastIndexOf("::") + 2) }),
            ...(call === undefined ? {} : { method: call.method }),
            message,
            thrown,
        };
        throw thrown;
    }

    #order(verb: Order["verb"], preview: boolean, options: Partial<Order>): Order {
        return {
            verb,
            preview,
            time: this.#settings.time ?? (this.#settings.realCloud === true ? "real" : "virtual"),
            config: this.#configuration(),
            references: this.references,
            ...(this.#settings.parallel === undefined ? {} : { parallel: this.#settings.parallel }),
            ...(this.#settings.seed === undefined ? {} : { seed: this.#settings.seed }),
            page: pageDirectory() !== undefined,
            ...options,
        };
    }

    async #execute(order: Order, aside: boolean): Promise<Report> {
        const place = {
            project: this.#settings.project ?? "project",
            stack: this.#settings.name ?? "dev",
            directory: process.cwd(),
            quiet: this.#settings.quiet ?? QUIET,
            providers: this.#providers,
            packages: this.#packages,
            alive: this.#kit.info.alive ?? false,
        };
        const operating = operate(this.#state.native, order, this.#stubs.all, place, () => this.#program(this.inputs));
        if (this.#open !== undefined) {
            this.#open.operating = operating;
        }
        const report = await operating.report.finally(() => {
            this.#providers = place.providers;
        });
        this.#kit.ran(report);
        this.#asked = report.calls;
        this.#said = report.diagnostics.map(({ message }) => message);
        if (!aside) {
            this.calls.add(report.calls);
            this.points.push(...report.points);
            this.#last = outcomeOf(report).plan;
        }
        if (!order.preview && !aside) {
            this.#written = true;
            this.#outputs = report.outputs;
            this.#state.remember();
        }
        return report;
    }

    async #unsettled(after?: string, { targets, excludes }: OperationOptions = {}): Promise<string | undefined> {
        const selection = {
            ...(targets === undefined ? {} : { targets }),
            ...(excludes === undefined ? {} : { excludes }),
        };
        for (const refresh of [false, true]) {
            const { plan } = await this.#run("up", true, { refresh, ...selection }, {}, true);
            if (Object.keys(plan).length > 0) {
                const when = after === undefined ? "the next preview" : `right after \`${after}\`, the next preview`;
                const how = refresh ? " with a refresh" : "";
                return `the stack never settles: ${when}${how} is not empty, but would\n${planText(plan)}`;
            }
        }
        return undefined;
    }

    #configuration(): Order["config"] {
        const full = (key: string): string =>
            key.includes(":") ? key : `${this.#settings.project ?? "project"}:${key}`;
        const entries = (values: Record<string, unknown>, secret: boolean): [string, Order["config"][string]][] =>
            Object.entries(values)
                .filter(([, value]) => value !== undefined)
                .map(([key, value]) => [
                    full(key),
                    { value: typeof value === "string" ? value : toJsonText(value), secret },
                ]);
        return Object.fromEntries([...entries(this.config, false), ...entries(this.secrets, true)]);
    }
}
