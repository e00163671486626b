// Does what the procedure of a law asks for (`engine-kit/src/laws/exchange.rs`): calls, operations on stacks, looks.
import { inspect } from "node:util";
import { type LawTrial, loadAddon } from "../../native";
import { parseJson, toJsonText } from "../../originals";
import { messageOf } from "../../process/errors";
import { endsWithin } from "../../process/waiting";
import { Sdk } from "../../sdk";
import { direct } from "../direct";
import { Kit } from "../kit";
import { OperationFailed } from "../stack/settings";
import type { TestStack } from "../stack/stack";
import type { Inputs } from "../stack/subject";
import { plainJson } from "../values";
import { askedOf, unseen, type WorldRequest } from "../worlds";
import {
    asBroken,
    type End,
    errorText,
    errorWithoutSecrets,
    PassOver,
    type ShownInputs,
    thrownAt,
    UnexpectedError,
} from "./broken";
import { OutputWatch } from "./guard";
import { Listener, plans } from "./listener";
import type { BaselineResource } from "./options";
import { Plugin } from "./plugin";
import { tryPlugin } from "./plugin-host";
import { oddIn } from "./portable";
import { type LawSubject, subjectOf } from "./subject";
import { askedOfStack, type Laboratory, plain, Trial } from "./trial";

type Bag = Record<string, unknown>;
type Which = "empty" | "inputs" | { returned: number };
type Operation = "preview" | "refreshed-preview" | "up" | "refresh" | "destroy" | "import";
type ProgramResource = { name: string; inputs: number; taking: string[]; planted: Record<string, string> };

type Request =
    | { do: "check"; olds: Which; news: Which }
    | { do: "program"; stack: number; resources: ProgramResource[]; secret: boolean; together: boolean }
    | { do: "run"; operation: Operation; loses: boolean }
    | { do: "cancel"; operation: Operation; method: string }
    | { do: "put-former"; number: number }
    | { do: "returned-last"; method: string }
    | { do: "save" | "restore" | "reload" }
    | { do: "renew" | "look" | "guard" | "touches" | "shown" }
    | WorldRequest
    | ({ do: "end" } & End);

const NAME = "it";
const INFO = { title: "a law", file: "", replay: "" };

/** Tries a law on one example. Throws what the kit's verdicts are made of. */
export async function tryLaw(law: string, subject: LawSubject, inputs: readonly Inputs[]): Promise<void> {
    const { provider } = subject.laboratory;
    if (provider instanceof Plugin) {
        return tryPlugin(law, provider, subject, inputs);
    }
    const host = new Host(subject, inputs, await Trial.begin(subject.laboratory));
    try {
        await host.drive(law);
    } finally {
        await host.end();
    }
}

class Host {
    readonly #laboratory: Laboratory;
    readonly #returned: Bag[] = [];
    readonly #stacks = new Map<number, { stack: TestStack; wanted: Map<string, Inputs> }>();
    readonly #messages: string[] = [];
    #listener: Listener;
    #now = 0;
    // How many resources are made at once; 0: one after the other.
    #together = 0;
    #failure: { thrown: unknown } | undefined;
    #output: OutputWatch | undefined;
    // What is undone when people no longer look.
    #seen = (): void => {};

    constructor(
        private readonly subject: LawSubject,
        private readonly inputs: readonly Inputs[],
        private trial: Trial,
    ) {
        this.#laboratory = subject.laboratory;
        this.#listener = new Listener(trial);
    }

    /** Does one thing after the other, up to the end. */
    async drive(law: string): Promise<void> {
        const procedure = new (loadAddon().LawTrial)(law, toJsonText(subjectOf(this.subject, this.trial, this.inputs)));
        try {
            await this.#answerAll(procedure);
        } catch (thrown) {
            if (thrown instanceof PassOver) {
                throw thrown;
            }
            const broken = asBroken(thrown);
            broken.words.found = procedure.hide(broken.words.found);
            broken.cause = errorWithoutSecrets(broken.cause, (text) => procedure.hide(text));
            throw broken.shows(parseJson(procedure.shown()) as ShownInputs[]);
        }
    }

    async #answerAll(procedure: LawTrial): Promise<void> {
        for (let answer: unknown = null; ; ) {
            const request = parseJson(procedure.next(toJsonText(answer ?? null))) as Request;
            if (request.do === "end") {
                const thrown = thrownAt(request, this.#failure?.thrown);
                if (thrown !== undefined) {
                    throw thrown;
                }
                return;
            }
            answer = await this.#answer(request);
        }
    }

