// Does what the steps of a lifecycle ask for (`engine-kit/src/lifecycle/exchange.rs`): calls, operations, looks.
import { messageOf } from "../../process/errors";
import { Sdk } from "../../sdk";
import { METHODS } from "../../sdk/methods";
import { type Direct, direct } from "../direct";
import { Kit } from "../kit";
import { errorText, InputsRefused, type Words } from "../laws/broken";
import { abilitiesOf, providerOf, titleOf } from "../laws/options";
import { askedOfStack, type Laboratory, Trial } from "../laws/trial";
import type { Order, Report } from "../stack/operate";
import type { TestStack } from "../stack/stack";
import type { Inputs } from "../stack/subject";
import { plainJson } from "../values";
import { askedOf, configOf, objectsOf, type World, type WorldRequest } from "../worlds";

/** What a lifecycle is made of. */
export type LifeSource = Omit<Laboratory, "secret">;

export type End = { outcome: "holds" } | { outcome: "broken"; words: Words; caused: boolean };

interface Run {
    order: Pick<Order, "verb"> & Partial<Order>;
    writer: number;
    loses: boolean;
    meanwhile: number | null;
}

export type Request =
    | { do: "check" | "make" | "make-afresh"; inputs: number }
    | { do: "program"; resources: Record<string, number> }
    | { do: "begin"; writer: number }
    | ({ do: "run" } & Run)
    | { do: "forget"; name: string }
    | { do: "look" }
    | WorldRequest;

/** Somebody who deploys the program: a process of its own, if it were not for the test. */
interface Writer {
    provider: object;
    stack: TestStack;
}

const INFO = { title: "a lifecycle", file: "", replay: "" };
const WRITING = ["create", "update", "delete"] as const;

/** What does what the steps ask for. */
export interface LifeHost {
    /** The inputs that steps are about, by their numbers. */
    readonly inputs: Inputs[];
    /** What the program says. */
    readonly program: Map<string, Inputs>;
    /** What the last call or operation threw. */
    readonly failure: { thrown: unknown } | undefined;
    /** What is known of the provider and its world. */
    readonly subject: object;
    /** What stands for the provider in a test; empty: its name. */
    readonly standIn: string;
    /** Does one thing. */
    answer(request: Request): Promise<unknown>;
    /** Leaves what is nobody's after the lifecycle. */
    close(): Promise<void>;
}

/** A provider object, its world, and all who deploy it. */
export class Host implements LifeHost {
    readonly inputs: Inputs[] = [];
    readonly program = new Map<string, Inputs>();
    failure: { thrown: unknown } | undefined;
    readonly standIn = "";
    readonly #config: Record<string, string>;
    readonly #writers = new Map<number, Writer>();
    // The last writer's provider, for what is asked of it without the engine.
    #direct: Direct;

    private constructor(
        private readonly source: LifeSource,
        private readonly world: World | undefined,
    ) {
        this.#config = configOf(source.config, world);
        const { provider } = this.#newWriter(0);
        this.#direct = direct(provider);
    }

    static async begin(source: LifeSource): Promise<Host> {
        const host = new Host(source, await source.place.renew());
        await host.#configure();
        return host;
    }

