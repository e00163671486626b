// The laws of objects: making, reading, changing, replacing and deleting them.
import type { Inputs } from "../stack/subject";
import { Discarded, firstDifference, found, Raised, Refused } from "./broken";
import { triedByEngine } from "./host";
import type { Law } from "./law";
import { removerOf } from "./options";
import { A_REPLACEMENT, AN_UPDATE, eachChange } from "./planning";
import { type Laboratory, type Made, Trial } from "./trial";

type Bag = Record<string, unknown>;

async function readIsTrue(trial: Trial, made: Made, after: string): Promise<void> {
    const { id, props } = await trial.read(made);
    if (id !== made.id) {
        found("read-finds-nothing", { after });
    }
    const difference = firstDifference(made.outs, props, trial.laboratory.volatile);
    if (difference !== undefined) {
        const { path, expected, actual } = difference;
        found("read-differs", { after, property: path, returned: expected, read: actual });
    }
}

const readTrue: Law = {
    name: "L3",
    title: "read equals the outs",
    needs: [["read", "without one what is stored counts as what is there"]],
    count: 2,
    async holds(laboratory, [from = {}, to = {}]) {
        await Trial.run(laboratory, async (trial) => readIsTrue(trial, await trial.made(from), "create"));
        await eachChange(laboratory, from, to, async (trial, made, news) => {
            const { changes, replaces } = await trial.diff(made, news);
            if (changes && replaces.length === 0 && trial.has("update")) {
                await trial.update(made, news);
                await readIsTrue(trial, made, "update");
            }
        });
    },
};

const sameEitherWay: Law = {
    name: "L5",
    title: "an update ends where a create does",
    needs: [],
    count: 2,
    async holds(laboratory, [from = {}, to = {}]) {
        const updated: { made: Made; inputs: Inputs }[] = [];
        await eachChange(laboratory, from, to, async (trial, made, news, inputs) => {
            const { changes, replaces } = await trial.diff(made, news);
            if (!changes || replaces.length > 0) {
                throw new Discarded(AN_UPDATE);
            }
            await trial.update(made, news);
            updated.push({ made: { ...made }, inputs });
        });
        for (const { made, inputs } of updated) {
            await Trial.run(laboratory, async (trial) => {
                const difference = trial.difference(await trial.made(inputs), made);
                if (difference !== undefined) {
                    const { path, expected, actual } = difference;
                    found("ends-elsewhere", { property: path, created: expected, updated: actual });
                }
            });
        }
    },
};

const idsAreTrue: Law = {
    name: "L6",
    title: "a new id comes with a replacement only",
    needs: [],
    count: 2,
    holds: (laboratory, [from = {}, to = {}]) =>
        eachChange(laboratory, from, to, async (trial, made, news, inputs) => {
            const { changes, replaces, deleteBeforeReplace } = await trial.diff(made, news);
            if (!changes) {
                throw new Discarded(`${AN_UPDATE}, or a replacement`);
            }
            if (replaces.length === 0) {
                await keepsItsId(trial, made, news);
            } else if (!deleteBeforeReplace) {
                // That a replacement fails is L7's.
                const next = await trial.create(inputs).catch(() => {
                    throw new Discarded(`${AN_UPDATE}, or a replacement`);
                });
                if (next.id === made.id) {
                    found("same-id", { replaces, id: next.id });
                }
            }
        }),
};

async function keepsItsId(trial: Trial, made: Made, news: Bag): Promise<void> {
    const { id } = made;
    const keys = Object.keys({ ...made.inputs, ...news }).sort();
    const changed = keys.filter((key) => firstDifference(made.inputs[key], news[key]) !== undefined);
    await trial.update(made, news).catch(() => {
        // That an update fails is L4's.
        throw new Discarded(`${AN_UPDATE}, or a replacement`);
    });
    const ids = trial.objects();
    if (trial.world !== undefined && !ids.includes(id)) {
        found("another-object", { id, ids, changed });
    }
    if (trial.has("read")) {
        const read = await trial.read(made);
        if (read.id !== id) {
            found("another-id", { id, found: read.id === "" ? undefined : read.id, changed });
        }
    }
}

const bothExist: Law = {
    name: "L7",
    title: "a replacement is made beside the old object",
    needs: [["world", "to see what is left of a replacement"]],
    count: 2,
    holds: (laboratory, [from = {}, to = {}]) =>
        eachChange(laboratory, from, to, async (trial, made, news, inputs) => {
            const { replaces, deleteBeforeReplace: oldFirst } = await trial.diff(made, news);
            if (replaces.length === 0) {
                throw new Discarded(A_REPLACEMENT);
            }
            if (oldFirst) {
                await trial.delete(made);
            }
            let next: Made;
            try {
                next = await trial.create(inputs);
            } catch (thrown) {
                if (!(thrown instanceof Raised)) {
                    throw thrown;
                }
                await isAccepted(laboratory, inputs);
                found("replacement-fails", { replaces, oldFirst, error: thrown.breach.got });
            }
            if (next.id === made.id) {
                throw new Discarded(A_REPLACEMENT); // L6 has more to say of an id that stays.
            }
            if (!oldFirst) {
                await trial.delete(made);
            }
            const ids = trial.objects();
            if (ids.length !== 1 || ids[0] !== next.id) {
                found("replacement-leaves", { replaces, id: next.id, ids });
            }
        }),
};

