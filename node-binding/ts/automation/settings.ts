// Pulumi.yaml and Pulumi.<stack>.yaml as the automation API hands them out and takes them.
import * as fs from "node:fs";
import * as path from "node:path";
import type { ProjectSettings, StackSettings } from "@pulumi/pulumi/automation";
import type { ScalarTag } from "yaml";
import { mapMembers } from "../process/members";

// Loaded where a file is read or written: it has seventy modules, and most runs and commands of fleets do neither.
const yaml = () => require("yaml") as typeof import("yaml");

const EXTENSIONS = [".yaml", ".yml", ".json"];

// Members of stack settings that the files spell in another way.
const SPELLINGS = [
    ["secretsprovider", "secretsProvider"],
    ["encryptedkey", "encryptedKey"],
    ["encryptionsalt", "encryptionSalt"],
] as const;

// Texts and numbers as the engine tells them apart, where the library does otherwise.
const OTHERWISE: ScalarTag[] = [
    { tag: "tag:yaml.org,2002:str", default: true, test: /^[-+]?0[0-9]+$/, resolve: (text) => text },
    {
        tag: "tag:yaml.org,2002:int",
        default: true,
        test: /^[-+]?0(?:b[01]+|o[0-7]+|x[0-9a-fA-F]+)$/,
        resolve: (text) => (text.startsWith("-") ? -1n : 1n) * BigInt(text.replace(/^[-+]/, "")),
    },
];

// What any reader of YAML may take for a number, a date, a time or a truth value: as a text it is written between quotes.
const NUMBER_LIKE: ScalarTag = {
    tag: "tag:yaml.org,2002:int",
    default: true,
    test: /^(?:[-+]?\.?\d|(?:y|n|yes|no|on|off)$)/i,
    identify: () => false,
    resolve: (text) => text,
};

/** The settings of an inline program's project that has none. */
export function defaultProject(name: string): ProjectSettings {
    return { name, runtime: "nodejs", main: process.cwd() };
}

/** Does a directory have project settings? */
export function hasProject(directory: string): boolean {
    return existing(directory, "Pulumi") !== undefined;
}

/** The project settings of a directory; throws where there are none, or none that can be read. */
export function loadProject(directory: string): ProjectSettings {
    const file = existing(directory, "Pulumi");
    if (file === undefined) {
        throw new Error(
            `failed to find project settings in workdir: ${directory} (no Pulumi.yaml, Pulumi.yml or Pulumi.json)`,
        );
    }
    return read(file) as ProjectSettings;
}

/** Writes project settings, into the file that there is. */
export function saveProject(directory: string, settings: ProjectSettings): void {
    write(existing(directory, "Pulumi") ?? path.join(directory, "Pulumi.yaml"), settings);
}

/** Does a directory have settings of a stack? */
export function hasStack(directory: string, stack: string): boolean {
    return existing(directory, `Pulumi.${shortName(stack)}`) !== undefined;
}

/** The settings of a stack; throws where there are none, or none that can be read. */
export function loadStack(directory: string, stack: string): StackSettings {
    const file = existing(directory, `Pulumi.${shortName(stack)}`);
    if (file === undefined) {
        throw new Error(
            `failed to find stack settings file in workdir: ${directory} (no Pulumi.${shortName(stack)}.yaml)`,
        );
    }
    const settings = { ...(read(file) as Record<string, unknown>) };
    for (const [spelled, name] of SPELLINGS) {
        if (spelled in settings) {
            settings[name] = settings[spelled];
            delete settings[spelled];
        }
    }
    return settings as StackSettings;
}

/** Writes the settings of a stack, into the file that there is. */
export function saveStack(directory: string, stack: string, settings: StackSettings): void {
    const base = `Pulumi.${shortName(stack)}`;
    const written: Record<string, unknown> = { ...settings };
    for (const [spelled, name] of SPELLINGS) {
        if (name in written) {
            written[spelled] = written[name];
            delete written[name];
        }
    }
    write(existing(directory, base) ?? path.join(directory, `${base}.yaml`), written);
}

/** The last part of `organization/project/stack`: files are named after it. */
export function shortName(stack: string): string {
    return stack.slice(stack.lastIndexOf("/") + 1);
}

function existing(directory: string, base: string): string | undefined {
    return EXTENSIONS.map((extension) => path.join(directory, base + extension)).find((file) => fs.existsSync(file));
}

function read(file: string): unknown {
    const text = fs.readFileSync(file, "utf8");
    try {
        const settings: unknown = file.endsWith(".json")
            ? JSON.parse(text)
            : exact(yaml().parse(text, { intAsBigInt: true, customTags: (tags) => [...OTHERWISE, ...tags] }));
        if (settings === null || settings === undefined) {
            return {};
        }
        if (typeof settings !== "object" || Array.isArray(settings)) {
            throw new Error("it is no mapping of names to values");
        }
        return settings;
    } catch (error) {
        throw new Error(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
    }
}

// Whole numbers are numbers where these have all their digits, else texts.
function exact(value: unknown): unknown {
    if (typeof value === "bigint") {
        return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    }
    return value !== null && typeof value === "object" ? mapMembers(value, exact) : value;
}

// Beside first, then moved: whoever reads meanwhile sees the old or the new file.
function write(file: string, settings: object): void {
    const text = file.endsWith(".json")
        ? `${JSON.stringify(settings, null, 4)}\n`
        : yaml().stringify(settings, { customTags: [NUMBER_LIKE] });
    const beside = `${file}.${process.pid}.new`;
    fs.writeFileSync(beside, text);
    fs.renameSync(beside, file);
}
