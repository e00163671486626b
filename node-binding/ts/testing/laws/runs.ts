// The laws of failures and interruptions: secrets, a lost answer, a cancelled call.
import { inspect } from "node:util";
import { messageOf } from "../../process/errors";
import { Kit } from "../kit";
import type { Inputs } from "../stack/subject";
import { HIDDEN, isListed } from "../values";
import { Discarded, errorText, found } from "./broken";
import { watchOutput } from "./guard";
import type { Law } from "./law";
import { removerOf } from "./options";
import { isMarkedSecret, Trial } from "./trial";

type Bag = Record<string, unknown>;

// What takes a secret's place: nothing else has this text in it.
const CANARY = "maloko-canary-5ecre7";
const { setTimeout: later, clearTimeout: notLater } = globalThis;

const keptSecret: Law = {
    name: "L12",
    title: "secrets stay secret",
    needs: [["secret", "the names of the inputs that are secret, as in secret: ['password'] (none: [])"]],
    count: 2,
    async holds(laboratory, [inputs = {}, changed = {}]) {
        const { secret: secrets } = laboratory;
        if (secrets.length === 0) {
            return;
        }
        const news = structuredClone(inputs);
        const then = structuredClone(changed);
        for (const path of secrets) {
            plant(then, path.split("."));
        }
        const planted = secrets.filter((path) => plant(news, path.split(".")));
        if (planted.length === 0) {
            throw new Discarded(`none of the secrets ${secrets.join(", ")} is a text in ${inspect(inputs)}`);
        }
        await Trial.run(laboratory, async (trial) => {
            const errors: [string, unknown][] = [];
            const attempt = async <T>(method: string, action: () => Promise<T>): Promise<T | undefined> => {
                try {
                    return await action();
                } catch (thrown) {
                    errors.push([method, thrown]);
                    return undefined;
                }
            };
            const written = await watchOutput(async () => {
                const { direct } = trial;
                const checked = await attempt("check", () => direct.check({}, news));
                const used = (checked?.inputs ?? news) as Bag;
                for (const { reason } of checked?.failures ?? []) {
                    errors.push(["check", reason]);
                }
                const made = await attempt("create", () => direct.create(used));
                if (made !== undefined) {
                    trial.keep({ id: made.id, inputs: used, outs: made.outs });
                    if (made.id.includes(CANARY)) {
                        found("leak", { place: { in: "id" }, found: hidden(made.id) });
                    }
                    const results: unknown[] = [made.outs];
                    if (trial.has("update")) {
                        const updated = await attempt("update", () => direct.update(made.id, made.outs, then));
                        results.push(updated?.outs);
                    }
                    if (trial.has("read")) {
                        const read = await attempt("read", () => direct.read(made.id, made.outs));
                        results.push(read?.props, read?.inputs);
                    }
                    for (const result of results) {
                        const leak = plainLeak(result, secrets);
                        if (leak !== undefined) {
                            const place = { in: "output", property: leak.path };
                            found("leak", { place, found: hidden(leak.text) });
                        }
                    }
                    await attempt("diff", () => direct.diff(made.id, made.outs, used));
                    // Errors are where secrets are seen most often: what is made twice, or is gone, gives some.
                    const twice = await attempt("create", () => direct.create(used));
                    if (twice !== undefined) {
                        trial.keep({ id: twice.id, inputs: used, outs: twice.outs });
                    }
                    await attempt("delete", () => direct.delete(made.id, made.outs));
                    for (const method of ["update", "delete", "read"] as const) {
                        if (trial.has(method)) {
                            await attempt(method, async () => void (await call(method)));
                        }
                    }
                    async function call(method: "update" | "delete" | "read"): Promise<unknown> {
                        const id = made?.id ?? "";
                        return method === "update" ? direct.update(id, used, used) : direct[method](id, used);
                    }
                }
            });
            for (const [method, error] of errors) {
                if (inspect(error, { depth: 8 }).includes(CANARY) || messageOf(error).includes(CANARY)) {
                    found("leak", { place: { in: "error", method }, found: hidden(errorText(error)) });
                }
            }
            const line = written.split("\n").find((it) => it.includes(CANARY));
            if (line !== undefined) {
                found("leak", { place: { in: "printed" }, found: hidden(line) });
            }
            const printed = inspect(trial.provider, { depth: 4 });
            if (printed.includes(CANARY)) {
                found("leak", { place: { in: "provider" }, found: hidden(printed) });
            }
        });
    },
};