    async end(): Promise<void> {
        this.#output?.end();
        this.#seen();
        await this.#leave();
    }

    #answer(request: Exclude<Request, { do: "end" }>): unknown {
        switch (request.do) {
            case "check":
                return this.#check(request.olds, request.news);
            case "program":
                return this.#program(request);
            case "run":
                return this.#run(request.operation, request.loses);
            case "cancel":
                return this.#cancel(request.operation, request.method);
            case "renew":
                return this.#renew();
            case "save":
            case "restore":
            case "reload":
                return askedOfStack(this.#stack, request);
            case "put-former":
                return this.#putFormer(request.number);
            case "look":
                return this.trial.world === undefined ? null : this.trial.objects();
            case "picture":
            case "mutate-remote":
            case "delete-remote":
                return askedOf(this.trial.world, request);
            case "returned-last":
                return this.#returnedLast(request.method);
            case "guard":
                return this.#listener.guard();
            case "touches":
                return this.#touches();
            case "shown":
                return this.#shown();
        }
    }

    // Without an engine.

    async #check(olds: Which, news: Which): Promise<unknown> {
        await this.trial.configure();
        const provider = this.trial.provider as { check: (olds: unknown, news: unknown) => unknown };
        let given: unknown;
        let left: () => unknown = () => given;
        // The engine's copies of the arguments are seen by nobody else: this one looks at them before and after.
        const looking = Object.create({ constructor: provider.constructor }) as typeof provider;
        looking.check = (first, second) => {
            left = () => plainJson({ olds: first, news: second });
            given = left();
            return provider.check(first, second);
        };
        const answer = await raising(() => direct(looking).check(this.#bag(olds), this.#bag(news)));
        const inputs = plain(answer.inputs) as Bag;
        this.#returned.push(inputs);
        const failures = answer.failures.map(({ property, reason }) => [property, reason]);
        return { inputs: plainJson(inputs), failures, given, left: left() };
    }

    #bag(which: Which): Bag {
        if (which === "empty") {
            return {};
        }
        return (which === "inputs" ? this.inputs[0] : this.#returned[which.returned]) ?? {};
    }

    // Stacks.

    get #stack(): TestStack {
        const now = this.#stacks.get(this.#now);
        if (now === undefined) {
            throw new Error("a law runs a program before it says which");
        }
        return now.stack;
    }

    async #renew(): Promise<void> {
        await this.#leave();
        this.trial = await Trial.begin(this.#laboratory);
        this.#listener = new Listener(this.trial);
    }

    async #leave(): Promise<void> {
        if (this.trial.world !== undefined && !this.#laboratory.place.resets) {
            for (const { stack } of [...this.#stacks.values()].reverse()) {
                await stack.destroy().catch(() => undefined);
            }
        }
        this.#stacks.clear();
        this.#listener.end();
        await this.trial.end();
    }

