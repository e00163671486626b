// Tries a law on a plugin: `engine-kit/src/plugin_laws` does what the law asks for, and the world is here.
import { parseJson, toJsonText } from "../../process/originals";
import type { Inputs } from "../stack/subject";
import { objectsOf, pictureOf, type World } from "../worlds";
import { Discarded, LawBroken, plainJson, Raised, Refused, type ShownInputs, type Words } from "./broken";
import { removerOf } from "./options";
import type { Plugin } from "./plugin";
import { type LawSubject, subjectOf } from "./subject";

type End = { raised: string | null; inputs: ShownInputs[]; left: string[] } & (
    | { outcome: "holds" | "raised" }
    | { outcome: "needs" | "pass-over"; what: string }
    | { outcome: "refused"; error: string }
    | { outcome: "broken"; words: Words; caused: boolean }
);

type Request =
    | { do: "renew" | "look" | "picture" }
    | { do: "mutate-remote" | "delete-remote"; id: string }
    | ({ do: "end" } & End);

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
            case "picture":
                answer = plainJson(pictureOf(world as World));
                break;
            case "mutate-remote":
                await world?.mutateRemote?.(request.id);
                break;
            case "delete-remote":
                await removerOf(world)?.(request.id);
                break;
            default:
                return ended(request);
        }
    }
}

function idsOf(world: World | undefined): Set<string> {
    return new Set(world === undefined ? [] : objectsOf(world));
}

function ended(end: End): void {
    const raised = end.raised === null ? undefined : new PluginFailed(end.raised);
    switch (end.outcome) {
        case "needs":
        case "pass-over":
            throw new Discarded(end.what);
        case "refused":
            throw new Refused(end.error, { cause: raised });
        case "raised":
            throw new Raised(raised ?? new PluginFailed("it failed")).shows(end.inputs);
        case "broken":
            throw new LawBroken(end.words, end.caused ? raised : undefined).shows(end.inputs);
        default:
    }
}
