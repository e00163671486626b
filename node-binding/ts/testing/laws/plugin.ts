// A provider plugin under the laws and in lifecycles, and its process.
import * as path from "node:path";
import { loadAddon, type NativePlugin } from "../../native";
import { toJsonText } from "../../originals";
import { show } from "../values";
import { type ConfigSource, configOf, type World } from "../worlds";

/** What the protocol of plugins has. Whether a plugin knows a method is found out by calling it. */
export const PLUGIN_METHODS = ["check", "diff", "create", "read", "update", "delete"];

/** What else is to be known of a plugin. */
export interface PluginOptions {
    /** Its executable or folder; without it, the plugin of the type's package is looked for as for a program. */
    path?: string;
    /** The version of the package; with `parameters`, of the plugin. */
    version?: string;
    /** With `parameters` and without `path`: the name of the plugin, such as `terraform-provider`. */
    plugin?: string;
    /** What the plugin makes the package of: `["hashicorp/random", "3.6.0"]`. */
    parameters?: readonly string[];
    /** Configuration that is secret, beside `config` of the laws. */
    secrets?: Record<string, string>;
}

/**
 * A provider plugin, in the place of a provider: `laws(new Plugin("random:index/randomPet:RandomPet"), options)`; so for
 * lifecycles. Its process is started when it is needed first, and ends with `close()` or with the process of the tests.
 */
export class Plugin {
    readonly #options: PluginOptions;
    readonly #started = new Map<string, Promise<NativePlugin>>();

    /** `type` is the type token of the resource. Throws a TypeError when `parameters` is no list of texts. */
    constructor(
        readonly type: string,
        options: PluginOptions = {},
    ) {
        const { parameters = [] } = options;
        if (typeof parameters === "string") {
            const meant = show((parameters as string).split(/\s+/).filter(Boolean));
            throw new TypeError(`\`parameters\` is ${show(parameters)}, and no list; give parameters: ${meant}`);
        }
        if (!Array.isArray(parameters) || !parameters.every((it) => typeof it === "string")) {
            throw new TypeError(
                `\`parameters\` is ${show(parameters)}, and no list of texts; write each between quotes`,
            );
        }
        this.#options = options;
    }

    /** Ends its processes. */
    async close(): Promise<void> {
        const started = [...this.#started.values()];
        this.#started.clear();
        for (const plugin of await Promise.allSettled(started)) {
            if (plugin.status === "fulfilled") {
                await plugin.value.close();
            }
        }
    }

    /** The plugin with this configuration, started. Fails when it is not there, or does not come up. */
    started(source?: ConfigSource, world?: World): Promise<NativePlugin> {
        const config = configOf(source, world);
        const { path: given = "", version = "", plugin: name = "", parameters = [], secrets = {} } = this.#options;
        const values = [
            ...Object.entries(config).map(([key, value]) => [key, { value }] as const),
            ...Object.entries(secrets).map(([key, value]) => [key, { value, secret: true }] as const),
        ];
        const setup = toJsonText({ type: this.type, version, parameters, config: Object.fromEntries(values) });
        const known = this.#started.get(setup);
        if (known !== undefined) {
            return known;
        }
        const begin = async (): Promise<NativePlugin> => {
            const { PluginUnderTest } = loadAddon();
            const plugin = new PluginUnderTest(process.cwd(), given === "" ? name : path.resolve(given), setup);
            await plugin.prepare();
            return plugin;
        };
        const beginning = begin();
        this.#started.set(setup, beginning);
        beginning.catch(() => this.#started.delete(setup));
        return beginning;
    }
}
