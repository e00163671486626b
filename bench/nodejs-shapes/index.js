// Programs of a shape that costs more than resources side by side: BENCH_SHAPE names it, BENCH_ROUND is 1, then 2.
const { ComponentResource, dynamic } = require("@pulumi/pulumi");

const round = Number(process.env.BENCH_ROUND);

const provider = {
    async create(inputs) {
        return { id: `id-${inputs.n}-${inputs.version ?? ""}`, outs: inputs };
    },
    async diff(_id, olds, news) {
        const names = new Set([...Object.keys(olds), ...Object.keys(news)]);
        const changes = [...names].some((name) => olds[name] !== news[name]);
        return { changes, replaces: olds.version !== news.version ? ["version"] : [] };
    },
    async update(_id, _olds, news) {
        return { outs: news };
    },
};

class Item extends dynamic.Resource {
    constructor(name, props, opts) {
        super(provider, name, props, opts);
    }
}

const shapes = {
    /** 1,000 resources, each of which needs an output of the one before. */
    chain() {
        let last = new Item("item-0", { n: 0 });
        for (let n = 1; n < 1000; n++) last = new Item(`item-${n}`, { n, after: last.n });
    },
    /** 1,000 resources with five dependents each; the second round replaces the thousand. */
    replacements() {
        for (let n = 0; n < 1000; n++) {
            const root = new Item(`root-${n}`, { n, version: `v${round}` });
            for (let leaf = 0; leaf < 5; leaf++) new Item(`leaf-${n}-${leaf}`, { n: leaf, root: root.id });
        }
    },
    /** Components 500 deep, with a resource in each. */
    tree() {
        let parent;
        for (let depth = 0; depth < 500; depth++) {
            parent = new ComponentResource("bench:index:Level", `level-${depth}`, {}, { parent });
            new Item(`item-${depth}`, { n: depth }, { parent });
        }
    },
    /** 10,000 resources, ten of which the second round changes. */
    few() {
        for (let n = 0; n < 10000; n++) {
            new Item(`item-${n}`, { n, text: n % 1000 === 0 ? `round ${round}` : "the same" });
        }
    },
};

shapes[process.env.BENCH_SHAPE]();
