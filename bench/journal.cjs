// What the journal costs: `up` of independent resources on a stack in a directory and on one that is kept nowhere, by
// turns, in one warm process. Prints a table; `node bench/journal.cjs 1000` for another number of resources.
const fs = require("node:fs");
const { createRequire } = require("node:module");
const path = require("node:path");

const tests = createRequire(path.join(__dirname, "..", "node-tests", "package.json"));
// What the package shows to nobody is reached by its file.
const own = (file) => tests(`./node_modules/maloko/dist/${file}`);
const { TestStack } = own("native.js").loadAddon();
const { operate } = own("testing/stack/operate.js");
// maloko comes before the SDK, as for a user's program.
own("sdk/index.js").Sdk.prepare(process.cwd());
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

async function run(state, order, program) {
    const place = { project: "project", stack: "dev", directory: process.cwd(), providers: [], alive: false };
    const asked = { preview: false, time: "real", config: {}, ...order };
    const { outcome, error } = await operate(state, asked, [], place, program).report;
    if (outcome !== "succeeded") throw new Error(error ?? outcome);
}

async function up(state, order) {
    const [wall, cpu] = [performance.now(), process.cpuUsage()];
    await run(state, { verb: "up", ...order }, program);
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
                const kept = TestStack.open(directory, "project", "dev");
                // Makes the stack and derives its key.
                await run(kept, { verb: "up" }, first);
                await run(kept, { verb: "destroy" }, first);
                const turns = [
                    [new TestStack("project", "dev"), without, { parallel, unkept: true }],
                    [kept, withJournal, { parallel }],
                ];
                // The first rounds warm up; none of the two is always the second one.
                for (const [state, costs, order] of round % 2 ? turns.reverse() : turns) {
                    const cost = await up(state, order);
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
