// BENCH_N resources as the guide writes them: a provider object for each, of a class with `check`, `diff` and `create`.
const { dynamic } = require("@pulumi/pulumi");

class LabelProvider {
    async check(_olds, news) {
        const failures = news.n === undefined ? [{ property: "n", reason: "a number is required" }] : [];
        return { inputs: news, failures };
    }

    async diff(_id, olds, news) {
        return { changes: olds.n !== news.n, replaces: [] };
    }

    async create(inputs) {
        return { id: `id-${inputs.n}`, outs: inputs };
    }
}

class Label extends dynamic.Resource {
    constructor(name, n, opts) {
        super(new LabelProvider(), name, { n }, opts);
    }
}

for (let n = 0; n < Number(process.env.BENCH_N); n++) new Label(`item-${n}`, n);