    get subject(): object {
        const { provider, place, volatile } = this.source;
        return {
            name: titleOf(provider),
            methods: METHODS.filter((method) => this.#has(method)),
            world: abilitiesOf(this.world),
            resets: place.resets,
            volatile,
        };
    }

    // A world has its end with the place of all lifecycles.
    async close(): Promise<void> {}

    async answer(request: Request): Promise<unknown> {
        switch (request.do) {
            case "check":
                return this.#asked(request.inputs, false);
            case "make":
                return this.#asked(request.inputs, true);
            case "make-afresh":
                return this.#makeAfresh(request.inputs);
            case "program":
                this.program.clear();
                for (const [name, number] of Object.entries(request.resources)) {
                    this.program.set(name, this.inputs[number] ?? {});
                }
                return null;
            case "begin":
                this.#direct = direct(this.#newWriter(request.writer).provider);
                await this.#configure();
                return null;
            case "run":
                return this.#run(request);
            case "forget":
                return askedOfStack(this.#writerOf(0).stack, request);
            case "look":
                return this.world === undefined ? null : objectsOf(this.world);
            case "picture":
            case "mutate-remote":
            case "delete-remote":
                return askedOf(this.world, request);
        }
    }

    // Without an engine.

    #configure(): Promise<void> {
        return this.#asking((asked) => asked.configure(this.#config));
    }

    // What the provider holds for this is let go of: the stack's runs have their own.
    async #asking<T>(ask: (asked: Direct) => Promise<T>): Promise<T> {
        try {
            return await ask(this.#direct);
        } finally {
            await this.#direct.close();
        }
    }

    async #asked(number: number, makes: boolean): Promise<object> {
        this.failure = undefined;
        try {
            return await this.#asking(async (asked) => {
                const { inputs, failures } = await asked.check({}, this.inputs[number] ?? {});
                if (failures.length > 0) {
                    return { refused: true };
                }
                return makes ? { id: (await asked.create(inputs)).id } : {};
            });
        } catch (thrown) {
            this.failure = { thrown };
            return { error: errorText(thrown) };
        }
    }

    async #makeAfresh(number: number): Promise<object | null> {
        const trial = await Trial.begin(this.source);
        try {
            const { id, outputs } = await trial.create(this.inputs[number] ?? {});
            return { id, outputs: plainJson(outputs) };
        } catch (thrown) {
            if (thrown instanceof InputsRefused) {
                return null;
            }
            throw thrown;
        } finally {
            await trial.end();
        }
    }

    // Stacks.

    async #run({ order, writer, loses, meanwhile }: Run): Promise<object> {
        const { provider, stack } = this.#writerOf(writer);
        let tried: { error: string | null } | undefined;
        const other = meanwhile === null ? undefined : this.#writerOf(meanwhile).stack;
        const methods = provider as Record<string, (...args: unknown[]) => unknown>;
        const stubs = WRITING.filter((method) => (loses || other !== undefined) && this.#has(method)).map((method) =>
            stack.stub(
                method,
                other === undefined
                    ? { throws: new Error("the answer was lost"), after: true }
                    : {
                          calls: async (...args) => {
                              if (tried === undefined) {
                                  tried = { error: null };
                                  tried.error = await other.up().then(() => null, messageOf);
                              }
                              return methods[method]?.(...args);
                          },
                      },
            ),
        );
        let report: Report | undefined;
        try {
            report = await stack.attempt(order);
        } catch (thrown) {
            // So early that the state could not even be opened.
            if (order.crash === undefined) {
                throw thrown;
            }
        } finally {
            for (const stub of stubs) {
                stub.restore();
            }
        }
        return { ...this.#answerOf(stack, report), meanwhile: tried ?? null };
    }

    #answerOf(stack: TestStack, report: Report | undefined): object {
        const outcome = askedOfStack<object>(stack, { do: "life-outcome" });
        if (report === undefined) {
            return outcome;
        }
        this.failure = failureOf(report);
        const { thrown, error } = report;
        const told = thrown === undefined ? (error ?? `the operation ${report.outcome}`) : errorText(thrown.value);
        return { ...outcome, error: this.failure === undefined ? null : told };
    }

    #has(method: string): boolean {
        return typeof (this.#writerOf(0).provider as Record<string, unknown>)[method] === "function";
    }

    #writerOf(number: number): Writer {
        const writer = this.#writers.get(number);
        if (writer === undefined) {
            throw new Error(`there is no writer ${number}`);
        }
        return writer;
    }

    // With the state of the first one's stack, or an empty one.
    #newWriter(number: number): Writer {
        const provider = providerOf(this.source.provider, this.world);
        const { Resource } = Sdk.load(process.cwd());
        const program = (): void => {
            for (const [name, inputs] of this.program) {
                new Resource(provider, name, { ...inputs });
            }
        };
        const settings = { settle: false, config: this.#config, seed: 1, providers: [provider] };
        const first = this.#writers.get(0)?.stack;
        const stack = first?.another(program, settings) ?? new Kit(INFO).stack(program, settings);
        const writer = { provider, stack };
        this.#writers.set(number, writer);
        return writer;
    }
}

function failureOf({ outcome, thrown, error }: Report): { thrown: unknown } | undefined {
    if (outcome === "succeeded") {
        return undefined;
    }
    return { thrown: thrown === undefined ? new Error(error ?? `the operation ${outcome}`) : thrown.value };
}
