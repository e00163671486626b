// BENCH_N resources of a provider that only echoes, in TypeScript: for the cold start.
import * as pulumi from "@pulumi/pulumi";

class Item extends pulumi.dynamic.Resource {}

const provider: pulumi.dynamic.ResourceProvider = {
    async create(inputs: { n: number }) {
        return { id: `id-${inputs.n}`, outs: inputs };
    },
};

for (let n = 0; n < Number(process.env.BENCH_N); n++) new Item(provider, `item-${n}`, { n });
