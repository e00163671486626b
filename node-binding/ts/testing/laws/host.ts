// Does what a law on the engine's side asks for (`engine-kit/src/laws`): calls, operations on a stack, looks into the world.
import { loadAddon } from "../../native";
import { parseJson, toJsonText } from "../../process/originals";
import { METHODS } from "../../sdk/methods";
import { direct } from "../direct";
import type { Plan } from "../stack/plan";
import { OperationFailed } from "../stack/settings";
import type { TestStack } from "../stack/stack";
import type { Inputs } from "../stack/subject";
import { Discarded, errorText, LawBroken, plainJson, Raised, Refused } from "./broken";
import type { Law, LawName } from "./law";
import { removerOf } from "./options";
import { stackOf } from "./runs";
import { plain, Trial } from "./trial";

type Bag = Record<string, unknown>;

type Which = "empty" | "inputs" | { returned: number };

type Operation = "preview" | "up" | "refresh" | "destroy";

type Words = Record<"property" | "expected" | "found" | "advice", string>;

type End =
    | { outcome: "holds" | "raised" }
    | { outcome: "needs"; what: string }
    | { outcome: "refused"; error: string }
    | { outcome: "broken"; words: Words; caused: boolean };

type Request =
    | { do: "check"; olds: Which; news: Which }
    | { do: "run"; operation: Operation }
    | { do: "save" | "restore" | "look" }
    | ({ do: "end" } & End);

const NAME = "it";

/** What tries a law whose procedure is the engine's. */
export function triedByEngine(name: LawName): Law["holds"] {
    return (laboratory, [inputs = {}]) => Trial.run(laboratory, (trial) => new Host(trial, inputs).drive(name));
}

class Host {
    readonly #returned: Bag[] = [];
    readonly #before: Set<string>;
    #stack: TestStack | undefined;
    #saved = "";
    #failure: { thrown: unknown } | undefined;

    constructor(
        private readonly trial: Trial,
        private readonly inputs: Inputs,
    ) {
        this.#before = new Set(trial.objects());
    }

    /** Does one thing after the other, up to the end. */
    async drive(name: LawName): Promise<void> {
        const { LawTrial } = loadAddon();
        const methods = METHODS.filter((method) => this.trial.has(method));
        const procedure = new LawTrial(name, JSON.stringify({ methods }));
        try {
            for (let answer: unknown = null; ; ) {
                const request = parseJson(procedure.next(toJsonText(answer))) as Request;
                if (request.do === "end") {
                    return this.#end(request);
                }
                answer = await this.#answer(request);
            }
        } finally {
            await this.#tidy();
        }
    }

    async #answer(request: Exclude<Request, { do: "end" }>): Promise<unknown> {
        switch (request.do) {
            case "check":
                return this.#check(request.olds, request.news);
            case "run":
                return this.#run(request.operation);
            case "save":
                this.#saved = this.#stack?.export() ?? "";
                return null;
            case "restore":
                this.#stack?.restore(this.#saved);
                return null;
            case "look":
                return this.trial.world === undefined ? null : this.trial.objects();
        }
    }

    async #check(olds: Which, news: Which): Promise<unknown> {
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
        const warn = (text: string) => this.trial.warnings.push(text);
        const answer = await raising(() => direct(looking, warn).check(this.#bag(olds), this.#bag(news)));
        const inputs = plain(answer.inputs) as Bag;
        this.#returned.push(inputs);
        const failures = answer.failures.map(({ property, reason }) => [property, reason]);
        return { inputs: plainJson(inputs), failures, given, left: left() };
    }

    #bag(which: Which): Bag {
        if (which === "empty") {
            return {};
        }
        return which === "inputs" ? this.inputs : (this.#returned[which.returned] ?? {});
    }

    async #run(operation: Operation): Promise<unknown> {
        this.#stack ??= stackOf(this.trial, this.inputs, "virtual");
        const stack = this.#stack;
        this.#failure = undefined;
        let plan: Plan = {};
        try {
            plan = operation === "preview" ? await stack.preview() : (await stack[operation]()).plan;
        } catch (thrown) {
            this.#failure = { thrown };
        }
        const id = stack.rows().find(({ name }) => name === NAME)?.id ?? null;
        if (this.#failure !== undefined) {
            const { thrown } = this.#failure;
            return { error: thrown instanceof OperationFailed ? thrown.message : errorText(thrown), id };
        }
        const { action = "same", changes = {} } = plan[NAME] ?? {};
        const told = Object.entries(changes)
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .map(([path, change]) => ({ path, old: change.old, new: change.new }));
        return { error: null, id, step: plainJson({ action, changes: told }) };
    }

    #end(end: End): void {
        const cause = this.#failure?.thrown;
        switch (end.outcome) {
            case "holds":
                return;
            case "raised":
                throw new Raised(cause);
            case "needs":
                throw new Discarded(end.what);
            case "refused":
                throw new Refused(end.error, { cause });
            case "broken": {
                const { property, expected, found, advice } = end.words;
                const breach = { at: property, expected, got: found, advice };
                throw new LawBroken(end.caused ? { ...breach, cause } : breach);
            }
        }
    }

    // A world that begins anew by itself needs nothing.
    async #tidy(): Promise<void> {
        const { world, laboratory } = this.trial;
        const stack = this.#stack;
        if (stack === undefined || (world !== undefined && laboratory.place.resets)) {
            return;
        }
        if (stack.rows().length > 0) {
            await stack.destroy().catch(() => undefined);
        }
        const remove = removerOf(world);
        for (const id of this.trial.objects()) {
            if (!this.#before.has(id)) {
                await remove?.(id);
            }
        }
    }
}

async function raising<T>(action: () => Promise<T>): Promise<T> {
    try {
        return await action();
    } catch (thrown) {
        throw new Raised(thrown);
    }
}
