// A random identifier as a resource: the provider has a `create`, and a `read` for identifiers drawn elsewhere.
import { randomBytes } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";

/** What the provider is given, resolved. */
interface Inputs {
    size: number;
}

interface Outputs extends Inputs {
    text: string;
}

// Draws bytes when the resource is new. Nothing outside the state remembers them, so nothing is deleted.
const stableIdProvider: pulumi.dynamic.ResourceProvider<Inputs, Outputs> = {
    async create({ size }) {
        const text = randomBytes(size).toString("hex");
        return { id: text, outs: { size, text } };
    },

    // An identifier is all in its id: so one that is in use already can be imported. (The SDK's type of `inputs` is that of
    // the outputs, hence `any`.)
    async read(id): Promise<pulumi.dynamic.ReadResult> {
        const size = Buffer.from(id, "hex").length;
        return { id, props: { size, text: id }, inputs: { size } };
    },
};

export interface StableIdArgs {
    size: pulumi.Input<number>;
}

/**
 * `size` random bytes; `text` has them in hexadecimal.
 *
 * The size counts when the identifier is drawn. A later change of it is ignored rather than taken for an update, for
 * which a provider without `update` has no answer.
 */
export class StableId extends pulumi.dynamic.Resource {
    declare readonly size: pulumi.Output<number>;
    declare readonly text: pulumi.Output<string>;

    constructor(name: string, args: StableIdArgs, opts?: pulumi.CustomResourceOptions) {
        const options = pulumi.mergeOptions({ ignoreChanges: ["size"] }, opts);
        super(stableIdProvider, name, { text: undefined, ...args }, options, undefined, "StableId");
    }
}
