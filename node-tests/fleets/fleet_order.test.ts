// Generated fleets whose stacks need each other: nothing begins early, and what needs what failed is skipped.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Course } from "../node_modules/maloko/dist/fleet/course/course.js";
import type { Plan, StackEnd, StackSpec } from "../node_modules/maloko/dist/fleet/wire.js";
import { FleetFolder } from "../support/fleet-kit";
import { FleetServer } from "../support/fleet-server";
import { atNight } from "../support/night";

const nightly = atNight(test);

/** Stacks of a fleet. */
const MOST = 50;
/** Stacks of a fleet that runs; some of them are skipped. */
const LEAST = 20;

/** Stacks by number, each with those before it that it needs, and whether it fails where it begins. */
type Graph = { needs: number[]; fails: boolean }[];

const graphs: fc.Arbitrary<Graph> = fc
    .array(fc.record({ needs: fc.array(fc.nat(), { maxLength: 3 }), fails: fc.nat(9).map((it) => it === 0) }), {
        minLength: 1,
        maxLength: MOST,
        size: "max",
    })
    .map((stacks) =>
        stacks.map(({ needs, fails }, number) => ({
            needs: number === 0 ? [] : [...new Set(needs.map((need) => need % number))],
            fails,
        })),
    );

/** How the run ends for each stack. */
function outcomesOf(graph: Graph): Record<string, StackEnd["outcome"]> {
    const found: StackEnd["outcome"][] = [];
    for (const { needs, fails } of graph) {
        const alone = fails ? "failed" : "done";
        found.push(needs.every((need) => found[need] === "done") ? alone : "skipped");
    }
    return Object.fromEntries(found.map((outcome, number) => [`s${number}`, outcome]));
}

function planOf(graph: Graph, atATime: number): Plan {
    const stacks = graph.map(({ needs }, number) => ({
        id: `s${number}`,
        needs: needs.map((need) => `s${need}`),
        labels: {},
        wave: 0,
        queue: "default",
        language: "nodejs",
    }));
    return {
        stacks: stacks as unknown as StackSpec[],
        waves: [{ name: "all", pause: 0, unlessFailed: null }],
        limits: { atATime, each: {}, startsPerSecond: {} },
        retry: { provider: 3, firstWait: 2, longestWait: 60 },
        stopAfter: null,
    } as unknown as Plan;
}

function endOf(id: string, outcome: StackEnd["outcome"]): StackEnd {
    const reason = outcome === "failed" ? "program" : "";
    return { id, outcome, changes: {}, reason, text: "", attempts: 1, seconds: 0.02 } as StackEnd;
}

/** What a test draws. */
type Draw = fc.GeneratorValue;
type Outcomes = Record<string, StackEnd["outcome"]>;

/** A batch ends with its first that fails, or earlier; gives those that may have begun and have not ended. */
function endBatch(course: Course, ids: string[], outcomes: Outcomes, draw: Draw, now: number): string[] {
    if (draw(fc.nat, { max: 4 }) === 0) {
        course.batchEnded(ids, undefined, now);
        return ids;
    }
    const count = draw(fc.nat, { max: ids.length });
    const failed = ids.slice(0, count).findIndex((id) => outcomes[id] === "failed");
    const ended = ids.slice(0, failed === -1 ? count : failed + 1);
    const next = failed === -1 && draw(fc.boolean) ? ids.slice(ended.length, ended.length + 1) : [];
    const ends = ended.map((id) => endOf(id, outcomes[id] ?? "done"));
    course.batchEnded(ids, { ends, interrupted: next.length > 0 ? {} : null }, now);
    return next;
}

test("the course begins nothing early and skips what needs what failed", () => {
    fc.assert(
        fc.property(graphs, fc.integer({ min: 1, max: 8 }), fc.gen(), (graph, atATime, draw) => {
            const outcomes = outcomesOf(graph);
            const course = new Course(planOf(graph, atATime), null, 0);
            const begun = new Set<string>();
            const atWork: string[][] = [];
            // By stack, the number of a start that nobody knows the end of.
            const mayHaveBegun = new Map<string, number>();
            for (let now = 0; !course.isOver; now += 0.01) {
                for (const batch of course.launches(now)) {
                    for (const [{ id, needs }, number] of batch) {
                        expect(needs.filter((need) => course.ends.get(need)?.outcome !== "done")).toEqual([]);
                        expect(number).toBeGreaterThan(mayHaveBegun.get(id) ?? 0);
                        begun.add(id);
                    }
                    atWork.push(batch.map(([{ id }]) => id));
                }
                expect(atWork.length).toBeLessThanOrEqual(atATime);
                expect(course.running).toEqual(new Set(atWork.flat()));
                if (course.isOver) {
                    break;
                }
                expect(atWork.length, "the course stands still").toBeGreaterThan(0);
                const [ids = []] = atWork.splice(draw(fc.nat, { max: atWork.length - 1 }), 1);
                const [id = ""] = ids;
                if (ids.length === 1) {
                    course.ended(endOf(id, outcomes[id] ?? "done"), now);
                } else {
                    for (const open of endBatch(course, ids, outcomes, draw, now)) {
                        mayHaveBegun.set(open, 1);
                    }
                }
            }
            const ends = [...course.ends].map(([id, { outcome }]) => [id, outcome]);
            expect(Object.fromEntries(ends)).toEqual(outcomes);
            expect([...begun].sort()).toEqual(
                Object.keys(outcomes)
                    .filter((id) => outcomes[id] !== "skipped")
                    .sort(),
            );
        }),
    );
});

// By day the course is asked of alone.
nightly.each([0, 1, 2])("a run goes in order and retry does just the rest: %i", async (seed) => {
    const fleet = new FleetFolder(await FleetServer.started());
    const drawn = fc.sample(graphs, { seed, numRuns: 1000 });
    const isWanted = (it: Graph) => it.length >= LEAST && Object.values(outcomesOf(it)).includes("skipped");
    const graph = drawn.find(isWanted) ?? [];
    const outcomes = outcomesOf(graph);
    const write = (areMended: boolean) => {
        const stacks = graph.map(({ needs, fails }, number) => ({
            project: "tenant",
            program: "tenant.cjs#tenant",
            stack: `s${number}`,
            needs: needs.map((need) => `s${need}`),
            config: { fails: fails && !areMended ? "always" : "", files: "2" },
        }));
        fleet.write(stacks, { retry: { provider: 1 } });
    };
    write(false);
    fleet.worker("--slots", "4");
    fleet.worker("--slots", "4");
    const rest = Object.keys(outcomes).filter((id) => outcomes[id] !== "done");

    const { run, ends } = fleet.run(["up"], 1);

    const told = Object.values(ends).map(({ id, outcome }) => [id.replace("tenant/", ""), outcome]);
    expect(Object.fromEntries(told)).toEqual(outcomes);
    const made = (number: number) => {
        const folder = join(fleet.world, "objects", `s${number}`);
        return readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs);
    };
    for (const [number, { needs }] of graph.entries()) {
        if (outcomes[`s${number}`] === "done") {
            const begun = Math.min(...made(number));
            expect(needs.filter((need) => Math.max(...made(need)) > begun)).toEqual([]);
        }
    }
    write(true);
    const again = Object.values(fleet.run(["retry", run]).ends).map(({ id, outcome }) => [id, outcome]);
    expect(Object.fromEntries(again)).toEqual(Object.fromEntries(rest.map((id) => [`tenant/${id}`, "done"])));
    expect(fleet.objects()).toEqual(Object.fromEntries(Object.keys(outcomes).map((id) => [id, 2])));
    fleet.expectWhole();
});
