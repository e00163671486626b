// How a law was broken, in the words of the engine's side.
import { inspect } from "node:util";
import { loadAddon } from "../../native";
import { shownByRunners } from "../frames";
import { plainJson, show } from "../values";

type Bag = Record<string, unknown>;

/** What is wrong, in words: where, what was expected, what came, and what the author of the provider can do. */
export interface Words {
    /** Path of the property, or the method it is about. */
    property: string;
    expected: string;
    found: string;
    advice: string;
}

/** Inputs as a report shows them, without what is secret: what they are called (`first`, `then`), and they. */
export interface ShownInputs {
    name: string;
    inputs: unknown;
}

/** What became of a law, as `engine-kit/src/laws` takes it. */
export type Outcome = { outcome: string } & Bag;

/** The result of a law in words. */
export function lawResultText(law: string, title: string, provider: string, result: Outcome): string {
    return loadAddon().lawText(law, title, provider, JSON.stringify(plainJson(result)));
}

/**
 * What was thrown, without what is secret: itself, or an error that says and shows the same without it. `hide` takes it out of a
 * text.
 */
export function errorWithoutSecrets(thrown: unknown, hide: (text: string) => string): unknown {
    if (thrown === undefined) {
        return undefined;
    }
    const shown = inspect(thrown, { depth: 8 });
    if (hide(shown) === shown) {
        return thrown;
    }
    const { name, message, stack = "" } = thrown instanceof Error ? thrown : new Error(show(thrown));
    const copy = new Error(hide(message));
    Object.defineProperties(copy, {
        name: { value: name, configurable: true, writable: true },
        stack: { value: hide(stack), configurable: true, writable: true },
    });
    return copy;
}

/** A law that does not hold. Its message has all of it, with the line that runs it again. */
export class LawBroken extends Error {
    override readonly name = "LawBroken";
    /** `L5`; for a lifecycle, `lifecycle`. */
    law = "";
    /** The inputs that show it, made as small as they can be, without what is secret; for a lifecycle, its steps. */
    inputs: unknown[] = [];
    #shown: readonly ShownInputs[] = [];

    constructor(
        readonly words: Words,
        cause?: unknown,
    ) {
        super(undefined, { cause });
        this.says(`${words.property}: expected ${words.expected}, found ${words.found}`);
    }

    /** Takes another message. No line of the author's is in the stack: the law was tried by the kit. */
    says(message: string): this {
        this.message = message;
        this.stack = `${this.name}: ${message}`;
        return this;
    }

    /** What a test runner shows of it besides its members: the message has them already. */
    toJSON(): object {
        return shownByRunners(this);
    }

    /** A law that could not be tried, because the provider refuses all inputs. */
    static untried(law: string, text: string, { message, cause }: Error): LawBroken {
        const words = { property: "inputs", expected: "some that the provider accepts", found: message, advice: "" };
        return Object.assign(new LawBroken(words, cause), { law }).says(text);
    }

    /** Takes the inputs that show it. */
    shows(inputs: readonly ShownInputs[]): this {
        this.#shown = inputs;
        this.inputs = inputs.map((it) => it.inputs);
        return this;
    }

    /** Writes the message in full. */
    complete(law: string, title: string, provider: string, again: string): this {
        this.law = law;
        const found = { outcome: "broken", ...this.told(), inputs: this.#shown, again };
        return this.says(lawResultText(law, title, provider, found));
    }

    /** What was found, as the engine's side takes it. */
    protected told(): Bag {
        return { words: this.words };
    }
}

/** An error of the provider's own that nobody expected. */
export class UnexpectedError extends LawBroken {
    constructor(cause: unknown) {
        super({ property: "an error", expected: "none", found: errorText(cause), advice: "" }, cause);
    }

    protected override told(): Bag {
        return { raised: this.words.found };
    }
}

/** An example that says nothing; the message says what one would have to have. */
export class PassOver extends Error {
    override readonly name: string = "PassOver";
}

/** The provider refuses the inputs of an example. */
export class InputsRefused extends PassOver {
    override readonly name = "InputsRefused";
}

/** How the engine's side ends an example. */
export type End =
    | { outcome: "holds" | "raised" }
    | { outcome: "needs" | "pass-over"; what: string }
    | { outcome: "refused"; error: string }
    | { outcome: "broken"; words: Words; caused: boolean };

/** What is thrown at that end, `cause` being what the provider threw; undefined where the law holds. */
export function thrownAt(end: End, cause: unknown): LawBroken | PassOver | undefined {
    switch (end.outcome) {
        case "holds":
            return undefined;
        case "raised":
            return new UnexpectedError(cause);
        case "needs":
        case "pass-over":
            return new PassOver(end.what);
        case "refused":
            return new InputsRefused(end.error, { cause });
        case "broken":
            return new LawBroken(end.words, end.caused ? cause : undefined);
    }
}

/** An error as sentences have it. */
export function errorText(thrown: unknown): string {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : show(thrown);
}

/** A thrown thing as a broken law: a provider's own error is one, too. */
export function asBroken(thrown: unknown): LawBroken {
    return thrown instanceof LawBroken ? thrown : new UnexpectedError(thrown);
}
