// Configuration values in the forms in which the command line prints and takes them.
import type { ConfigMap, ConfigValue } from "@pulumi/pulumi/automation";

/** One value as `config --json` prints it. */
interface PrintedValue {
    value?: string;
    objectValue?: unknown;
    secret?: boolean;
}

/** A value to be set, at a key or at a path below one. */
export interface Setting {
    key: string;
    value: ConfigValue;
    path: boolean;
}

/** The values in what `config --json` prints; objects and lists are set leaf by leaf. */
export function settingsIn(configJson: string): Setting[] {
    const config: unknown = JSON.parse(configJson);
    if (typeof config !== "object" || config === null || Array.isArray(config)) {
        throw new TypeError("the configuration must be what `config --json` prints: an object by key");
    }
    return Object.entries(config as Record<string, PrintedValue>).flatMap(([key, { value, objectValue, secret }]) => {
        if (objectValue !== undefined) {
            return leaves(key, objectValue).map(([path, text]) => setting(path, text, secret, true));
        }
        if (typeof value !== "string") {
            throw new TypeError(
                `the configuration value '${key}' has neither a text as \`value\` nor an \`objectValue\``,
            );
        }
        return [setting(key, value, secret, false)];
    });
}

/** Flags of `config set-all`. */
export function assignments(config: ConfigMap): string[] {
    return Object.entries(config).map(([key, given]) => {
        const { value, secret } = configValue(key, given);
        return `${secret ? "--secret" : "--plaintext"}=${key}=${value}`;
    });
}

/** What may be set. Throws a TypeError for what is easily given in its place. */
export function configValue(key: string, given: ConfigValue): ConfigValue {
    if (typeof given === "object" && given !== null && "value" in given) {
        return given;
    }
    throw new TypeError(
        `the value of '${key}' is ${JSON.stringify(given)}; it has to be { value, secret }, as in { value: "text", secret: true }`,
    );
}

/** The same, where only a text will do. */
export function configText(key: string, given: ConfigValue): ConfigValue {
    const { value } = configValue(key, given);
    if (typeof value === "string") {
        return given;
    }
    throw new TypeError(
        `the value of '${key}' is { value: ${JSON.stringify(value)} }, which is no text: write String(...) around it, or ` +
            "JSON.stringify(...) for a list or an object",
    );
}

function setting(key: string, value: string, secret: boolean | undefined, path: boolean): Setting {
    return { key, value: { value, secret: secret === true }, path };
}

function leaves(path: string, value: unknown): [path: string, text: string][] {
    if (Array.isArray(value)) {
        return value.flatMap((below, index) => leaves(`${path}[${index}]`, below));
    }
    if (typeof value === "object" && value !== null) {
        return Object.entries(value).flatMap(([name, below]) => leaves(`${path}[${JSON.stringify(name)}]`, below));
    }
    return [[path, typeof value === "string" ? value : JSON.stringify(value)]];
}
