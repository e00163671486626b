// Tries a law on a plugin: `engine-kit/src/plugin_laws` does what the law asks for, and the world is here.
import { parseJson, toJsonText } from "../../originals";
import type { Inputs } from "../stack/subject";
import { askedOf, objectsOf, type World, type WorldRequest } from "../worlds";
import { type End, LawBroken, type ShownInputs, thrownAt } from "./broken";
import type { Plugin } from "./plugin";
import { type LawSubject, subjectOf } from "./subject";

type Request =
    | { do: "renew" | "look" }
    | WorldRequest
    | ({ do: "end"; raised: string | null; inputs: ShownInputs[] } & End);

/** A call of a plugin failed; the message is the plugin's own. */
export class PluginFailed extends Error {
    override readonly name = "PluginFailed";
}

/** Tries a law on one example, as `tryLaw` does for a provider object. */
export async function tryPlugin(
    law: string,
    plugin: Plugin,
    subject: LawSubject,
    inputs: readonly Inputs[],
): Promise<void> {
    const { place, config } = subject.laboratory;
    let world = await place.renew();
    let before = idsOf(world);
    const started = await plugin.started(config, world);
    const trial = started.trial(law, toJsonText(subjectOf(subject, { provider: plugin, world }, inputs)));
    for (let answer: unknown = null; ; ) {
        const request = parseJson(await trial.next(toJsonText(answer ?? null))) as Request;
        answer = null;
        switch (request.do) {
            case "renew":
                world = await place.renew();
                before = idsOf(world);
                break;
            case "look":
                answer = [...idsOf(world)].filter((id) => !before.has(id)).sort();
                break;
            case "end": {
                const raised = request.raised ?? (request.outcome === "raised" ? "it failed" : undefined);
                const thrown = thrownAt(request, raised && new PluginFailed(raised));
                if (thrown !== undefined) {
                    throw thrown instanceof LawBroken ? thrown.shows(request.inputs) : thrown;
                }
                return;
            }
            default:
                answer = await askedOf(world, request);
        }
    }
}

function idsOf(world: World | undefined): Set<string> {
    return new Set(world === undefined ? [] : objectsOf(world));
}
