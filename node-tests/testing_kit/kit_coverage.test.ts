// Coverage and breakpoints in provider methods are the same under the engine as without it.

import { Session } from "node:inspector/promises";
import { createRequire } from "node:module";
import { direct, expect, test } from "maloko/vitest";
import { type Props, Thing } from "../support/kit";
import { EveryMethod } from "./kit-samples/every-method.cjs";

const require = createRequire(import.meta.url);

const METHODS = ["configure", "check", "diff", "create", "read", "update", "delete"];

/** What of each method of the provider ran in each of these, and what of it did not. */
async function coverageOf(...actions: ((provider: typeof EveryMethod) => Promise<unknown>)[]) {
    const session = new Session();
    session.connect();
    try {
        await session.post("Profiler.enable");
        await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
        // V8 counts blocks of what is compiled from here on only. From Node 22 on it may take what was compiled before from a
        // cache when the file is loaded once more: so it is loaded once for all.
        const file = require.resolve("./kit-samples/every-method.cjs");
        delete require.cache[file];
        const provider: typeof EveryMethod = require(file).EveryMethod;
        const seen = [];
        for (const action of actions) {
            await action(provider);
            // That starts the counts anew, too.
            const { result } = await session.post("Profiler.takePreciseCoverage");
            const script = result.findLast(({ url }) => url.endsWith("every-method.cjs"));
            const methods = script?.functions
                .filter(({ functionName }) => METHODS.includes(functionName))
                .map(({ functionName, ranges }) => ({
                    functionName,
                    // How often what ran did so is not the question, nor into how many ranges that divides it.
                    runs: (ranges[0]?.count ?? 0) > 0,
                    uncovered: ranges.filter(({ count }) => count === 0),
                }))
                .sort((a, b) => (a.functionName < b.functionName ? -1 : 1));
            seen.push(methods ?? []);
        }
        return seen;
    } finally {
        session.disconnect();
    }
}

function program(provider: typeof EveryMethod) {
    return ({ size }: Props) => void new Thing(new provider(), "b", { size });
}

test("coverage is that of direct calls", async ({ stack }) => {
    const throughEngine = async (type: typeof EveryMethod) => {
        const s = stack(program(type), { inputs: { size: 1 } });
        await s.up();
        s.set({ size: 2 });
        await s.up();
        await s.refresh();
        await s.destroy();
    };
    const directly = async (type: typeof EveryMethod) => {
        const provider = direct(type);
        await provider.configure({});
        await provider.check({}, { size: 1 });
        const { id, outs } = await provider.create({ size: 1 });
        await provider.diff(id, outs, { size: 1 });
        await provider.diff(id, outs, { size: 2 });
        await provider.update(id, outs, { size: 2 });
        await provider.read(id, { size: 2 });
        await provider.delete(id, { size: 2 });
    };
    const [engine, alone] = await coverageOf(throughEngine, directly);
    expect(engine?.map(({ functionName, runs }) => runs && functionName)).toEqual([...METHODS].sort());
    expect(engine?.find(({ functionName }) => functionName === "check")?.uncovered).toHaveLength(1);
    expect(engine).toEqual(alone);
});

test("breakpoints stop in every method", async ({ stack }) => {
    const session = new Session();
    session.connect();
    const hit = new Set<string>();
    try {
        session.on("Debugger.paused", ({ params }) => {
            hit.add(params.callFrames[0]?.functionName ?? "");
            void session.post("Debugger.resume");
        });
        await session.post("Debugger.enable");
        for (const method of METHODS) {
            await session.post("Debugger.setBreakpointByUrl", {
                lineNumber: EveryMethod.lineOf(method),
                urlRegex: ".*every-method\\.cjs$",
            });
        }
        const s = stack(program(EveryMethod), { inputs: { size: 1 } });
        await s.up();
        s.set({ size: 2 });
        await s.up();
        await s.refresh();
        await s.destroy();
    } finally {
        session.disconnect();
    }
    expect([...hit].sort()).toEqual([...METHODS].sort());
});
