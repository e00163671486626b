// `Output.get()` inside provider methods.
import * as path from "node:path";

import type { AnyOutput } from "./captured-outputs";

const known = new WeakMap<object, { value: unknown }>();
let isInsideCall: () => boolean = () => false;

/** Says how to find out whether the running code is a provider's method. */
export function setInsideCall(test: () => boolean): void {
    isInsideCall = test;
}

/** Has `get` of one copy of the SDK answer inside provider methods. */
export function answerGet(root: string): void {
    const { Output } = require(path.join(root, "output.js")) as {
        Output?: { prototype?: { get?: (this: object) => unknown } };
    };
    const prototype = Output?.prototype;
    const original = prototype?.get;
    if (prototype === undefined || original === undefined) {
        return;
    }
    const answering = function (this: object): unknown {
        if (!isInsideCall()) {
            return original.call(this);
        }
        const answer = known.get(this);
        if (answer === undefined) {
            throw new Error(
                "the value of this output is not known inside the provider's method: its code does not show which output it " +
                    "reads. Pass the value as an input of the resource, or hold the output in an attribute of the provider " +
                    "(`this.name.get()`) and name its resource in `dependsOn`",
            );
        }
        return answer.value;
    };
    // Serialised as the SDK's own, which needs nothing from around it.
    answering.toString = () => Function.prototype.toString.call(original);
    prototype.get = answering;
}

type OutputClass = new (
    resources: Iterable<unknown>,
    promise: Promise<unknown>,
    isKnown: Promise<boolean>,
    isSecret: Promise<boolean>,
    allResources: Promise<Iterable<unknown>>,
) => object;

/** An output with this value that waits for others, depends on their resources, and makes their values known to `get`. */
export function waitingFor(root: string, value: string, outputs: AnyOutput[]): unknown {
    const { Output } = require(path.join(root, "output.js")) as { Output: OutputClass };
    const ready = Promise.all(
        outputs.map(async (output) => {
            const [isKnown, inner] = await Promise.all([output.isKnown, output.promise()]);
            known.set(output, { value: isKnown ? inner : undefined });
        }),
    );
    const resources = Promise.all(outputs.map((output) => output.allResources?.() ?? output.resources()));
    return new Output(
        outputs.flatMap((output) => [...output.resources()]),
        ready.then(() => value),
        Promise.resolve(true),
        Promise.resolve(false),
        resources.then((sets) => new Set(sets.flatMap((set) => [...set]))),
    );
}
