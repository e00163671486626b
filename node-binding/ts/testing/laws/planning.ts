// The laws of what is planned: `check`, `diff`, and what `update` makes of it.
import type { Inputs } from "../subject";
import { breach, Discarded, firstDifference, told } from "./broken";
import { watchNetwork } from "./guard";
import type { Law } from "./law";
import { type Laboratory, type Made, plain, Trial, variations } from "./trial";

type Bag = Record<string, unknown>;

/**
 * Does something with an object made of `from`, once for each way of changing it to `to`. Of the inputs in between, those that
 * `check` refuses are passed over: the author's own never are.
 */
export async function eachChange(
    laboratory: Laboratory,
    from: Inputs,
    to: Inputs,
    action: (trial: Trial, made: Made, news: Bag, inputs: Inputs) => Promise<void>,
): Promise<void> {
    for (const inputs of variations(from, to)) {
        try {
            await Trial.run(laboratory, async (trial) => {
                const made = await trial.create(from);
                await action(trial, made, await trial.check(inputs, made.inputs), inputs);
            });
        } catch (thrown) {
            if (!(thrown instanceof Discarded) || inputs === to) {
                throw thrown;
            }
        }
    }
}

// Where inputs and outputs tell different things, as far as both speak of it.
function echoed({ outs }: Made, news: Bag): { path: string; text: string } {
    for (const [key, value] of Object.entries(news)) {
        const found = firstDifference(value, outs[key], [], undefined, key);
        if (found !== undefined) {
            const text = `${found.path} is ${told(found.expected)} in the inputs and ${told(found.actual)} in the outs`;
            return { path: found.path, text };
        }
    }
    return { path: "diff", text: "the outs hold all inputs as they are" };
}

const idempotent: Law = {
    name: "L1",
    title: "check is idempotent and pure",
    needs: ["check"],
    count: 1,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const first = await trial.check(inputs);
            for (const olds of [{}, first]) {
                const again = await trial.check(first, olds);
                const found = firstDifference(first, again, laboratory.volatile);
                if (found !== undefined) {
                    const expected = `what \`check\` gave the first time, ${told(found.expected)}, when it gets its own answer`;
                    breach(found.path, expected, told(found.actual));
                }
            }
            const check = (trial.provider as { check?: (olds: unknown, news: unknown) => unknown }).check;
            if (check === undefined) {
                return;
            }
            const [olds, news] = [structuredClone(first), structuredClone(inputs)];
            await check.call(trial.provider, olds, news);
            for (const [name, before, after] of [
                ["olds", first, olds],
                ["news", inputs, news],
            ] as const) {
                const found = firstDifference(before, after);
                if (found !== undefined) {
                    const expected = `\`check\` to leave its argument \`${name}\` as it is (${told(found.expected)})`;
                    breach(found.path, expected, told(found.actual));
                }
            }
        }),
};

const settled: Law = {
    name: "L2",
    title: "a second up does nothing",
    needs: [],
    count: 1,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const made = await trial.create(inputs);
            const news = await trial.check(inputs, made.inputs);
            const { changes, replaces } = await trial.diff(made, news);
            if (changes) {
                const { path, text } = echoed(made, news);
                const what = replaces.length > 0 ? `a replacement because of ${replaces.join(", ")}` : "a change";
                breach(path, "no change with the inputs that the object was just made with", `${what}; ${text}`);
            }
        }),
};

const agreeing: Law = {
    name: "L4",
    title: "diff and update agree",
    needs: [],
    count: 2,
    async holds(laboratory, [from = {}, to = {}]) {
        const unchanged: { made: Made; news: Bag; inputs: Inputs }[] = [];
        await eachChange(laboratory, from, to, async (trial, made, news, inputs) => {
            const verdict = await trial.diff(made, news);
            if (!verdict.changes) {
                unchanged.push({ made, news, inputs });
            } else if (verdict.replaces.length === 0 && trial.has("update")) {
                await trial.update(made, news);
                const left = await trial.diff(made, news);
                if (left.changes) {
                    const { path, text } = echoed(made, news);
                    breach(path, "no change after the update that `diff` asked for", `another change; ${text}`);
                }
            }
        });
        for (const { made, news, inputs } of unchanged) {
            await noticed(laboratory, made, news, inputs);
        }
    },
};

