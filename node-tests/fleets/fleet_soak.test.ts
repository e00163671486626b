// A long run whose workers are killed again and again; with fewer stacks and kills: MALOKO_FLEET_STACKS, _KILLS.
import { expect, test } from "vitest";
import { FleetFolder } from "../support/fleet-kit";
import { ended, FleetServer, until } from "../support/fleet-server";
import { atNight } from "../support/night";

const nightly = atNight(test);
/** More than a workflow has in one history. */
const STACKS = Number(process.env.MALOKO_FLEET_STACKS ?? 1200);
const KILLS = Number(process.env.MALOKO_FLEET_KILLS ?? 24);
const FILES = 20;
/** Until so many further stacks have begun as there are between two kills. */
const MAX_SECONDS = 600;
const MAX_MS = 3 * 3_600_000;

nightly(
    "more than a thousand stacks are whole although workers are killed all the time",
    async () => {
        const fleet = new FleetFolder(await FleetServer.started());
        const rows = Array.from({ length: STACKS }, (_, number) => ({ tenant: `t${number}` }));
        const stacks = { project: "tenant", program: "tenant.cjs#tenant", stack: "{tenant}", for: rows };
        fleet.write([{ ...stacks, config: { files: String(FILES), plan: "gold" } }]);
        const workers = Array.from({ length: 4 }, () => fleet.worker("--slots", "4"));
        const run = fleet.detached("up");
        for (let number = 1; number <= KILLS; number++) {
            const begun = Math.floor((STACKS * number) / (KILLS + 1));
            await until(() => fleet.begun() >= begun, `${begun} stacks to begin`, MAX_SECONDS);
            const worker = workers.shift();
            if (worker !== undefined) {
                await ended(worker, "SIGKILL");
                workers.push(fleet.worker("--slots", "4"));
            }
        }

        const ends = Object.values(fleet.results(run).ends);

        expect(ends.filter(({ outcome }) => outcome !== "done" && outcome !== "unchanged")).toEqual([]);
        expect(ends.filter(({ attempts }) => attempts > 1).length, "kills that have hit a stack").toBeGreaterThan(0);
        expect(fleet.objects()).toEqual(Object.fromEntries(rows.map(({ tenant }) => [tenant, FILES])));
        fleet.expectWhole();
        expect(fleet.run(["up"]).counts.unchanged).toBe(STACKS);
    },
    MAX_MS,
);