// What the provider refuses in an empty world, too, makes no replacement.
async function isAccepted(laboratory: Laboratory, inputs: Inputs): Promise<void> {
    await Trial.run(laboratory, async (trial) => void (await trial.made(inputs))).catch((thrown: unknown) => {
        throw thrown instanceof Refused ? new Discarded(A_REPLACEMENT) : thrown;
    });
}

const gone: Law = {
    name: "L8",
    title: "what is deleted is gone, also twice",
    needs: [["read", "to see whether it says that the object is gone"]],
    count: 1,
    holds: triedByEngine("L8"),
};

const importable: Law = {
    name: "L9",
    title: "an import needs no change",
    needs: [["read", "an import is a read by id alone"]],
    count: 1,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const made = await trial.made(inputs);
            const {
                id,
                props,
                inputs: given,
            } = await trial.read({ id: made.id }).catch((thrown: unknown) => {
                if (thrown instanceof Raised) {
                    found("import-fails", { id: made.id, error: thrown.breach.got }, thrown.breach.cause);
                }
                throw thrown;
            });
            if (id === "") {
                found("import-fails", { id: made.id });
            }
            const taken = given ?? Object.fromEntries(Object.keys(made.inputs).map((key) => [key, props[key]]));
            const imported: Made = { id, inputs: taken, outs: props };
            for (const news of [await trial.check(taken, taken), await trial.check(inputs, taken)]) {
                const ignored = [...laboratory.volatile, ...laboratory.secret];
                const difference = firstDifference(news, taken, ignored);
                const verdict = await trial.diff({ ...imported, inputs: news }, news);
                if (verdict.changes) {
                    const unlike = difference ?? firstDifference(news, pick(props, Object.keys(news)), ignored);
                    const action = verdict.replaces.length > 0 ? "replace" : "update";
                    found("import-changes", { id, action, property: unlike?.path, read: unlike?.actual });
                }
            }
        }),
};

function pick(bag: Bag, keys: string[]): Bag {
    return Object.fromEntries(keys.filter((key) => Object.hasOwn(bag, key)).map((key) => [key, bag[key]]));
}

const drifting: Law = {
    name: "L11",
    title: "drift is seen",
    needs: [
        ["mutateRemote", "to change an object behind the provider's back"],
        ["deleteRemote", "to remove an object behind the provider's back"],
        ["read", "nobody else says what has become of an object"],
    ],
    count: 1,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const made = await trial.made(inputs);
            await trial.world?.mutateRemote?.(made.id);
            const seen = await trial.read(made);
            const drifted: Made = { id: seen.id, inputs: seen.inputs ?? made.inputs, outs: seen.props };
            if (!(await trial.diff(drifted, made.inputs)).changes) {
                found("drift-unseen", {});
            }
            await removerOf(trial.world)?.(made.id);
            const { id } = await trial.read(made);
            if (id !== "") {
                found("not-dropped", { id });
            }
            trial.forget(made);
            const again = await trial.create(inputs);
            const ids = trial.objects();
            if (ids.length !== 1 || ids[0] !== again.id) {
                found("not-made-again", { ids });
            }
        }),
};

const COUNT = 8;

const independent: Law = {
    name: "L17",
    title: "resources do not mix",
    needs: [],
    count: COUNT,
    async holds(laboratory, samples) {
        const distinct = [...new Map(samples.map((it) => [JSON.stringify(it), it])).values()];
        if (distinct.length < 2) {
            throw new Discarded("two inputs that differ");
        }
        const alone: { inputs: Inputs; made: Made; read: Bag | undefined }[] = [];
        await Trial.run(laboratory, async (trial) => {
            for (const inputs of distinct) {
                // What cannot be one after the other, or is one object (two of one name), is not asked for at once either.
                const made = await trial.create(inputs).catch(() => undefined);
                if (made !== undefined && alone.every((it) => it.made.id !== made.id)) {
                    const read = trial.has("read") ? (await trial.read(made)).props : undefined;
                    alone.push({ inputs, made: { ...made }, read });
                }
            }
        });
        await Trial.run(laboratory, async (trial) => {
            const all = await Promise.all(alone.map(({ inputs }) => trial.create(inputs)));
            const reads = trial.has("read") ? await Promise.all(all.map((made) => trial.read(made))) : [];
            all.forEach((made, index) => {
                const one = alone[index];
                const wrong =
                    (one && trial.difference(one.made, made)) ??
                    (one?.read && trial.difference(readOf(one.made, one.read), readOf(made, reads[index]?.props)));
                if (wrong !== undefined) {
                    const { path, expected, actual } = wrong;
                    found("mixed", { property: path, resource: `r${index + 1}`, alone: expected, together: actual });
                }
            });
        });
    },
};

function readOf({ id }: Made, props: Bag | undefined): Made {
    return { id, inputs: {}, outs: props ?? {} };
}

export const objectLaws: Law[] = [
    readTrue,
    sameEitherWay,
    idsAreTrue,
    bothExist,
    gone,
    importable,
    drifting,
    independent,
];