// `update` is never called where `diff` sees no change: so there must be none.
async function noticed(laboratory: Laboratory, made: Made, news: Bag, inputs: Inputs): Promise<void> {
    const changed = Object.keys({ ...made.inputs, ...news }).filter(
        (key) =>
            !laboratory.volatile.includes(key) &&
            firstDifference(made.inputs[key], news[key], [], undefined, key) !== undefined,
    );
    if (changed.length === 0) {
        return;
    }
    await Trial.run(laboratory, async (trial) => {
        const fresh = await trial.create(inputs);
        for (const key of changed) {
            const found = firstDifference(made.outs[key], fresh.outs[key], laboratory.volatile, undefined, key);
            if (found !== undefined) {
                const expected = `a change: \`create\` makes ${told(found.actual)} of these inputs, and the object has ${told(found.expected)}`;
                breach(found.path, expected, "no change, so that `update` is never called");
            }
        }
    });
}

const lookingOnly: Law = {
    name: "L10",
    title: "planning touches nothing",
    needs: [],
    count: 2,
    holds: (laboratory, [from = {}, to = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const made = await trial.create(from);
            const look = (): unknown =>
                trial.world === undefined ? undefined : structuredClone(contents(trial.world));
            const looked = async (method: string, action: () => Promise<unknown>): Promise<void> => {
                const before = look();
                const calls = trial.world?.calls;
                const [use] = await watchNetwork(async () => void (await action()));
                if (use !== undefined) {
                    breach(method, "no use of the network: it runs in previews, too", use);
                }
                if (trial.world?.calls !== calls) {
                    breach(
                        method,
                        "no request: it runs in previews, too",
                        `${told(trial.world?.calls)} requests, ${told(calls)} before`,
                    );
                }
                const found = firstDifference(before, look());
                if (found !== undefined) {
                    const got = `${found.path}: ${told(found.expected)} before, ${told(found.actual)} after`;
                    breach(method, "the world to be as it was: it runs in previews, too", got);
                }
            };
            await looked("check", () => trial.check({ ...to }, {}).catch(ifRefused));
            await looked("check", () => trial.check({ ...to }, made.inputs).catch(ifRefused));
            const news = (await trial.check({ ...to }, made.inputs).catch(ifRefused)) ?? made.inputs;
            await looked("diff", () => trial.diff(made, made.inputs));
            await looked("diff", () => trial.diff(made, news));
        }),
};

function ifRefused(thrown: unknown): undefined {
    if (!(thrown instanceof Discarded)) {
        throw thrown;
    }
}

// What can be compared of a world: its objects, with their properties where it tells them.
function contents(world: object): unknown {
    const { objects } = world as { objects?: () => unknown };
    const all: unknown = typeof objects === "function" ? objects.call(world) : world;
    const tag = Object.prototype.toString.call(all);
    if (tag === "[object Map]") {
        return Object.fromEntries(
            [...(all as Map<unknown, unknown>)].map(([id, it]) => [String(id), JSON.stringify(it) ?? String(it)]),
        );
    }
    return tag === "[object Set]" ? [...(all as Set<unknown>)].map(String) : JSON.parse(JSON.stringify(all) ?? "null");
}

const portable: Law = {
    name: "L15",
    title: "results are portable",
    needs: [],
    count: 2,
    holds: (laboratory, [from = {}, to = {}]) =>
        eachChange(laboratory, from, to, async (trial, made, news) => {
            const clean = (method: string): void => {
                const [warning] = trial.warnings;
                if (warning !== undefined) {
                    breach(method, "values that a state can hold as they are", warning);
                }
            };
            clean("create");
            const { changes, replaces } = await trial.diff(made, news);
            if (changes && replaces.length === 0 && trial.has("update")) {
                await trial.update(made, news);
                clean("update");
            }
            if (trial.has("read")) {
                await trial.read(made);
                clean("read");
            }
        }),
};

const upgradable: Law = {
    name: "L16",
    title: "outs of the previous release still fit",
    needs: ["baseline"],
    count: 0,
    holds: (laboratory, _inputs, { baseline }) =>
        Trial.run(laboratory, async (trial) => {
            for (const { id = "", inputs, outputs } of baseline) {
                const old: Made = { id, inputs: plain(inputs) as Bag, outs: plain(outputs) as Bag };
                const news = await trial.check(old.inputs, old.inputs);
                const { replaces } = await trial.diff(old, news);
                const [first] = replaces;
                if (first !== undefined) {
                    const got = `a replacement of ${id === "" ? "an object" : `the object ${told(id)}`} with ${told(old.outs)}`;
                    breach(first, "no replacement of what the baseline has, with the inputs it has", got);
                }
            }
        }),
};

export const planningLaws: Law[] = [idempotent, settled, agreeing, lookingOnly, portable, upgradable];
