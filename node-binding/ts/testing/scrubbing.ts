// Keeps what is known to be secret out of the files that tests keep: a provider may well put a secret into a property
// that nobody marked as one.
import { parseJson, toJsonText } from "../process/originals";
import { SECRET_SIGNATURE, SIGNATURE_KEY } from "../sdk/signatures";
import { HIDDEN } from "./values";

// A shorter text would hide half of everything.
const LEAST = 4;
// Values of secrets now and then, and no secrets as words.
const HARMLESS = new Set(["true", "false", "null", "none", "undefined", HIDDEN]);

/** Puts `[secret]` in the place of secrets, also as they look within a URL or a JSON text. */
export function scrub(text: string, secrets: string[]): string {
    return replaced(text, longestFirst(secrets.filter((secret) => secret !== "").map((secret) => [secret, HIDDEN])));
}

/** What stands for what, the longest first, so that a secret that holds another one is hidden whole. */
export type Replacements = [string, string][];

/** How secrets are hidden where they are found among other texts: each by what the map has for it. */
export function replacementsOf(secrets: Iterable<[string, string]>): Replacements {
    const known = [...secrets].filter(([secret]) => secret.length >= LEAST && !HARMLESS.has(secret));
    return longestFirst(known);
}

/** Values without the secrets in their texts, at any depth. What is marked as secret stays as it is. */
export function scrubbedValues(value: unknown, replacements: Replacements): unknown {
    return mapTexts(value, (text) => replaced(text, replacements));
}

/** Values with other texts; those of what is marked as secret stay as they are. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
    if (typeof value === "string") {
        return change(value);
    }
    if (value === null || typeof value !== "object" || isSecret(value)) {
        return value;
    }
    if (Array.isArray(value)) {
        return value.map((item) => mapTexts(item, change));
    }
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapTexts(member, change)]));
}

/** The texts inside the secrets of an exported state, but for what stands for provider objects. */
export function secretTexts(state: unknown): string[] {
    if (state === null || typeof state !== "object") {
        return [];
    }
    if (isSecret(state)) {
        const { plaintext } = state as { plaintext?: unknown };
        return typeof plaintext === "string" ? textsIn(parseJson(plaintext)) : [];
    }
    const members = Object.entries(state).filter(([key]) => key !== "__provider");
    return members.flatMap(([, member]) => secretTexts(member));
}

function textsIn(value: unknown): string[] {
    if (typeof value === "string") {
        return [value];
    }
    return value === null || typeof value !== "object" ? [] : Object.values(value).flatMap(textsIn);
}

function isSecret(value: object): boolean {
    return (value as Record<string, unknown>)[SIGNATURE_KEY] === SECRET_SIGNATURE;
}

function longestFirst(secrets: [string, string][]): Replacements {
    return secrets.flatMap(([secret, hidden]) => formsOf(secret, hidden)).sort(([a], [b]) => b.length - a.length);
}

function formsOf(secret: string, hidden: string): Replacements {
    const bytes = Buffer.from(secret);
    const forms = [
        secret,
        // Half a surrogate pair has no place in an address.
        secret.isWellFormed() ? encodeURIComponent(secret) : secret,
        toJsonText(secret).slice(1, -1),
        bytes.toString("base64").replace(/=+$/, ""),
        bytes.toString("base64url"),
    ];
    return [...new Set(forms)].map((form) => [form, hidden]);
}

function replaced(text: string, replacements: Replacements): string {
    return replacements.reduce((result, [form, hidden]) => result.replaceAll(form, () => hidden), text);
}
