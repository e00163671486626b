// BENCH_N resources of one provider, which has `create` and those of `check` and `diff` that BENCH_METHODS names.
const { dynamic } = require("@pulumi/pulumi");

class Item extends dynamic.Resource {}

const named = process.env.BENCH_METHODS.split(",");
const provider = {
    async create(inputs) {
        return { id: `id-${inputs.n}`, outs: inputs };
    },
};
if (named.includes("check")) provider.check = async (_olds, news) => ({ inputs: news, failures: [] });
if (named.includes("diff")) provider.diff = async () => ({ changes: false });

for (let n = 0; n < Number(process.env.BENCH_N); n++) new Item(provider, `item-${n}`, { n });