function hidden(text: string): string {
    return text.replaceAll(CANARY, HIDDEN);
}

function plant(inputs: unknown, [key = "", ...rest]: string[]): boolean {
    if (inputs === null || typeof inputs !== "object") {
        return false;
    }
    const members = inputs as Bag;
    if (rest.length > 0) {
        return plant(members[key], rest);
    }
    if (typeof members[key] !== "string") {
        return false;
    }
    members[key] = CANARY;
    return true;
}

function plainLeak(value: unknown, secrets: readonly string[], path = ""): { path: string; text: string } | undefined {
    if (isListed(path, secrets) || isMarkedSecret(value)) {
        return undefined;
    }
    if (typeof value === "string") {
        return value.includes(CANARY) ? { path, text: value } : undefined;
    }
    if (value === null || typeof value !== "object") {
        return undefined;
    }
    for (const [key, member] of Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) {
        const next = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
        const leak = plainLeak(member, secrets, next);
        if (leak !== undefined) {
            return leak;
        }
    }
    return undefined;
}

const INFO = { title: "a law", file: "", replay: "" };

/** A stack whose one resource is of the provider that is tried. */
export function stackOf(trial: Trial, inputs: Inputs, time: "virtual" | "real") {
    const { config } = trial;
    return new Kit(INFO).stack(trial.provider, { inputs, config, settle: false, time });
}

const onlyOnce: Law = {
    name: "L13",
    title: "a create that is cut off makes one object",
    needs: [["world", "to count the objects"]],
    count: 1,
    slow: true,
    holds: (laboratory, [inputs = {}]) =>
        Trial.run(laboratory, async (trial) => {
            await trial.check(inputs);
            const before = new Set(trial.objects());
            const stack = stackOf(trial, inputs, "virtual");
            try {
                const lost = new Error("the connection was lost before the answer came");
                const stub = stack.stub("create", { throws: lost, after: true });
                await stack.up().catch(() => undefined);
                stub.restore();
                try {
                    await stack.up();
                } catch (thrown) {
                    found("repeat-fails", { error: errorText(thrown) }, thrown);
                }
                const made = trial.objects().filter((id) => !before.has(id));
                if (made.length !== 1) {
                    found("repeat-makes", { ids: made });
                }
            } finally {
                await stack.destroy().catch(() => undefined);
                const remove = removerOf(trial.world);
                for (const id of trial.objects()) {
                    if (!before.has(id)) {
                        await remove?.(id);
                    }
                }
            }
        }),
};

const cancellable: Law = {
    name: "L14",
    title: "a cancelled call ends",
    needs: [],
    count: 1,
    slow: true,
    whole: true,
    holds: (laboratory, [inputs = {}], { grace }) =>
        Trial.run(laboratory, async (trial) => {
            await trial.check(inputs);
            const stack = stackOf(trial, inputs, "real");
            const provider = trial.provider as Record<string, (...args: unknown[]) => unknown>;
            const cancelled = async (method: string, run: () => Promise<unknown>): Promise<void> => {
                let call: Promise<unknown> | undefined;
                const began = new Promise<void>((resolve) => {
                    const calls = (...args: unknown[]): unknown => {
                        const answer = provider[method]?.(...args);
                        call = Promise.resolve(answer);
                        stack.cancel();
                        resolve();
                        return answer;
                    };
                    stubs.push(stack.stub(method, { calls }));
                });
                const running = run().catch(() => undefined);
                await Promise.race([began, running]);
                if (call !== undefined && !(await endsWithin(grace, call))) {
                    found("goes-on", { method, seconds: grace / 1000 });
                }
                await running;
                stubs.pop()?.restore();
            };
            const stubs: { restore(): void }[] = [];
            await cancelled("create", () => stack.up());
            await stack.up();
            if (trial.has("delete")) {
                await cancelled("delete", () => stack.destroy());
            }
            await stack.destroy();
        }),
};

async function endsWithin(grace: number, call: Promise<unknown>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
        timer = later(() => resolve(false), grace);
    });
    const ended = call.then(
        () => true,
        () => true,
    );
    try {
        return await Promise.race([ended, late]);
    } finally {
        notLater(timer);
    }
}

export const runLaws: Law[] = [keptSecret, onlyOnce, cancellable];
