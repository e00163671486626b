// The laws of what is planned: `check`, `diff`, and what `update` makes of it.
import type { Inputs } from "../stack/subject";
import { type Difference, Discarded, firstDifference, firstDifferenceOf, found, Refused } from "./broken";
import { watchNetwork } from "./guard";
import { triedByEngine } from "./host";
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
    let held = false;
    let passedOver: Discarded | undefined;
    for (const inputs of variations(from, to)) {
        try {
            await Trial.run(laboratory, async (trial) => {
                const made = await trial.made(from);
                await action(trial, made, await trial.check(inputs, made.inputs), inputs);
            });
            held = true;
        } catch (thrown) {
            if (!(thrown instanceof Discarded) || (inputs === to && thrown instanceof Refused)) {
                throw thrown;
            }
            passedOver ??= thrown;
        }
    }
    if (!held) {
        throw passedOver ?? new Discarded("two inputs that differ");
    }
}

/** What of a law says that an example has no update, or no replacement. */
export const AN_UPDATE = "inputs whose change makes an update";
export const A_REPLACEMENT = "inputs whose change makes a replacement";

// Where the outputs hold another value than the inputs, as far as both speak of it.
function unlike({ outs }: Made, news: Bag): Difference | undefined {
    for (const key of Object.keys(news).sort()) {
        const difference = firstDifference(news[key], outs[key], [], key);
        if (difference !== undefined) {
            return difference;
        }
    }
    return undefined;
}

/** Fails unless `diff` sees no change for the same inputs. */
async function stays(trial: Trial, made: Made, news: Bag, after: string): Promise<void> {
    const { changes, replaces } = await trial.diff(made, news);
    if (changes) {
        const { path, expected, actual } = unlike(made, news) ?? {};
        const action = replaces.length > 0 ? "replace" : "update";
        found("not-settled", { after, action, property: path, wanted: expected, kept: actual });
    }
}

const idempotent: Law = {
    name: "L1",
    title: "check is idempotent and pure",
    needs: [["check", "without one the inputs stay as they are"]],
    count: 1,
    holds: triedByEngine("L1"),
};

const settled: Law = {
    name: "L2",
    title: "a second up does nothing",
    needs: [],
    count: 1,
    holds: triedByEngine("L2"),
};

const agreeing: Law = {
    name: "L4",
    title: "diff and update agree",
    needs: [],
    count: 2,
    async holds(laboratory, [from = {}, to = {}]) {
        const unchanged: { made: Made; inputs: Inputs }[] = [];
        let passedOver: Discarded | undefined;
        await eachChange(laboratory, from, to, async (trial, made, news, inputs) => {
            const verdict = await trial.diff(made, news);
            if (verdict.changes && verdict.replaces.length === 0) {
                await trial.update(made, news);
                await stays(trial, made, await trial.check(inputs, made.inputs), "update");
                return;
            }
            if (!verdict.changes) {
                unchanged.push({ made, inputs });
            }
            throw new Discarded(AN_UPDATE);
        }).catch((thrown: unknown) => {
            if (!(thrown instanceof Discarded)) {
                throw thrown;
            }
            passedOver = thrown;
        });
        for (const { made, inputs } of unchanged) {
            await noticed(laboratory, made, from, inputs);
        }
        if (passedOver !== undefined) {
            throw passedOver;
        }
    },
};

// `update` is never called where `diff` sees no change: so what differs in the inputs must make no difference.
async function noticed(laboratory: Laboratory, made: Made, from: Inputs, inputs: Inputs): Promise<void> {
    const changed = Object.keys({ ...from, ...inputs })
        .filter((key) => firstDifference(from[key], inputs[key]) !== undefined)
        .sort();
    await Trial.run(laboratory, async (trial) => {
        const fresh = await trial.made(inputs);
        for (const key of changed) {
            const output = ({ id, outs }: Made) => ({ id, outs: outs[key] });
            const difference = firstDifferenceOf(output(fresh), output(made), laboratory.volatile, key);
            if (difference !== undefined) {
                const { path, expected, actual } = difference;
                found("overlooked", { property: path, fresh: expected, kept: actual });
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
            const made = await trial.made(from);
            const look = (): unknown =>
                trial.world === undefined ? undefined : structuredClone(contents(trial.world));
            const looked = async (method: string, action: () => Promise<unknown>): Promise<void> => {
                const before = look();
                const calls = trial.world?.calls;
                const [use] = await watchNetwork(async () => void (await action()));
                if (use !== undefined) {
                    found("network", { method, used: use });
                }
                const requests = (trial.world?.calls ?? 0) - (calls ?? 0);
                if (requests > 0) {
                    found("requests", { method, requests });
                }
                const difference = firstDifference(before, look());
                if (difference !== undefined) {
                    const { path, expected, actual } = difference;
                    found("world-changed", { property: path, before: expected, after: actual });
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
    count: 1,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const clean = (method: string, outs: Bag): void => {
                for (const [property, why] of oddIn(outs)) {
                    found("not-portable", { method, property, why });
                }
                const [warning] = trial.warnings;
                if (warning !== undefined) {
                    found("unkept", { method, error: warning });
                }
            };
            const made = await trial.made(inputs);
            clean("create", made.outs);
            if (trial.has("read")) {
                clean("read", (await trial.read(made)).props);
            }
        }),
};

// What in a value is not portable: path and reason.
function oddIn(value: unknown, path = ""): [string, string][] {
    if (typeof value === "number" && !Number.isFinite(value)) {
        const what = Number.isNaN(value) ? "not a number" : value > 0 ? "infinity" : "minus infinity";
        return [[path, `${what}, which JSON does not have`]];
    }
    if (value === null || typeof value !== "object") {
        return [];
    }
    return Object.entries(value).flatMap(([key, member]) =>
        oddIn(member, Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`),
    );
}

const upgradable: Law = {
    name: "L16",
    title: "outs of the previous release still fit",
    needs: [["baseline", "what the previous release has left in a state"]],
    count: 0,
    holds: (laboratory, _inputs, { baseline }) =>
        Trial.run(laboratory, async (trial) => {
            for (const { id = "", inputs, outputs } of baseline) {
                const old: Made = { id, inputs: plain(inputs) as Bag, outs: plain(outputs) as Bag };
                const news = await trial.check(old.inputs, old.inputs);
                const { replaces } = await trial.diff(old, news);
                if (replaces.length > 0) {
                    found("old-replaced", { id, action: "replace", property: replaces.join(", ") });
                }
            }
        }),
};

export const planningLaws: Law[] = [idempotent, settled, agreeing, lookingOnly, portable, upgradable];
