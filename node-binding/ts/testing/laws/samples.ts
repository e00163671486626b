// Trying a property of a provider with many inputs, and making those smaller that show it broken.

import { messageOf } from "../../process/errors";
import type { Inputs } from "../stack/subject";
import { installation, requireSupported } from "../supported/versions";
import { PassOver } from "./broken";
import { type ArbitraryLike, isArbitrary, type Samples } from "./options";

/** fast-check as an ES module: the copy that the author's arbitraries come from. */
export type FastCheck = typeof import("fast-check", { with: { "resolution-mode": "import" }});
type Arbitrary<T> = import("fast-check", { with: { "resolution-mode": "import" }}).Arbitrary<T>;

/** Which examples are tried. */
export interface Examples {
    /** How many are drawn. */
    drawn: number;
    /** Those of an author's list, each as the numbers of its inputs. */
    listed: readonly number[][];
}

/** What examples are made of, where fast-check is to begin, and how far it is to go. */
export interface Sampling extends Examples {
    samples: Samples;
    seed?: number | undefined;
    /** Is the first example that shows something to be told as it is? */
    whole?: boolean | undefined;
}

/** A place among the examples: `SEED,PATH`, and for lifecycles a third part. */
export interface Replay {
    seed: number;
    path: string;
    commands?: string;
}

const VARIABLE = "MALOKO_REPLAY";

/** Where the user wants to begin; undefined unless MALOKO_REPLAY says so. Throws an error for what it cannot mean. */
export function replayWanted(): Replay | undefined {
    const text = process.env[VARIABLE];
    if (text === undefined || text === "") {
        return undefined;
    }
    const [seed, path = "", commands] = text.split(",");
    if (!/^-?\d+$/.test(seed ?? "") || !/^[\d:]*$/.test(path)) {
        throw new Error(`${VARIABLE}=${text} is not SEED,PATH as the message of a failed test has it`);
    }
    return { seed: Number(seed), path, ...(commands === undefined ? {} : { commands }) };
}

/** Where examples begin, as fast-check takes it: where the user wants, else with a seed, else anywhere. */
export function beginning(seed: number | undefined): { seed?: number; path?: string } {
    const { seed: first, path = "" } = replayWanted() ?? { seed };
    return { ...(first === undefined ? {} : { seed: first }), ...(path === "" ? {} : { path }) };
}

// So many characters a place has at most: it is copied from a terminal.
const MAX_PLACE_LENGTH = 40;

/**
 * The line that runs an example again. Where the way to the smaller example is too long to be written down, it is found once
 * more: from the same seed, examples are drawn and made smaller as before.
 */
export function replayLine(command: string, { seed, path, commands }: Replay): string {
    const whole = [seed, path, ...(commands === undefined ? [] : [commands])].join(",");
    const [drawn = ""] = path.split(":");
    return `${VARIABLE}=${whole.length < MAX_PLACE_LENGTH ? whole : `${seed},${drawn}`} ${command}`;
}

/** fast-check, which is the user's own. Throws an error that says how to get it. */
export async function fastCheck(what: string): Promise<FastCheck> {
    requireSupported("fast-check", what);
    try {
        return await import("fast-check").catch(() => {
            // jest takes no ES modules unless it is told to.
            return require("fast-check") as unknown as FastCheck;
        });
    } catch (error) {
        throw new Error(
            `${what} needs the package fast-check, which cannot be loaded: ${messageOf(error).split("\n")[0]}. ` +
                `Install it with \`${installation("fast-check")}\``,
            { cause: error },
        );
    }
}

/** The outcome of examples in which nothing was wrong: how many held, or why none could be tried. */
export type NoCounterexample = { tried: number } | { untried: PassOver[] };

/** The outcome: what was wrong with which inputs. */
export interface Counterexample {
    thrown: unknown;
    inputs: unknown[];
    replay?: Replay;
}

/**
 * Calls `property` with `count` inputs at a time. Gives the first that show something wrong.
 */
export async function forAll(
    { samples, drawn, listed, seed, whole }: Sampling,
    count: number,
    property: (...inputs: Inputs[]) => Promise<void>,
): Promise<Counterexample | NoCounterexample> {
    let tried = 0;
    const passedOver: PassOver[] = [];
    const attempt = async (inputs: Inputs[]): Promise<boolean> => {
        try {
            // Providers may keep what they are given.
            await property(...structuredClone(inputs));
            tried++;
            return true;
        } catch (thrown) {
            if (thrown instanceof PassOver) {
                passedOver.push(thrown);
                return false;
            }
            tried++;
            throw thrown;
        }
    };
    const found = isArbitrary(samples)
        ? await generated(samples, { drawn, seed, whole }, count, attempt)
        : await each(samples, listed, attempt);
    if (tried === 0 && found === undefined) {
        return { untried: passedOver };
    }
    return found ?? { tried };
}

async function each(
    samples: readonly Inputs[],
    listed: Examples["listed"],
    attempt: (inputs: Inputs[]) => Promise<boolean>,
): Promise<Counterexample | undefined> {
    for (const numbers of listed) {
        const inputs = numbers.map((number) => samples[number] as Inputs);
        try {
            await attempt(inputs);
        } catch (thrown) {
            return { thrown, inputs };
        }
    }
    return undefined;
}

async function generated(
    arbitrary: ArbitraryLike,
    { drawn, seed, whole }: Pick<Sampling, "drawn" | "seed" | "whole">,
    count: number,
    attempt: (inputs: Inputs[]) => Promise<boolean>,
): Promise<Counterexample | undefined> {
    const fc: FastCheck = await fastCheck("an arbitrary as `inputs`");
    const one = arbitrary as unknown as Arbitrary<Inputs>;
    const many = fc.tuple(...Array.from({ length: count }, () => one));
    const details = await fc.check(
        fc.asyncProperty(many, async (inputs) => {
            fc.pre(await attempt(inputs));
        }),
        {
            numRuns: drawn,
            ...beginning(seed),
            endOnFailure: whole === true || (replayWanted()?.path.includes(":") ?? false),
            maxSkipsPerRun: 20,
        },
    );
    if (!details.failed || details.counterexample === null) {
        return undefined;
    }
    return {
        thrown: details.errorInstance,
        inputs: details.counterexample[0],
        replay: { seed: details.seed, path: details.counterexamplePath ?? "" },
    };
}
