// The laws of objects: making, reading, changing, replacing and deleting them.
import { messageOf } from "../../errors";
import type { Inputs } from "../subject";
import { breach, firstDifference, told } from "./broken";
import type { Law } from "./law";
import { removerOf } from "./options";
import { eachChange } from "./planning";
import { type Made, Trial } from "./trial";

type Bag = Record<string, unknown>;

async function readIsTrue(trial: Trial, made: Made, after: string): Promise<void> {
    const { id, props } = await trial.read(made);
    if (id !== made.id) {
        breach(
            "id",
            `\`read\` after \`${after}\` to find the object ${told(made.id)}`,
            id === "" ? "that it is gone" : told(id),
        );
    }
    const found = firstDifference(made.outs, props, trial.laboratory.volatile);
    if (found !== undefined) {
        breach(
            found.path,
            `what \`${after}\` returned, ${told(found.expected)}`,
            `${told(found.actual)} from \`read\``,
        );
    }
}

const readTrue: Law = {
    name: "L3",
    title: "read equals the outs",
    needs: ["read"],
    count: 2,
    async holds(laboratory, [from = {}, to = {}]) {
        await Trial.run(laboratory, async (trial) => readIsTrue(trial, await trial.create(from), "create"));
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
        const updated: { made: Made; inputs: Inputs; updates: boolean }[] = [];
        await eachChange(laboratory, from, to, async (trial, made, news, inputs) => {
            const { changes, replaces } = await trial.diff(made, news);
            if (changes && replaces.length === 0) {
                await trial.update(made, news);
                updated.push({ made: { ...made }, inputs, updates: trial.has("update") });
            }
        });
        for (const { made, inputs, updates } of updated) {
            await Trial.run(laboratory, async (trial) => {
                const fresh = await trial.create(inputs);
                const found = trial.difference(fresh, made);
                if (found !== undefined) {
                    const how = updates ? "from `update`" : "because there is no `update`";
                    breach(
                        found.path,
                        `${told(found.expected)}, as a new object has it`,
                        `${told(found.actual)} ${how}`,
                    );
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
            const verdict = await trial.diff(made, news);
            if (verdict.replaces.length > 0 && !verdict.deleteBeforeReplace) {
                const next = await trial.create(inputs).catch(() => undefined);
                if (next !== undefined && next.id === made.id) {
                    const expected = `another id, since \`diff\` asks for a replacement because of ${verdict.replaces.join(", ")}`;
                    breach("id", expected, `${told(next.id)} again: deleting the old object would delete the new one`);
                }
            } else if (verdict.changes && verdict.replaces.length === 0 && trial.has("update")) {
                await keepsItsId(trial, made, news);
            }
        }),
};

async function keepsItsId(trial: Trial, made: Made, news: Bag): Promise<void> {
    const saysId = made.outs.id === made.id;
    const before = trial.world === undefined ? [] : trial.objects();
    await trial.update(made, news);
    const expected = `the object ${told(made.id)} after an update, which \`diff\` asked for`;
    const replaced = "another object: let `diff` name in `replaces` what needs one";
    if (saysId && made.outs.id !== undefined && made.outs.id !== made.id) {
        breach("id", expected, `${told(made.outs.id)}, ${replaced}`);
    }
    if (trial.world !== undefined && before.includes(made.id) && !trial.objects().includes(made.id)) {
        breach("id", expected, replaced);
    }
    if (trial.world === undefined && trial.has("read") && (await trial.read(made)).id === "") {
        breach("id", expected, `that it is gone, and ${replaced}`);
    }
}

const bothExist: Law = {
    name: "L7",
    title: "a replacement is made beside the old object",
    needs: ["world"],
    count: 2,
    holds: (laboratory, [from = {}, to = {}]) =>
        eachChange(laboratory, from, to, async (trial, made, news, inputs) => {
            const { replaces, deleteBeforeReplace } = await trial.diff(made, news);
            if (replaces.length === 0 || deleteBeforeReplace) {
                return;
            }
            const expected =
                "the new object to be made while the old one is there, or `deleteBeforeReplace` from `diff`";
            const at = replaces[0] ?? "create";
            let next: Made;
            try {
                next = await trial.create(inputs);
            } catch (thrown) {
                // Not a `cause`: the provider refuses what it asked for itself.
                breach(at, expected, `that they cannot both exist: ${messageOf(thrown)}`);
            }
            if (next.id === made.id) {
                return; // L6 tells.
            }
            const known = trial.objects();
            if (known.includes(next.id) && !known.includes(made.id)) {
                breach(at, expected, `that making ${told(next.id)} has removed ${told(made.id)}`);
            }
            const there = known.includes(next.id);
            await trial.delete(made);
            if (there && !trial.objects().includes(next.id)) {
                breach(at, expected, `that deleting ${told(made.id)} has removed ${told(next.id)}`);
            }
        }),
};

const gone: Law = {
    name: "L8",
    title: "what is deleted is gone, also twice",
    needs: ["read"],
    count: 1,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const made = await trial.create(inputs);
            await trial.delete(made);
            const { id } = await trial.read(made);
            if (id !== "") {
                breach("read", "an empty id once the object is deleted", told(id));
            }
            if (trial.world !== undefined && trial.objects().includes(made.id)) {
                breach("delete", "the object to be gone from the world", `that ${told(made.id)} is there`);
            }
            await trial.delete(made);
            const remove = removerOf(trial.world);
            if (remove !== undefined) {
                const other = await trial.create(inputs);
                await remove(other.id);
                await trial.delete(other);
            }
        }),
};

const importable: Law = {
    name: "L9",
    title: "an import needs no change",
    needs: ["read"],
    count: 1,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const made = await trial.create(inputs);
            const { id, props, inputs: found } = await trial.read({ id: made.id });
            if (id === "") {
                breach("read", `it to find ${told(made.id)} without its properties`, "that it is gone");
            }
            const taken = found ?? Object.fromEntries(Object.keys(made.inputs).map((key) => [key, props[key]]));
            const imported: Made = { id, inputs: taken, outs: props };
            for (const [news, whose] of [
                [await trial.check(taken, taken), "the inputs that `read` gives"],
                [await trial.check(inputs, taken), "the inputs that it was made with"],
            ] as const) {
                const ignored = [...laboratory.volatile, ...laboratory.secret];
                const difference = firstDifference(news, taken, ignored);
                if ((await trial.diff(imported, news)).changes && (difference !== undefined || news === taken)) {
                    const { path, expected, actual } = difference ?? { path: "diff", expected: news, actual: taken };
                    breach(
                        path,
                        `no change with ${whose}`,
                        `a change: ${told(expected)} is to be, ${told(actual)} was read`,
                    );
                }
                if (difference === undefined && (await trial.diff({ ...imported, inputs: news }, news)).changes) {
                    breach(
                        "diff",
                        `no change with ${whose}`,
                        `a change, although the object was read as ${told(props)}`,
                    );
                }
            }
        }),
};

