// Lifecycles of a provider: random ones, made as short as they can be where they go wrong, and given ones.
import { asBroken, LawBroken } from "../laws/broken";
import {
    checkOptions,
    isArbitrary,
    Place,
    type ProviderSource,
    type Samples,
    type SubjectOptions,
} from "../laws/options";
import { beginning, type FastCheck, fastCheck, type Replay, replayLine, replayWanted } from "../laws/samples";
import type { Inputs } from "../stack/subject";
import { type Edit, edited, nearest } from "./edits";
import { Machine } from "./machine";
import { drawnFrom, type Rule, type Step } from "./steps";

export { type Moment, RULES, type Rule, type Step } from "./steps";

/** What an author says of a provider, for lifecycles. */
export interface LifecycleOptions extends SubjectOptions {
    /** Rules that are left out, each with the reason. */
    without?: Partial<Record<Rule, string>>;
    /** Properties of which no two resources have the same value at a time, such as a name. Edits mostly keep them. */
    unique?: readonly string[];
    /** Inputs that are secret (`password`, or a path: `auth.token`): what goes wrong is told without their values. */
    secret?: readonly string[];
    /** So many steps are drawn at most; default 10. Some edits in a row, each with an `up`, count as one. */
    steps?: number;
}

/** The outcome of many lifecycles. */
export interface LifecycleReport {
    /** How many were tried. */
    examples: number;
    /** How often each rule came. */
    rules: Record<string, number>;
    /** The shortest that went wrong. */
    error?: LawBroken;
}

const EXAMPLES = 100;
const STEPS = 10;

/** What a command has to know of what there is. */
type MachineView = Pick<Machine, "program" | "refusal">;
type StepMaker = (known: Readonly<Pick<MachineView, "program">>) => Step;

// Steps as fast-check has them, most often one. What an edit makes depends on what there is when its turn comes.
class Command {
    #steps: Step[] | undefined;

    constructor(
        private readonly drawn: readonly StepMaker[],
        private readonly counts: Record<string, number>,
    ) {}

    async check(model: Readonly<MachineView>): Promise<boolean> {
        const [first] = this.drawn;
        return first !== undefined && model.refusal(first(model)) === undefined;
    }

    async run(model: MachineView, machine: Machine): Promise<void> {
        this.#steps = [];
        for (const drawn of this.drawn) {
            const step = drawn(model);
            if (machine.refusal(step) === undefined) {
                this.#steps.push(step);
                this.counts[step[0]] = (this.counts[step[0]] ?? 0) + 1;
                await machine.take(step);
            }
        }
    }

    toString(): string {
        const steps = this.#steps ?? this.drawn.map((drawn) => drawn({ program: new Map() }));
        return steps.map((step) => JSON.stringify(step)).join(", ");
    }
}

/**
 * Commands for fast-check's `asyncModelRun`, to be mixed with an author's own; `setup` makes what it runs them on. Throws an
 * error that says how to get fast-check where it is missing.
 */
export async function lifecycleCommands(provider: ProviderSource, options: LifecycleOptions) {
    checkOptions("lifecycle", provider, options ?? {});
    const { resources, extents, mostPicks, mostEdits, mostPoints, crashes, moments } = drawnFrom(options.without);
    const fc: FastCheck = await fastCheck("lifecycle");
    const { inputs: samples, world, config, volatile = [], unique, without, secret, steps = STEPS } = options;
    const place = new Place(world);
    const inputs = isArbitrary(samples)
        ? (samples as unknown as ReturnType<typeof fc.constant<Inputs>>)
        : fc.constantFrom(...samples);
    const resource = fc.constantFrom(...resources);
    const counts: Record<string, number> = {};
    // fast-check runs a command again while it makes a lifecycle shorter: each run has a command of its own.
    const late = (...drawn: StepMaker[]): Command =>
        Object.defineProperty(new Command(drawn, counts), fc.cloneMethod, { value: () => late(...drawn) });
    const command = (step: Step): Command => late(() => step);
    const edit =
        (name: string, it: Edit): StepMaker =>
        ({ program }) => {
            const now = program.get(name);
            if (now === undefined) {
                return ["edit", name, it.drawn];
            }
            return ["edit", name, isArbitrary(samples) ? edited(now, it, unique) : nearest(now, samples, it, unique)];
        };
    const up: StepMaker = () => ["up"];
    const anEdit = fc.record<Edit>({
        drawn: inputs,
        extent: fc.oneof(...extents.map(([extent, weight]) => ({ weight, arbitrary: fc.constant(extent) }))),
        pick: fc.integer({ min: 0, max: mostPicks }),
    });
    // What most of a resource's life is made of: as steps of their own, an edit and an `up` would rarely meet.
    const deployed = fc
        .tuple(resource, fc.array(anEdit, { minLength: 1, maxLength: mostEdits, size: "max" }))
        .map(([name, edits]) => late(...edits.flatMap((it) => [edit(name, it), up])));
    const commands = fc.commands<MachineView, Machine, true>(
        [
            fc.tuple(resource, anEdit).map(([name, it]) => late(edit(name, it))),
            fc.constant(0).map(() => command(["up"])),
            deployed,
            deployed,
            fc
                .tuple(fc.integer({ min: 1, max: mostPoints }), fc.constantFrom(...crashes))
                .map(([nth, kind]) => command(["crash", nth, kind])),
            resource.map((name) => command(["remove", name])),
            fc.constantFrom<Step>(["preview"], ["refresh"], ["destroy"], ["restart"], ["lose_answer"]).map(command),
            fc.tuple(resource, inputs).map(([name, it]) => command(["import", name, it])),
            resource.map((name) => command(["import", name])),
            fc.tuple(fc.constantFrom("drift", "vanish"), resource).map(([rule, name]) => command([rule, name] as Step)),
            fc.constantFrom(...moments).map((moment) => command(["second_writer", moment])),
        ],
        { maxCommands: steps, size: "max", ...replayOf() },
    );
    // One lifecycle at a time: fast-check runs them one after the other.
    let now: Machine | undefined;
    const setup = async (): Promise<{ model: MachineView; real: Machine }> => {
        await now?.close();
        now = await Machine.begin({ provider, place, config, volatile, unique, without, secret });
        return { model: now, real: now };
    };
    const close = async (): Promise<void> => {
        await now?.close();
        await place.end();
    };
    return { fc, commands, setup, counts, close };
}

