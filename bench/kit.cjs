// What the testing kit costs in Node, for bench/kit.py: prints [wall, cpu] in seconds of each measure, as JSON.
const { createRequire } = require("node:module");
const path = require("node:path");

const tests = createRequire(path.join(__dirname, "..", "node-tests", "package.json"));
const { checkLaws, checkLifecycle, Kit } = tests("maloko/testing");
// Not `require` of its own: that has a cache of its own, and there would be two copies of the package.
tests("tsx/cjs/api").register();
const { bucketOptions, GoodProvider } = tests("./support/planted.ts");

const [rounds, lives] = process.argv.slice(2).map(Number);

async function measured(work) {
    const [wall, cpu] = [performance.now(), process.cpuUsage()];
    await work();
    const { user, system } = process.cpuUsage(cpu);
    return [(performance.now() - wall) / 1e3, (user + system) / 1e6];
}

function median(measures) {
    const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
    return [0, 1].map((index) => middle(measures.map((measure) => measure[index])));
}

async function lifecycles(settle) {
    const World = bucketOptions.world;
    const measures = [];
    for (let round = 0; round < rounds; round++) {
        const one = await measured(async () => {
            const kit = new Kit({ title: "bench", file: __filename, replay: "" });
            const stack = kit.stack(new GoodProvider(new World()), { inputs: { name: "one", acl: "public", size: 1, password: "hunter22" } });
            await stack.up({ settle });
            await stack.up({ settle });
            await stack.preview();
            await stack.destroy();
            await kit.finish();
        });
        measures.push(one);
    }
    return median(measures.slice(rounds / 10));
}

async function main() {
    const found = { lifecycle: await lifecycles(false), settled: await lifecycles(true) };
    found.laws = await measured(() => checkLaws(GoodProvider, bucketOptions));
    const { inputs, world } = bucketOptions;
    found.lives = await measured(async () => {
        const { error } = await checkLifecycle(GoodProvider, { inputs, world, seed: 20, examples: lives });
        if (error !== undefined) {
            throw error;
        }
    });
    console.log(JSON.stringify(found));
}

main();
