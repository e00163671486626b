// Keeps what is known to be secret out of the files that tests keep: a provider may well put a secret into a property
// that nobody marked as one. The engine's redactor looks for it.
import { mapMembers } from "../process/members";
import { isSecret } from "../sdk/signatures";
import { ask } from "./judgement";
import { HIDDEN } from "./values";

/** Each secret, with what stands in its place. */
export type Secrets = readonly (readonly [secret: string, hidden: string])[];

/** Puts `[secret]` in the place of secrets, short ones as well. */
export function redact(text: string, secrets: string[]): string {
    const named = secrets.map((secret): [string, string] => [secret, HIDDEN]);
    return withoutSecrets([text], named, true)[0] ?? text;
}

/** Values without the secrets in their texts, at any depth. What is marked as secret stays as it is. */
export function redactedValues(value: unknown, secrets: Secrets): unknown {
    if (secrets.length === 0) {
        return value;
    }
    const texts = new Set<string>();
    mapTexts(value, (text) => {
        texts.add(text);
        return text;
    });
    const known = [...texts];
    const clean = withoutSecrets(known, secrets, false);
    const changed = new Map(known.map((text, index) => [text, clean[index] ?? text]));
    return mapTexts(value, (text) => changed.get(text) ?? text);
}

/** Values with other texts; those of what is marked as secret stay as they are. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
    if (typeof value === "string") {
        return change(value);
    }
    if (value === null || typeof value !== "object" || isSecret(value)) {
        return value;
    }
    return mapMembers(value, (member) => mapTexts(member, change));
}

/** The texts inside the secrets of an exported state, but for what stands for provider objects. */
export function secretTexts(state: unknown): string[] {
    return ask({ ask: "secret_texts", state });
}

// Half of a surrogate pair has no place in UTF-8, which the engine's texts are in.
function withoutSecrets(texts: string[], secrets: Secrets, short: boolean): string[] {
    const whole = texts.map((text) => text.toWellFormed());
    const known = secrets.map(([secret, hidden]) => [secret.toWellFormed(), hidden]);
    const clean: string[] = ask({ ask: "redact", secrets: known, texts: whole, short });
    return texts.map((text, index) => (clean[index] === whole[index] ? text : (clean[index] ?? text)));
}
