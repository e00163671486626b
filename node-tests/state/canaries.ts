// Secrets that no output and no file may show, and the search for them in every form that they can take.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const NAMES = ["config", "input", "nested", "output", "result", "token", "passphrase", "exported", "read"] as const;

// With letters that look different in JSON, in URLs, in HTML and in base64's two alphabets.
export const CANARIES = Object.fromEntries(
    NAMES.map((name, index) => [name, `${name}~c4n4ry/+?&<"é'>${index + 101}${(index + 101) * 7919}`]),
) as Record<(typeof NAMES)[number], string>;
export const LINES = [
    "-----BEGIN CANARY-----",
    "TElORS1PTkUtT0YtQS1DQU5BUlk",
    "TElORS1UV08tT0YtQS1DQU5BUlk",
    "-----END CANARY-----",
];

const html = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const ascii = (text: string) =>
    text.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
const strict = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** How a page writes JSON: nothing in it could be taken for markup. */
export const inPage = (json: string) =>
    json.replace(/[<>&]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What the secret may look like. */
function forms(secret: string): Record<string, string> {
    const json = JSON.stringify(secret).slice(1, -1);
    const found: Record<string, string> = {
        raw: secret,
        JSON: ascii(json),
        "JSON, not ASCII": json,
        "JSON in JSON": JSON.stringify(json).slice(1, -1),
        URL: strict(secret),
        "URL of encodeURIComponent": encodeURIComponent(secret),
        "URL with slashes": strict(secret).replaceAll("%2F", "/"),
        form: strict(secret).replaceAll("%20", "+"),
        HTML: html(secret).replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
        "HTML, texts only": html(secret),
        "JSON in a page": inPage(json),
        inspected: secret.replaceAll("'", "\\'"),
    };
    for (const offset of [0, 1, 2]) {
        const raw = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
        const [first, last] = [Math.ceil((offset * 8) / 6), Math.floor((raw.length * 8) / 6)];
        found[`base64 at ${offset}`] = raw.toString("base64").slice(first, last);
        found[`URL base64 at ${offset}`] = raw.toString("base64url").slice(first, last);
    }
    return found;
}

/** Where the content shows a secret. */
export function hits(place: string, content: Buffer, secrets: Record<string, string>): string[] {
    return Object.entries(secrets).flatMap(([name, secret]) =>
        Object.entries(forms(secret)).flatMap(([form, needle]) => {
            const at = content.indexOf(needle);
            if (at < 0) {
                return [];
            }
            const line = content.subarray(Math.max(0, content.lastIndexOf("\n", at)), at + needle.length + 20);
            return [`${place}: the canary '${name}' as ${form}: ${line.toString().slice(0, 300)}`];
        }),
    );
}

/** Every file of a project, but what was installed there. */
export function files(root: string, under = root): { name: string; content: Buffer }[] {
    return readdirSync(under, { withFileTypes: true }).flatMap((entry) => {
        const path = join(under, entry.name);
        if (entry.isDirectory() && entry.name !== "node_modules") {
            return files(root, path);
        }
        return entry.isFile() ? [{ name: relative(root, path), content: readFileSync(path) }] : [];
    });
}
