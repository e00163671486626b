// The guide's program, BENCH_N times: every resource makes a provider object of its own, with three methods. BENCH_PROVIDER says
// what makes it: a class, or (`literal`) an object literal, whose methods are new functions each time.
const { dynamic } = require("@pulumi/pulumi");

class ItemProvider {
    async check(_olds, news) {
        return { inputs: news, failures: [] };
    }

    async diff(_id, olds, news) {
        return { changes: olds.n !== news.n };
    }

    async create(inputs) {
        return { id: `id-${inputs.n}`, outs: inputs };
    }
}

const literal = () => ({
    async check(_olds, news) {
        return { inputs: news, failures: [] };
    },
    async diff(_id, olds, news) {
        return { changes: olds.n !== news.n };
    },
    async create(inputs) {
        return { id: `id-${inputs.n}`, outs: inputs };
    },
});

const made = process.env.BENCH_PROVIDER === "literal" ? literal : () => new ItemProvider();

class Item extends dynamic.Resource {
    constructor(name, n, opts) {
        super(made(), name, { n }, opts);
    }
}

for (let n = 0; n < Number(process.env.BENCH_N); n++) new Item(`item-${n}`, n);