const drifting: Law = {
    name: "L11",
    title: "drift is seen",
    needs: ["read", "mutateRemote", "deleteRemote"],
    count: 1,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            const made = await trial.create(inputs);
            await trial.world?.mutateRemote?.(made.id);
            const seen = await trial.read(made);
            const drifted: Made = { id: seen.id, inputs: seen.inputs ?? made.inputs, outs: seen.props };
            const { changes } = await trial.diff(drifted, made.inputs);
            if (!changes) {
                const found = firstDifference(made.outs, seen.props);
                const at = found?.path ?? "read";
                const expected = "a change once the object is another one than the program says";
                breach(
                    at,
                    expected,
                    found === undefined ? "`read` answers as if nothing had happened" : "no change from `diff`",
                );
            }
            await removerOf(trial.world)?.(made.id);
            const { id } = await trial.read(made);
            if (id !== "") {
                breach("read", "an empty id once somebody has removed the object", told(id));
            }
            trial.forget(made);
            const again = await trial.create(inputs);
            if (!trial.objects().includes(again.id)) {
                breach("create", "it to make the object again", `${told(again.id)}, which is not in the world`);
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
                const found = one && trial.difference(one.made, made);
                const read =
                    one?.read && trial.difference(readOf(one.made, one.read), readOf(made, reads[index]?.props));
                const wrong = found ?? read;
                if (wrong !== undefined) {
                    const method = found === undefined ? "read" : "create";
                    const got = `${told(wrong.actual)} when ${all.length} are asked for at once`;
                    breach(
                        wrong.path,
                        `${told(wrong.expected)} from \`${method}\`, as when it is asked for alone`,
                        got,
                    );
                }
            });
            await Promise.all(all.map((made) => trial.delete(made)));
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
