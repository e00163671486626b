// A component plugin in Node whose component has a dynamic resource: a drawer with a note.
//
// `thing`: the note takes its text from a thing of the plugin `probe`. `outside`: the note has no parent. `revision` is of the
// note's code: another one is other code, and nothing else. All other inputs are the note's.
const pulumi = require("@pulumi/pulumi");
const provider = require("@pulumi/pulumi/provider");
// A package of the plugin's own, which no other process has: tests put `files.js` there.
const files = require("note-files");

class Thing extends pulumi.CustomResource {
    constructor(name, props, opts) {
        super("probe:index:Thing", name, { url: undefined, ...props }, opts);
    }
}

/** The provider of notes: files in the folder `NOTES_WORLD`. */
const notes = (revision) => ({
    async configure({ config }) {
        this.greeting = config.get("greeting") ?? "";
    },
    write(id, props) {
        const said = { text: props.text, made_by: `${this.greeting}${revision}`, url: `note://${id}` };
        files.write(id, said);
        return { ...said, slot: props.slot };
    },
    async check(_olds, news) {
        const failures = news.text === "refused" ? [{ property: "text", reason: "this text is refused" }] : [];
        return { inputs: { ...news, slot: news.slot ?? "top" }, failures };
    },
    async diff(_id, olds, news) {
        if (news.vague) {
            return {};
        }
        const moved = olds.slot !== news.slot;
        return { changes: moved || olds.text !== news.text, replaces: moved ? ["slot"] : [] };
    },
    async create(props) {
        if (props.text === "broken") {
            throw new Error("this note cannot be written");
        }
        const outs = this.write(props.slot, props);
        if (props.text === "die") {
            process.exit(7);
        }
        return { id: props.slot, outs };
    },
    async update(id, _olds, news) {
        return { outs: this.write(id, news) };
    },
    async read(id, props) {
        const text = files.read(id);
        return text === undefined ? {} : { id, props: { ...props, text } };
    },
    async delete(id) {
        files.remove(id);
    },
});

class Drawer extends pulumi.ComponentResource {
    constructor(name, { thing, outside, revision, ...props }, opts) {
        super("drawer:index:Drawer", name, {}, opts);
        const own = { parent: this };
        const text = thing ? new Thing(`${name}-thing`, { text: "a thing" }, own).url : props.text;
        const all = { url: undefined, made_by: undefined, ...props, text };
        const note = new pulumi.dynamic.Resource(notes(revision ?? "1"), `${name}-note`, all, outside ? {} : own);
        this.url = note.url;
        this.registerOutputs({ url: this.url });
    }
}

class Drawers {
    constructor() {
        this.version = "1.0.0";
        const resources = { "drawer:index:Drawer": { isComponent: true } };
        this.schema = JSON.stringify({ name: "drawer", version: this.version, resources });
    }

    async construct(name, _type, inputs, options) {
        // `revision` is a plain text: it is part of the code.
        const known = await new Promise((done) => pulumi.output(inputs.revision).apply(done));
        const drawer = new Drawer(name, { ...inputs, revision: known }, options);
        return { urn: drawer.urn, state: { url: drawer.url } };
    }
}

provider.main(new Drawers(), process.argv.slice(2));
