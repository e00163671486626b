// Inputs of resources that really exist, for laws and lifecycles of their provider.
import * as fs from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../../originals";
import { messageOf } from "../../process/errors";
import { isSecret, SIGNATURE_KEY } from "../../sdk/signatures";
import type { Inputs } from "../stack/subject";
import { HIDDEN } from "../values";

/** Which resources of an export are meant; those that fit all that is given. */
export interface ExportedResources {
    /** Those of this type, such as `pulumi-nodejs:dynamic/shop:Bucket`. */
    ofType?: string;
    /** Those with these names. */
    names?: readonly string[];
}

/**
 * The inputs of the custom resources of an exported stack (`maloko stack export --file`, `pulumi stack export`), each once: for
 * `inputs` of `laws` and `lifecycle`. A secret becomes the text `[secret]`, so nothing has to be decrypted.
 *
 * Throws where the file is no export, has no such resource, or an input is an asset or archive.
 */
export function exportedInputs(file: string, { ofType, names }: ExportedResources = {}): Inputs[] {
    const found: Inputs[] = [];
    for (const resource of resourcesOf(file)) {
        const name = String(resource.urn).split("::").at(-1) ?? "";
        if (resource.custom !== true || String(resource.type).startsWith("pulumi:providers:")) {
            continue;
        }
        if ((ofType !== undefined && resource.type !== ofType) || (names !== undefined && !names.includes(name))) {
            continue;
        }
        const members = Object.entries(resource.inputs ?? {}).filter(([key]) => !key.startsWith("__"));
        const inputs = Object.fromEntries(members.map(([key, value]) => [key, plain(value, `${name}.${key}`)]));
        if (!found.some((it) => isDeepStrictEqual(it, inputs))) {
            found.push(inputs);
        }
    }
    if (found.length === 0) {
        const typed = ofType === undefined ? "" : ` of type ${ofType}`;
        const named = names === undefined ? "" : ` named ${names.join(" or ")}`;
        throw new Error(`${file} has no custom resource${typed}${named}`);
    }
    return found;
}

interface Exported {
    urn?: unknown;
    type?: unknown;
    custom?: unknown;
    inputs?: Record<string, unknown>;
}

function resourcesOf(file: string): Exported[] {
    try {
        const { deployment } = parseJson(fs.readFileSync(file, "utf8")) as { deployment: { resources?: Exported[] } };
        return deployment.resources ?? [];
    } catch (error) {
        throw new Error(
            `${file} cannot be read as an exported stack (${messageOf(error)}); write one with \`maloko stack export --file ${file}\``,
            { cause: error },
        );
    }
}

function plain(value: unknown, where: string): unknown {
    if (value === null || typeof value !== "object") {
        return value;
    }
    if (Array.isArray(value)) {
        return value.map((item, index) => plain(item, `${where}[${index}]`));
    }
    if (isSecret(value)) {
        return HIDDEN;
    }
    if (Object.hasOwn(value, SIGNATURE_KEY)) {
        throw new Error(
            `${where} is an asset, an archive or a reference, of which an export has no content; leave its resource out with ofType or names`,
        );
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, `${where}.${key}`)]));
}
