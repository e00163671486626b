// Inputs of resources that really exist, for laws and lifecycles of their provider.
import { ask } from "../judgement";
import type { Inputs } from "../stack/subject";

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
    return ask({ ask: "exported_inputs", file, ofType: ofType ?? null, names: names ?? null });
}
