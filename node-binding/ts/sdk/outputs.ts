// Outputs that provider methods return: `pulumi.secret` marks what is to be kept secret.

import { allOf, OwnMap, OwnSet } from "../originals";
import { type AnyOutput, isOutput } from "./captured-outputs";

/** An output with its value. */
export interface ResolvedOutput {
    isKnown: boolean;
    isSecret: boolean;
    value: unknown;
}

/** What the outputs in a result stand for; those that are met before they are known are noted, to be awaited. */
export class Outputs {
    readonly #resolved = new OwnMap<object, ResolvedOutput>();
    readonly #open = new OwnSet<AnyOutput>();

    /** The value of an output; undefined for what is none, `"open"` for one that is still to be awaited. */
    get(value: object): ResolvedOutput | "open" | undefined {
        if (!isOutput(value)) {
            return undefined;
        }
        const resolved = this.#resolved.get(value);
        if (resolved === undefined) {
            this.#open.add(value);
            return "open";
        }
        return resolved;
    }

    /** Were outputs met that are still to be awaited? */
    get areOpen(): boolean {
        return this.#open.size > 0;
    }

    /** Awaits the outputs that were met. */
    async resolve(): Promise<void> {
        const open = [...this.#open];
        this.#open.clear();
        await allOf(
            open.map(async (output) => {
                const [isKnown, isSecret, value] = await allOf([
                    output.isKnown,
                    output.isSecret ?? false,
                    output.promise(true),
                ]);
                this.#resolved.set(output, { isKnown, isSecret, value });
            }),
        );
    }
}
