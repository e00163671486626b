// Secrets of other stacks that cannot be decrypted: a program that asks for one is stopped, whatever it does with it.
//
// A text of the engine's stands for each (`engine-core/src/builtin/unreadable.rs`), and the engine refuses requests that carry one.
// A program may use it without sending it: so what a stack reference gives is looked through before the program sees it, and the
// engine is shown the text that is found. The engine alone decides whether the run may go on.
import * as path from "node:path";

import { type AnyOutput, isOutput } from "./captured-outputs";
import { replaceInSdk } from "./speed";

interface Output extends AnyOutput {
    apply(callback: (value: unknown) => unknown, runWithUnknowns?: boolean): Output;
}

type Reference = Record<string, unknown>;
type Ask = (this: Reference, name: unknown) => Output;
type Invoke = (token: string, args: object) => Promise<unknown>;

const BEGINNING = "[maloko cannot decrypt the output '";

/** Has one copy of the SDK stop a program that asks a stack reference for such a secret. */
export function refuseUnreadable(root: string): void {
    const load = (name: string): Record<string, unknown> =>
        require(path.join(root, `${name}.js`)) as Record<string, unknown>;
    const { StackReference } = load("stackReference") as { StackReference?: { prototype?: Reference } };
    const { invoke } = load("runtime/invoke");
    const prototype = StackReference?.prototype;
    if (prototype === undefined || typeof invoke !== "function") {
        return;
    }
    const readable: Readable = (reference, output) => readableFor(invoke as Invoke, reference, output);
    for (const name of ["getOutput", "requireOutput"]) {
        const original = prototype[name];
        if (typeof original === "function") {
            replaceInSdk(prototype, name, ofOutput(original as Ask, readable));
        }
    }
    lookThroughOutputs(prototype, readable);
}

/** The same output, for a run that may go on with all that it holds. */
type Readable = (reference: Reference, output: Output) => Output;

function readableFor(invoke: Invoke, reference: Reference, output: Output): Output {
    return output.apply(async (value) => {
        const text = hiddenIn(value);
        if (text !== undefined) {
            // The engine is asked for what the reference has read already, with the text: a run that may not go on is ended by it.
            await invoke("pulumi:pulumi:readStackOutputs", { name: reference.name, without: text });
        }
        return value;
    });
}

/** Is a method of a stack reference at work? It takes one of all outputs, and is looked through itself. */
let isTakingOne = false;

function ofOutput(original: Ask, readable: Readable): Ask {
    return function (this: Reference, name: unknown): Output {
        isTakingOne = true;
        try {
            return lookedThrough(original.call(this, name), (it) => readable(this, it));
        } finally {
            isTakingOne = false;
        }
    };
}

// The SDK sets `outputs` on each stack reference.
function lookThroughOutputs(prototype: Reference, readable: Readable): void {
    if ("outputs" in prototype) {
        return;
    }
    Object.defineProperty(prototype, "outputs", {
        configurable: true,
        set(this: Reference, output: Output) {
            const value = lookedThrough(output, (it) => readable(this, it));
            Object.defineProperty(this, "outputs", { value, configurable: true, enumerable: true, writable: true });
        },
    });
}

/** An output of a stack reference. A member that is asked for by its name is looked through by itself. */
function lookedThrough(output: Output, readable: (output: Output) => Output): Output {
    return new Proxy(output, {
        get(_target, name) {
            if (name === "apply") {
                return (...given: Parameters<Output["apply"]>) => readable(output).apply(...given);
            }
            if (name === "promise") {
                return (withUnknowns?: boolean) => (isTakingOne ? output : readable(output)).promise(withUnknowns);
            }
            const member = Reflect.get(output, name) as unknown;
            return isOutput(member) ? lookedThrough(member as Output, readable) : member;
        },
    });
}

function hiddenIn(value: unknown): string | undefined {
    if (typeof value === "string") {
        return value.startsWith(BEGINNING) ? value : undefined;
    }
    if (typeof value !== "object" || value === null) {
        return undefined;
    }
    for (const item of Object.values(value)) {
        const text = hiddenIn(item);
        if (text !== undefined) {
            return text;
        }
    }
    return undefined;
}
