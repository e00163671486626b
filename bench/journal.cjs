// What the journal costs: `up` of independent resources on a stack in a directory and on one that is kept nowhere, by
// turns, in one warm process. Prints a table; `node bench/journal.cjs 1000` for another number of resources.
const fs = require("node:fs");
const { createRequire } = require("node:module");
const path = require("node:path");

const tests = createRequire(path.join(__dirname, "..", "node-tests", "package.json"));
const { EmbeddedStack } = tests("maloko/embedded");
const pulumi = tests("@pulumi/pulumi");

const RESOURCES = Number(process.argv[2] ?? 1000);
// The machine is noisier than the journal is dear: the ratio is the middle one of those of the pairs.
const ROUNDS = 62;

class EchoProvider {
    async create(inputs) {
        return { id: "made", outs: inputs };
    }
}
const provider = new EchoProvider();

class Thing extends pulumi.dynamic.Resource {
    constructor(name, inputs) {
        super(provider, name, inputs);
    }
}

const first = () => new Thing("first", { number: 0 });
function program() {
    for (let number = 0; number < RESOURCES; number++) {
        new Thing(`thing-${number}`, { number });
    }
}

async function up(stack) {
    const [wall, cpu] = [performance.now(), process.cpuUsage()];
    await stack.up(program);
    const { user, system } = process.cpuUsage(cpu);
    return [performance.now() - wall, (user + system) / 1e3];
}

function middle(values) {
    const sorted = values.toSorted((a, b) => a - b);
    const half = sorted.length / 2;
    return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

async function main() {
    console.log("| calls at a time | without, ms | with, ms | ratio | CPU without, ms | with, ms | ratio |");
    console.log("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (const parallel of [16, 256]) {
        const without = [];
        const withJournal = [];
        for (let round = 0; round < ROUNDS; round++) {
            const directory = fs.mkdtempSync(path.join(__dirname, "journal-"));
            try {
                const kept = new EmbeddedStack({ directory, parallel });
                // Makes the stack and derives its key.
                await kept.up(first);
                await kept.destroy(first);
                const nowhere = new EmbeddedStack({ stack: `nowhere-${round}`, unkept: true, parallel });
                const turns = [
                    [nowhere, without],
                    [kept, withJournal],
                ];
                // The first rounds warm up; none of the two is always the second one.
                for (const [stack, costs] of round % 2 ? turns.reverse() : turns) {
                    const cost = await up(stack);
                    if (round > 1) costs.push(cost);
                }
            } finally {
                fs.rmSync(directory, { recursive: true });
            }
        }
        const cells = [0, 1].flatMap((index) => {
            const [a, b] = [without, withJournal].map((costs) => middle(costs.map((cost) => cost[index])));
            const ratio = middle(without.map((cost, pair) => withJournal[pair][index] / cost[index]));
            return [a.toFixed(0), b.toFixed(0), ratio.toFixed(2)];
        });
        console.log(`| ${parallel} | ${cells.join(" | ")} |`);
    }
}

main();
