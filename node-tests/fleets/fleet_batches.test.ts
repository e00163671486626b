// Stacks that take a moment are given to a worker several at a time. Of each comes what would come of it by itself. Python asks of
// a run that stops and of a lost worker by day, too.
import { expect, test } from "vitest";
import { COMMANDS, FleetFolder } from "../support/fleet-kit";
import { detachedAfter, historyOf } from "../support/fleet-runs";
import { sharedServer, until } from "../support/fleet-server";
import { atNight } from "../support/night";

const nightly = atNight(test);
const server = sharedServer();

/** Stacks that have ended in a moment before a test begins: by so many the others are judged. */
const QUICK = 16;

/** A fleet of so many stacks after the quick ones, `t16` the first of them, which are done one at a time. */
function fleetOf(count: number, fails: Record<string, string>, config = {}, settings = {}): FleetFolder {
    const fleet = new FleetFolder(server());
    const rows = Array.from({ length: QUICK + count }, (_, number) => ({
        tenant: `t${number}`,
        fails: fails[`t${number}`] ?? "",
        part: number < QUICK ? "quick" : "rest",
    }));
    const base = { project: "tenant", program: "tenant.cjs#tenant", stack: "{tenant}" };
    const stacks = [{ ...base, config: { fails: "{fails}", ...config }, for: rows }];
    fleet.write(stacks, { limits: { at_a_time: 1 }, ...settings });
    return fleet;
}

/** The names under which the server had the batches of a run. */
async function batchesOf(run: string): Promise<string[]> {
    const { events } = await historyOf(server(), run);
    const names = events?.map((event) => event.activityTaskScheduledEventAttributes?.activityId ?? "") ?? [];
    return names.filter((name) => name.includes(" +"));
}

/** How the stacks ended that are not the quick ones, and how often each was begun. */
function endsOf(fleet: FleetFolder, run: string, code: number | null = 0): [string, number][] {
    const ends = Object.values(fleet.results(run, code).ends).slice(QUICK);
    const number = ({ id }: { id: string }): number => Number(id.replace("tenant/t", ""));
    return ends.sort((left, right) => number(left) - number(right)).map((end) => [end.outcome, end.attempts]);
}

/** Each object is there once, and nothing is left to do. The quick stacks were never begun. */
function expectAllWhole(fleet: FleetFolder, count: number): void {
    const rest = Array.from({ length: count }, (_, number) => [`t${QUICK + number}`, 3]);
    expect(fleet.objects()).toEqual(Object.fromEntries(rest));
    fleet.expectWhole();
    expect(fleet.run(["up", "--select", "part=rest"]).counts.unchanged).toBe(count);
    fleet.expectWhole();
}

interface Told {
    counts: Record<string, number>;
    stacks: { id: string; text: string; note: string | null }[];
}

test("a worker does several stacks and each ends as by itself", async () => {
    const fleet = fleetOf(6, { t17: "once", t19: "always" });
    fleet.worker();

    const run = await detachedAfter(QUICK, fleet, server());
    const ends = endsOf(fleet, run, 1);

    const done = ["done", 1];
    expect(ends).toEqual([done, ["done", 2], done, ["failed", 2], done, done]);
    expect((await batchesOf(run))[0]).toBe("tenant/t16 +5");
    fleet.expectWhole();
});

nightly("a run that stops in a batch begins none of the rest", async () => {
    const fleet = fleetOf(5, { t16: "always" }, {}, { stop_after: 1, retry: { provider: 1 } });
    fleet.worker();

    const ends = endsOf(fleet, await detachedAfter(QUICK, fleet, server()), 1);

    expect(ends).toEqual([["failed", 1], ...Array(4).fill(["skipped", 0])]);
    expect(Object.keys(fleet.objects())).toEqual(["t16"]);
    fleet.expectWhole();
});

nightly("a worker that is lost in a batch is followed", async () => {
    const fleet = fleetOf(4, {}, { holds: "true" }, { heartbeat: "2s" });
    const lost = fleet.worker();
    const run = await detachedAfter(QUICK, fleet, server());
    await until(() => fleet.marks("held").join() === "t16", "the first stack to be at work");
    let told: Told | undefined;
    const hasBeaten = (): boolean => {
        told = fleet.told<Told>(["status", run]);
        return told.stacks[0]?.text.includes(" of ") === true;
    };
    await until(hasBeaten, "a beat", 60, COMMANDS);
    lost.kill("SIGKILL");
    fleet.letGo();
    fleet.worker();

    const ends = endsOf(fleet, run);

    expect(told?.counts).toMatchObject({ running: 1, waiting: 3 });
    expect(told?.stacks[0]).toMatchObject({ id: "tenant/t16", note: "3 more after it" });
    expect(ends.filter(([outcome]) => outcome !== "done" && outcome !== "unchanged")).toEqual([]);
    // Each of the batch was begun again.
    expect(ends.filter(([, attempts]) => attempts === 1)).toEqual([]);
    expectAllWhole(fleet, 4);
});

nightly("cancel reaches the stack of a batch that is worked on", async () => {
    const fleet = fleetOf(4, {}, { holds: "true" }, { heartbeat: "2s" });
    fleet.worker();
    const run = await detachedAfter(QUICK, fleet, server());
    await until(() => fleet.marks("held").join() === "t16", "the first stack to be at work");

    fleet.command(["cancel", run]);
    const ends = endsOf(fleet, run, null);

    expect(fleet.marks("told")).toEqual(["t16"]);
    expect(ends.map(([outcome]) => outcome)).toEqual(Array(4).fill("cancelled"));
    fleet.letGo();
    expect(fleet.run(["up", "--select", "part=rest"]).counts.done).toBe(4);
    expectAllWhole(fleet, 4);
});

nightly("a worker that is told to end hands its batch over", async () => {
    const fleet = fleetOf(4, {}, { holds: "true" }, { heartbeat: "2s" });
    const worker = fleet.worker();
    const run = await detachedAfter(QUICK, fleet, server());
    await until(() => fleet.marks("held").join() === "t16", "the first stack to be at work");

    worker.kill("SIGTERM");
    await until(() => fleet.marks("told").join() === "t16", "the provider to hear of it");
    fleet.letGo();
    fleet.worker();

    expect(endsOf(fleet, run).map(([outcome]) => outcome)).toEqual(Array(4).fill("done"));
    expectAllWhole(fleet, 4);
});