function replayOf(): { replayPath?: string } {
    const commands = replayWanted()?.commands;
    return commands === undefined ? {} : { replayPath: commands };
}

/**
 * Takes a provider through random lifecycles. What went wrong is in the report, with the shortest lifecycle that shows it as
 * a program. `command` runs the test again. Throws a TypeError for options that are missing or wrong.
 */
export async function checkLifecycle(
    provider: ProviderSource,
    options: LifecycleOptions,
    command = "",
): Promise<LifecycleReport> {
    const { fc, commands, setup, counts, close } = await lifecycleCommands(provider, options);
    // The last lifecycle that went wrong, which is the shortest.
    let shortest: Machine | undefined;
    try {
        const details = await fc.check(
            fc.asyncProperty(commands, async (all) => {
                const made = await setup();
                try {
                    await fc.asyncModelRun(() => made, all as Parameters<typeof fc.asyncModelRun>[1]);
                    await made.real.end();
                } catch (thrown) {
                    shortest = made.real;
                    throw thrown;
                }
            }),
            {
                numRuns: options.examples ?? EXAMPLES,
                ...beginning(options.seed),
                endOnFailure: replayWanted()?.commands !== undefined,
            },
        );
        const report = { examples: details.numRuns, rules: counts };
        if (!details.failed || details.counterexample === null || shortest === undefined) {
            return report;
        }
        const [all] = details.counterexample;
        const path = /replayPath="([^"]*)"/.exec(String(all))?.[1];
        const place: Replay = { seed: details.seed, path: details.counterexamplePath ?? "" };
        const again = replayLine(command, path === undefined ? place : { ...place, commands: path }).trim();
        return { ...report, error: told(shortest, asBroken(details.errorInstance), again) };
    } finally {
        await close();
    }
}

function told(machine: Machine, broken: LawBroken, again: string): LawBroken {
    broken.law = "lifecycle";
    broken.inputs = [...machine.taken];
    return broken.says(machine.brokenText(broken.words, again));
}

/**
 * Takes a provider through the given steps, and removes everything at the end. `options` are those of the lifecycles. Throws a
 * {@link LawBroken} where something is not as it has to be, and a TypeError for a step that cannot be done there.
 */
export async function runLifecycle(
    provider: ProviderSource,
    options: Omit<LifecycleOptions, "inputs"> & { inputs?: Samples },
    steps: readonly Step[],
): Promise<void> {
    const { world, config, volatile = [], unique, without, secret } = options;
    drawnFrom(without);
    const place = new Place(world);
    try {
        const machine = await Machine.begin({ provider, place, config, volatile, unique, without, secret });
        try {
            for (const step of steps) {
                const refusal = machine.refusal(step);
                if (refusal !== undefined) {
                    throw new TypeError(refusal);
                }
                await machine.take(step);
            }
            await machine.end();
        } catch (thrown) {
            throw thrown instanceof LawBroken ? told(machine, thrown, "") : thrown;
        } finally {
            await machine.close();
        }
    } finally {
        await place.end();
    }
}
