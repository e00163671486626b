// Fleets of which a part fails at the worst place: the network, the event loop, a worker within its journal. Python asks of
// the first and of one point by day, too.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS, FleetFolder, stacksOf } from "../support/fleet-kit";
import { sharedServer, until, Wire } from "../support/fleet-server";
import { atNight } from "../support/night";

const nightly = atNight(test);

const KILL_POINTS = [
    "kill::before-intent",
    "kill::after-intent",
    "kill::before-outcome",
    "kill::after-outcome",
    "kill::before-fold",
    "kill::after-fold-record",
    "kill::before-release",
    "kill::after-release",
];

/** Has so many of the run's stacks a second worker tried? For a while the server still asks the one that is cut off. */
function isTakenOver(fleet: FleetFolder, run: string, count: number): boolean {
    const { stdout } = fleet.command(["status", run, "--json"], null);
    const { stacks } = JSON.parse(stdout || '{"stacks": []}') as { stacks: { attempt: number }[] };
    return stacks.filter(({ attempt }) => attempt > 1).length === count;
}

/** Each object is there once, and nothing is left to do. */
function expectAllWhole(fleet: FleetFolder, count: number): void {
    expect(fleet.objects()).toEqual(
        Object.fromEntries(Array.from({ length: count }, (_, number) => [`t${number}`, 3])),
    );
    fleet.expectWhole();
    expect(fleet.run(["up"]).counts.unchanged).toBe(count);
    fleet.expectWhole();
}

const server = sharedServer();

nightly("a worker that is cut off from the server makes nothing twice", async () => {
    const fleet = new FleetFolder(server());
    const wire = await Wire.to(server());
    fleet.write(stacksOf(2, { holds: "true" }), { heartbeat: "3s" });
    fleet.worker("--slots", "2", "--file", fleet.fileByWayOf(wire));
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length === 2, "both stacks at work");
    await wire.cut();
    const other = fleet.worker();
    // The first one is alive, and holds both stacks.
    await until(() => isTakenOver(fleet, run, 2), "the other worker to try", 180, COMMANDS);
    fleet.letGo();

    const made = Object.values(fleet.results(run).ends);
    await wire.mend();

    expect(made.filter(({ outcome }) => outcome !== "done" && outcome !== "unchanged")).toEqual([]);
    expect(new Set(made.map(({ worker }) => worker?.split(":").at(-1)))).toEqual(new Set([String(other.pid)]));
    expectAllWhole(fleet, 2);
});

nightly("a provider that holds the interpreter makes nothing twice", async () => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(4, { grips: "8" }), { heartbeat: "2s" });
    fleet.worker("--slots", "4");
    const run = fleet.detached("up");
    await until(() => existsSync(join(fleet.world, "gripped")), "the interpreter to be held");
    fleet.worker("--slots", "4");

    const made = Object.values(fleet.results(run).ends);

    expect(existsSync(join(fleet.world, "let-go"))).toBe(true);
    expect(made.filter(({ outcome }) => outcome !== "done" && outcome !== "unchanged")).toEqual([]);
    // The silent worker was followed.
    expect(made.filter(({ attempts }) => attempts > 1)).not.toEqual([]);
    expectAllWhole(fleet, 4);
});

nightly.each(KILL_POINTS)("a worker that dies at a point of its journal is followed: %s", async (point) => {
    const fleet = new FleetFolder(server());
    fleet.write(stacksOf(6), { heartbeat: "2s" });
    const lost = fleet.workerWith({ FAILPOINTS: `${point}=2*off->1*return` }, "--slots", "3");
    const over = once(lost, "exit");
    const run = fleet.detached("up");
    expect((await over)[0]).not.toBe(0);
    fleet.worker();

    const made = Object.values(fleet.results(run).ends);

    expect(made.filter(({ outcome }) => outcome !== "done" && outcome !== "unchanged")).toEqual([]);
    // The dead worker was followed.
    expect(made.filter(({ attempts }) => attempts > 1)).not.toEqual([]);
    expectAllWhole(fleet, 6);
});
