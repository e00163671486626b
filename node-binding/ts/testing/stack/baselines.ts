// What a release of a provider left in a state, for the tests of later releases.
import * as fs from "node:fs";
import * as path from "node:path";
import { parseJson } from "../../originals";
import { messageOf } from "../../process/errors";
import { mapMembers } from "../../process/members";
import { isSecret } from "../../sdk/signatures";
import { mapTexts, scrubbedValues, secretTexts } from "../scrubbing";
import { HIDDEN } from "../values";

const NAMED = /\[secret:([^\]]*)\]/g;
const WHOLE = /^"\[secret(?::(.*))?\]"$/s;
// What programs and providers gave. Resources refer to each other by the rest: by names and ids.
const GIVEN = new Set(["inputs", "outputs", "initErrors"]);

/** Writes an exported state to a file. Secrets are hidden; those of the configuration stand there by their keys. */
export function writeBaseline(file: string, deployment: string, secrets: Record<string, string>): void {
    const state = parseJson(deployment);
    const named = Object.entries(secrets).map(([key, value]): [string, string] => [value, `[secret:${key}]`]);
    const keys = new Map(named.map(([value, hidden]) => [JSON.stringify(value), hidden]));
    const hide = (plaintext: string): string => JSON.stringify(keys.get(plaintext) ?? HIDDEN);
    const others = secretTexts(state).map((text): [string, string] => [text, HIDDEN]);
    // A provider may have put a secret into a property that nobody marked.
    const all = [...named, ...others];
    const hidden = withGiven(withSecrets(state, hide), (given) => scrubbedValues(given, all));
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `${JSON.stringify(hidden, undefined, 2)}\n`);
}

/** Reads it, with today's secrets of the configuration. Throws an error that names the file. */
export function readBaseline(file: string, secrets: Record<string, string>): string {
    let deployment: unknown;
    try {
        deployment = parseJson(fs.readFileSync(file, "utf8"));
    } catch (error) {
        throw new Error(
            `the baseline ${file} cannot be read: ${messageOf(error)}; \`s.saveBaseline(file)\` writes one after \`up\``,
            { cause: error },
        );
    }
    const show = (plaintext: string): string => {
        const [, key] = WHOLE.exec(plaintext) ?? [];
        const value = key === undefined ? undefined : secrets[key];
        return value === undefined ? plaintext : JSON.stringify(value);
    };
    const showIn = (text: string): string => text.replace(NAMED, (hidden, key: string) => secrets[key] ?? hidden);
    return JSON.stringify(withGiven(withSecrets(deployment, show), (given) => mapTexts(given, showIn)));
}

function withSecrets(value: unknown, change: (plaintext: string) => string): unknown {
    if (value === null || typeof value !== "object") {
        return value;
    }
    const { plaintext } = value as { plaintext?: unknown };
    return isSecret(value) && typeof plaintext === "string"
        ? { ...value, plaintext: change(plaintext) }
        : mapMembers(value, (member) => withSecrets(member, change));
}

function withGiven(state: unknown, change: (given: unknown) => unknown): unknown {
    if (state === null || typeof state !== "object") {
        return state;
    }
    return mapMembers(state, (member, key) => (GIVEN.has(key) ? change(member) : withGiven(member, change)));
}
