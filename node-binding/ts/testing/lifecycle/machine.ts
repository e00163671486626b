// Takes a stack through its life: what a step does and what must hold after it is the engine's side's to say
// (`engine-kit/src/lifecycle`).
import { type LifeTrial, loadAddon } from "../../native";
import { parseJson, toJsonText } from "../../originals";
import { errorWithoutSecrets, LawBroken, type Words } from "../laws/broken";
import { Plugin } from "../laws/plugin";
import type { Inputs } from "../stack/subject";
import { plainJson } from "../values";
import { type End, Host, type LifeHost, type LifeSource, type Request } from "./host";
import { PluginHost } from "./plugin-host";
import { literal, type Rule, type Step } from "./steps";

/** What a machine is made of. */
export interface MachineSource extends LifeSource {
    unique?: readonly string[] | undefined;
    without?: Partial<Record<Rule, string>> | undefined;
    secret?: readonly string[] | undefined;
}

/** One stack and its world. */
export class Machine {
    /** The steps that were taken, with the one that went wrong, without what is secret. */
    readonly taken: Step[] = [];
    readonly #trial: LifeTrial;
    /** How steps are written. */
    readonly #story: string;

    private constructor(
        private readonly host: LifeHost,
        { unique = [], without = {}, secret = [] }: MachineSource,
    ) {
        this.#story = toJsonText({ language: "typescript", provider: host.standIn });
        this.#trial = new (loadAddon().LifeTrial)(toJsonText({ ...host.subject, unique, without, secret }));
    }

    static async begin(source: MachineSource): Promise<Machine> {
        const { provider } = source;
        const host = provider instanceof Plugin ? PluginHost.begin(provider, source) : Host.begin(source);
        return new Machine(await host, source);
    }

    /** Leaves what is nobody's after the lifecycle. */
    close(): Promise<void> {
        return this.host.close();
    }

    /** What the program says: the resources with their inputs. */
    get program(): Map<string, Inputs> {
        return this.host.program;
    }

    /** Why this cannot be the next step, in words; undefined when it can. */
    refusal(step: Step): string | undefined {
        return this.#trial.refusal(this.#written(step), this.#story) ?? undefined;
    }

    /** Does a step, and looks at what must hold after it. Throws a LawBroken where it does not. */
    async take(step: Step): Promise<void> {
        this.taken.push(step.map((it) => (isInputs(it) ? this.#shown(it) : it)) as unknown as Step);
        const written = this.#written(step);
        this.host.inputs.push(...step.filter(isInputs));
        this.#trial.take(written);
        await this.#drive();
    }

    /**
     * Removes everything; nothing may be left. What there is, and what the last updates made, has to be as a create of the same
     * inputs makes it.
     */
    async end(): Promise<void> {
        this.#trial.end();
        await this.#drive();
    }

    /** What went wrong, with the steps as a test. */
    brokenText(words: Words, again: string): string {
        return this.#trial.brokenText(toJsonText(plainJson(words)), this.#story, again);
    }

    #written(step: Step): string {
        const number = this.host.inputs.length;
        return toJsonText(
            step.map((it) => (isInputs(it) ? { number, plain: plainJson(it), text: literal(this.#shown(it)) } : it)),
        );
    }

    // Inputs as they are told.
    #shown(inputs: Inputs): unknown {
        return parseJson(this.#trial.hideInputs(toJsonText(plainJson(inputs))));
    }

    // One thing after the other, up to the end of the step.
    async #drive(): Promise<void> {
        for (let answer: unknown = null; ; ) {
            const request = parseJson(this.#trial.next(toJsonText(answer ?? null))) as Request | ({ do: "end" } & End);
            if (request.do !== "end") {
                answer = await this.host.answer(request);
                continue;
            }
            if (request.outcome === "broken") {
                const cause = request.caused ? this.host.failure?.thrown : undefined;
                const broken = new LawBroken(
                    request.words,
                    errorWithoutSecrets(cause, (text) => this.#trial.hide(text)),
                );
                throw broken.says(this.brokenText(request.words, ""));
            }
            return;
        }
    }
}

function isInputs(part: unknown): part is Inputs {
    return typeof part === "object" && part !== null;
}
