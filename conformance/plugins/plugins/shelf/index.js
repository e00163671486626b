// A component plugin in Node, whose behaviour its inputs choose: a shelf with two things of the plugin `probe`.
//
// `hook`: a hook of its own refuses the first thing. `transform`: it transforms its children. `dynamic`: it makes a dynamic
// resource. `die`: its process ends when the first thing is there. Its method `label` answers with what it is given.
const pulumi = require("@pulumi/pulumi");
const provider = require("@pulumi/pulumi/provider");

class Thing extends pulumi.CustomResource {
    constructor(name, props, opts) {
        super("probe:index:Thing", name, { url: undefined, ...props }, opts);
    }
}

class Shelf extends pulumi.ComponentResource {
    constructor(name, inputs, opts) {
        super("shelf:index:Shelf", name, {}, inputs.transform ? { ...opts, transforms: [louderText] } : opts);
        let hooks;
        if (inputs.hook) {
            const hook = new pulumi.ResourceHook(`${name}-hook`, async (args) => {
                throw new Error(`${args.name} is not wanted`);
            });
            hooks = { beforeCreate: [hook] };
        }
        const first = new Thing(`${name}-first`, { text: inputs.text }, { parent: this, hooks });
        if (inputs.die) {
            first.url.apply(() => process.exit(7));
        }
        if (inputs.dynamic) {
            const notes = { create: async (props) => ({ id: "note-1", outs: props }) };
            new pulumi.dynamic.Resource(notes, `${name}-note`, {}, { parent: this });
        }
        const second = new Thing(`${name}-second`, { link: first.url }, { parent: this });
        this.text = pulumi.interpolate`${inputs.text} in ${second.url}`;
        this.registerOutputs({ text: this.text });
    }
}

function louderText({ props, opts }) {
    return "text" in props ? { props: { ...props, text: pulumi.interpolate`${props.text}!` }, opts } : undefined;
}

class Shelves {
    constructor() {
        this.version = "1.0.0";
        this.schema = JSON.stringify({ name: "shelf", version: this.version, resources: { "shelf:index:Shelf": { isComponent: true } } });
    }

    async construct(name, type, inputs, options) {
        const shelf = new Shelf(name, inputs, options);
        return { urn: shelf.urn, state: { text: shelf.text } };
    }

    async call(token, inputs) {
        if (inputs.refuse) {
            throw new Error("this label is refused");
        }
        return { outputs: { label: pulumi.interpolate`${inputs.prefix}label` } };
    }
}

provider.main(new Shelves(), process.argv.slice(2));