    #program({ stack, resources, secret, together }: Extract<Request, { do: "program" }>): void {
        this.#now = stack;
        if (secret && this.#output === undefined) {
            this.#output = new OutputWatch();
            this.#seen = unseen(this.trial.world);
        }
        const programs = resources.map((it): [string, Inputs] => [it.name, this.#wanted(it, secret)]);
        this.#together = together ? programs.length : 0;
        const known = this.#stacks.get(stack);
        if (known !== undefined) {
            for (const [name, inputs] of programs) {
                known.wanted.set(name, inputs);
            }
            return;
        }
        const { config, provider } = this.trial;
        const wanted = new Map(programs);
        const program = (): void => {
            const { Resource } = Sdk.load(process.cwd());
            for (const [name, inputs] of wanted) {
                new Resource(provider, name, { ...inputs });
            }
        };
        const settings = { config, settle: false };
        this.#stacks.set(stack, { stack: new Kit(INFO).stack(program, settings), wanted });
    }

    #wanted({ inputs: number, taking, planted }: ProgramResource, secret: boolean): Inputs {
        const wanted = { ...this.inputs[number] };
        const second = this.inputs[1] ?? {};
        for (const key of taking) {
            delete wanted[key];
            if (Object.hasOwn(second, key)) {
                wanted[key] = second[key];
            }
        }
        const marked = secret ? (this.#laboratory.secret ?? []) : [];
        const all = Object.entries(planted).reduce(
            (bag, [path, text]) => changedAt(bag, path.split("."), (it) => (typeof it === "string" ? text : it)),
            wanted as unknown,
        );
        const { secret: mark } = Sdk.load(process.cwd());
        return marked.reduce((bag, path) => changedAt(bag, path.split("."), mark), all) as Inputs;
    }

    async #run(operation: Operation, loses: boolean): Promise<unknown> {
        const stack = this.#stack;
        this.#failure = undefined;
        stack.calls.clear();
        const lost = loses
            ? stack.stub("create", { throws: new Error("the connection was lost before the answer came"), after: true })
            : undefined;
        this.#listener.gather(this.#together);
        try {
            await operate(stack, operation, this.#together > 0 ? 16 : 1);
        } catch (thrown) {
            this.#failure = { thrown };
        }
        lost?.restore();
        this.#messages.push(...messagesOf(stack));
        const read = this.#listener.last("read")?.result as { id?: string } | null | undefined;
        const outcome = askedOfStack<object>(stack, { do: "law-outcome" });
        return { ...outcome, error: this.#error(), readNothing: read !== undefined && !read?.id };
    }

    #error(): string | null {
        if (this.#failure === undefined) {
            return null;
        }
        const { thrown } = this.#failure;
        return thrown instanceof OperationFailed ? thrown.message : errorText(thrown);
    }

    // The call itself is to end: the run waits for it.
    async #cancel(operation: Operation, method: string): Promise<unknown> {
        const stack = this.#stack;
        let call: Promise<unknown> | undefined;
        const began = new Promise<void>((resolve) => {
            this.#listener.entering = (entered, answer) => {
                if (entered === method) {
                    this.#listener.entering = undefined;
                    call = answer;
                    stack.cancel();
                    resolve();
                }
            };
        });
        const running = operate(stack, operation, 1).catch(() => undefined);
        await Promise.race([began, running]);
        if (call !== undefined && !(await endsWithin(this.subject.grace, call))) {
            return { ended: false };
        }
        await running;
        return { ended: true };
    }

    #putFormer(number: number): void {
        const former = this.subject.baseline?.[number];
        if (former === undefined) {
            throw new Error("there is no such resource of the former release");
        }
        const { id = "", inputs, outputs } = plain(former) as BaselineResource;
        askedOfStack(this.#stack, { do: "put-former", former: { id, inputs, outputs } });
        this.#stacks.get(this.#now)?.wanted.set(NAME, inputs);
    }

    // What was heard of the provider.

    #returnedLast(method: string): unknown {
        const heard = this.#listener.last(method);
        if (heard === undefined) {
            return null;
        }
        const { outs, props } = (heard.result ?? {}) as { outs?: Bag; props?: Bag };
        const outputs = outs ?? props ?? {};
        const odd = oddIn(outputs);
        return { outputs: odd.length > 0 ? {} : plainJson(plain(outputs)), odd };
    }

    #touches(): unknown[] {
        const requests = this.#listener.calls.filter((it) => plans(it.method) && it.requests > 0);
        return [
            ...this.#listener.touched.map(({ method, used }) => ({ what: "network", method, used })),
            ...requests.map(({ method, requests }) => ({ what: "requests", method, requests })),
        ];
    }

    #shown(): unknown {
        const errors = this.#listener.calls.flatMap(({ method, failure }) => {
            if (failure === undefined) {
                return [];
            }
            const { thrown } = failure;
            return [
                { method, error: errorText(thrown), whole: `${messageOf(thrown)} ${inspect(thrown, { depth: 8 })}` },
            ];
        });
        const provider = inspect(this.trial.provider, { depth: 4 });
        return { errors, printed: this.#output?.text ?? "", provider, messages: this.#messages };
    }
}

async function operate(stack: TestStack, operation: Operation, parallel: number): Promise<void> {
    switch (operation) {
        case "preview":
            await stack.preview({ parallel });
            break;
        case "refreshed-preview":
            await stack.preview({ parallel, refresh: true });
            break;
        case "import":
            await stack.import(NAME, askedOfStack<{ id: string }>(stack, { do: "forget", name: NAME }).id);
            break;
        default:
            await stack[operation]({ parallel });
    }
}

// What the engine and the program said in the last operation.
function messagesOf(stack: TestStack): string[] {
    return (stack.runs.at(-1)?.diagnostics ?? []).map(({ message }) => message);
}

// A value with another one at a path; as it is where there is none.
function changedAt(value: unknown, [key = "", ...rest]: string[], change: (value: unknown) => unknown): unknown {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) {
        return value;
    }
    const member = (value as Bag)[key];
    return { ...value, [key]: rest.length > 0 ? changedAt(member, rest, change) : change(member) };
}

async function raising<T>(action: () => Promise<T>): Promise<T> {
    try {
        return await action();
    } catch (thrown) {
        throw new UnexpectedError(thrown);
    }
}
