// Runs are replayed where another worker goes on with them: the code has to decide as it did when they went. A worker of this version
// is given the runs that others of this version have begun (`queues.ts`). So what a run decides changes with the version alone: the
// histories of conformance/fleets/histories hold the code to that.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { temporal } from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { expect, test } from "vitest";
import { dataConverter } from "../node_modules/maloko/dist/fleet/codec.js";
import { FleetFolder, stacksOf } from "../support/fleet-kit";
import { detachedAfter, historyOf } from "../support/fleet-runs";
import { FleetServer, until } from "../support/fleet-server";
import { atNight } from "../support/night";

const nightly = atNight(test);
const require = createRequire(import.meta.url);
// What is no part of the package's interface is reached by its file.
const inside = dirname(require.resolve("maloko/fleet"));
const { workflowBundle } = require(join(inside, "bundle.js")) as { workflowBundle(): Promise<{ code: string }> };
const { version } = require("maloko/package.json") as { version: string };

const { History } = temporal.api.history.v1;

const RECORDED = new URL(`../../conformance/fleets/histories/${version}/nodejs/`, import.meta.url);
/** Stacks that ended in a moment before a run goes on: so many judge whether the others are done in batches. */
const QUICK = 16;
/** Are the runs of this test to be the recorded ones? `make fleet-histories` says so. */
const RECORDS = Boolean(process.env.MALOKO_RECORD_HISTORIES);

async function replay(history: temporal.api.history.v1.IHistory): Promise<void> {
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle(), dataConverter: dataConverter() }, history);
}

/** One with waves, limits, attempts that fail, and stacks that are skipped. */
async function failingRun(fleet: FleetFolder): Promise<string> {
    const base = { project: "tenant", program: "tenant.cjs#tenant", labels: { ring: "first" } };
    const stacks = [
        { ...base, stack: "broken", config: { fails: "always" } },
        { ...base, stack: "slow", config: { fails: "once" } },
        { ...base, stack: "skipped", needs: ["broken"] },
        { ...base, stack: ["a", "b", "c"], labels: { ring: "second" }, config: { files: "1" } },
    ];
    const waves = [{ select: "ring=first" }, { pause: "100ms" }];
    fleet.write(stacks, { waves, limits: { at_a_time: 2, each: { ring: 1 }, starts_per_second: { ring: 20 } } });
    fleet.worker();
    return fleet.run(["up"], 1).run;
}

/** One that is paused, goes on, and is cancelled while stacks are at work. */
async function steeredRun(fleet: FleetFolder): Promise<string> {
    fleet.write(stacksOf(3, { holds: "true" }), { limits: { at_a_time: 2 } });
    fleet.worker();
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length === 2, "two stacks at work");
    fleet.command(["pause", run]);
    fleet.command(["resume", run]);
    fleet.command(["cancel", run]);
    return run;
}

/** One whose stacks are done in batches, of which one fails for a while. */
async function quickRun(fleet: FleetFolder, server: FleetServer): Promise<string> {
    const [stacks] = stacksOf(QUICK + 4);
    const broken = { ...stacks, for: [{ tenant: "broken" }], config: { fails: "once" } };
    fleet.write([{ ...stacks }, broken, { ...stacks, for: [{ tenant: "last" }] }], { limits: { at_a_time: 1 } });
    fleet.worker();
    const run = await detachedAfter(QUICK, fleet, server);
    fleet.results(run);
    return run;
}

const MAKERS = { failingRun, steeredRun, quickRun };

// By day those that are recorded are replayed.
nightly.each(Object.entries(MAKERS))("a run is replayed as it went: %s", async (name, make) => {
    const server = await FleetServer.started();
    const history = await historyOf(server, await make(new FleetFolder(server), server));

    await replay(history);

    if (RECORDS) {
        mkdirSync(RECORDED, { recursive: true });
        writeFileSync(new URL(`${name}.binpb`, RECORDED), History.encode(history).finish());
    }
});

test.each(
    Object.keys(MAKERS),
)("the code decides as it did when runs of this version were recorded: %s", async (name) => {
    const history = History.decode(readFileSync(new URL(`${name}.binpb`, RECORDED)));
    await expect(replay(history)).resolves.toBeUndefined();
});
