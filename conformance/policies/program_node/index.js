// Two things with a live provider: one that has a secret, and one that depends on it.
const pulumi = require("@pulumi/pulumi");

const things = { create: async (inputs) => ({ id: "1", outs: { ...inputs, length: inputs.text.length } }) };

class Thing extends pulumi.dynamic.Resource {
    constructor(name, props, opts) {
        super(things, name, { ...props, length: undefined }, opts, "test", "Thing");
    }
}

const a = new Thing("a", { text: "hello", hidden: pulumi.secret("s3cretvalue") });
new Thing("b", { text: "fixme", later: a.length.apply((length) => length) }, { parent: a, dependsOn: [a], protect: true });
