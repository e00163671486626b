// Describes a provider to the engine's side, before a law is tried on it.
import { METHODS } from "../../sdk/methods";
import type { Inputs } from "../stack/subject";
import { plainJson } from "../values";
import type { World } from "../worlds";
import { abilitiesOf, type BaselineResource } from "./options";
import { PLUGIN_METHODS, Plugin } from "./plugin";
import { oddIn } from "./portable";
import type { Laboratory } from "./trial";

/** What the author of a provider says of it. */
export interface LawSubject {
    laboratory: Laboratory;
    baseline?: readonly BaselineResource[] | undefined;
    /** So long (milliseconds) a call may take to end once it is cancelled. */
    grace: number;
    /** How many different inputs there are; undefined where they are drawn. */
    listed?: number | undefined;
}

/** The provider and world of an example, or of a look before the first. */
interface ProviderAndWorld {
    provider: object;
    world: World | undefined;
}

/** That, as `engine-kit/src/laws/subject.rs` has it. */
export function subjectOf(
    subject: LawSubject,
    { provider, world }: ProviderAndWorld,
    inputs: readonly Inputs[] = [],
): object {
    const { laboratory, baseline, grace, listed } = subject;
    const isPlugin = provider instanceof Plugin;
    const methods = isPlugin
        ? PLUGIN_METHODS
        : METHODS.filter((it) => typeof (provider as Record<string, unknown>)[it] === "function");
    return {
        methods,
        inputs: plainJson(inputs),
        oddInputs: oddIn(inputs).length > 0,
        volatile: laboratory.volatile,
        secret: laboratory.secret ?? null,
        world: abilitiesOf(world),
        baseline: baseline?.map(isPlugin ? plainJson : ({ id = "" }) => ({ id })) ?? null,
        grace: grace / 1000,
        listed: listed ?? null,
        plugin: isPlugin,
    };
}
