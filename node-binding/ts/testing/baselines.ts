// What a release of a provider left in a state, for the tests of later releases.
import * as fs from "node:fs";
import * as path from "node:path";
import { messageOf } from "../errors";
import { parseJson } from "../originals";
import { SECRET_SIGNATURE, SIGNATURE_KEY } from "../signatures";

const HIDDEN = /^"\[secret(?::(.*))?\]"$/s;

/** Writes an exported state to a file. Secrets are hidden; those of the configuration stand there by their keys. */
export function writeBaseline(file: string, deployment: string, secrets: Record<string, string>): void {
    const keys = new Map(Object.entries(secrets).map(([key, value]) => [JSON.stringify(value), key]));
    const hide = (plaintext: string): string => {
        const key = keys.get(plaintext);
        return JSON.stringify(key === undefined ? "[secret]" : `[secret:${key}]`);
    };
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `${JSON.stringify(withSecrets(parseJson(deployment), hide), undefined, 2)}\n`);
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
        const [, key] = HIDDEN.exec(plaintext) ?? [];
        const value = key === undefined ? undefined : secrets[key];
        return value === undefined ? plaintext : JSON.stringify(value);
    };
    return JSON.stringify(withSecrets(deployment, show));
}

function withSecrets(value: unknown, change: (plaintext: string) => string): unknown {
    if (value === null || typeof value !== "object") {
        return value;
    }
    if (Array.isArray(value)) {
        return value.map((item) => withSecrets(item, change));
    }
    const members = value as Record<string, unknown>;
    if (members[SIGNATURE_KEY] === SECRET_SIGNATURE && typeof members.plaintext === "string") {
        return { ...members, plaintext: change(members.plaintext) };
    }
    return Object.fromEntries(Object.entries(members).map(([key, member]) => [key, withSecrets(member, change)]));
}
