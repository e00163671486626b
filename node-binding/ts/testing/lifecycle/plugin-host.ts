// Does what the steps of a plugin's lifecycle ask for: the engine's side (`engine-kit/src/plugin_lifecycle`) runs the plugin, and
// the world is here.
import type { NativePluginLife } from "../../native";
import { parseJson, toJsonText } from "../../originals";
import { abilitiesOf } from "../laws/options";
import { PLUGIN_METHODS, type Plugin } from "../laws/plugin";
import { PluginFailed } from "../laws/plugin-host";
import type { Inputs } from "../stack/subject";
import { plainJson } from "../values";
import { askedOf, objectsOf, type World } from "../worlds";
import type { LifeHost, LifeSource, Request } from "./host";

/** A plugin, its world, and all who deploy it. */
export class PluginHost implements LifeHost {
    readonly inputs: Inputs[] = [];
    readonly program = new Map<string, Inputs>();
    failure: { thrown: unknown } | undefined;
    readonly standIn = "plugin";

    private constructor(
        private readonly plugin: Plugin,
        private readonly source: LifeSource,
        private readonly life: NativePluginLife,
        private world: World | undefined,
    ) {}

    static async begin(plugin: Plugin, source: LifeSource): Promise<PluginHost> {
        const world = await source.place.renew();
        const started = await plugin.started(source.config, world);
        return new PluginHost(plugin, source, started.life(), world);
    }

    get subject(): object {
        const { place, volatile } = this.source;
        return {
            name: this.plugin.type,
            methods: PLUGIN_METHODS,
            world: abilitiesOf(this.world),
            resets: place.resets,
            plugin: true,
            volatile,
        };
    }

    async answer(request: Request): Promise<unknown> {
        const { world } = this;
        switch (request.do) {
            case "look":
                return world === undefined ? null : objectsOf(world);
            case "picture":
            case "mutate-remote":
            case "delete-remote":
                return askedOf(world, request);
            case "program": {
                this.program.clear();
                for (const [name, number] of Object.entries(request.resources)) {
                    this.program.set(name, this.inputs[number] ?? {});
                }
                return this.#asked({ ...request, resources: plainJson(Object.fromEntries(this.program)) });
            }
            case "make-afresh":
                this.world = await this.source.place.renew();
                return this.#asked(this.#withInputs(request));
            case "check":
            case "make":
                return this.#asked(this.#withInputs(request));
            default:
                return this.#asked(request);
        }
    }

    close(): Promise<void> {
        return this.life.close();
    }

    #withInputs<R extends { inputs: number }>(request: R): object {
        return { ...request, inputs: plainJson(this.inputs[request.inputs] ?? {}) };
    }

    async #asked(request: object): Promise<unknown> {
        const answer: unknown = parseJson(await this.life.answer(toJsonText(request)));
        const { error = null } = (answer ?? {}) as { error?: string | null };
        this.failure = error === null ? undefined : { thrown: new PluginFailed(error) };
        return answer;
    }
}
