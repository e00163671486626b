// BENCH_N resources of a provider that only echoes: what remains is the cost of the engine and the SDK.
const { dynamic } = require("@pulumi/pulumi");

class Item extends dynamic.Resource {}

const provider = {
    async create(inputs) {
        return { id: `id-${inputs.n}`, outs: inputs };
    },
};

for (let n = 0; n < Number(process.env.BENCH_N); n++) new Item(provider, `item-${n}`, { n });
