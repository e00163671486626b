// Fleets whose states are elsewhere than in a directory: what a worker that was killed has begun, the others end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { ended, FleetFolder, FleetServer, until, VENV } from "../support/fleet-kit";
import { atNight } from "../support/night";

const nightly = atNight(test);

const SERVERS = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "engine-stores", "tests");
const NAMES = Array.from({ length: 10 }, (_, number) => `t${number}`);

/** What a server says first: where it is. It ends with the test. */
async function started(command: string, ...words: string[]): Promise<string> {
    const server = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void server.stdin.end());
    const [line] = await once(createInterface({ input: server.stdout }), "line");
    return String(line);
}

/** The address of a backend of each kind, on a server of its own. A silent holder is replaced after five seconds. */
const BACKENDS: Record<string, () => Promise<string>> = {
    postgresql: async () => `${await started(join(SERVERS, "postgres-server"))}&lease=5`,
    s3: async () => {
        const port = await started(join(VENV, "python"), join(SERVERS, "servers", "moto_server.py"));
        return `s3://states/fleet?region=us-east-1&endpoint=http://127.0.0.1:${port}&lease=5`;
    },
};

// What a store does is the same Rust code, which Python asks by day; a killed worker in Node is in fleet_run.test.ts.
nightly.each(Object.entries(BACKENDS))(
    "a run is whole on another backend although a worker was killed: %s",
    async (_, begun) => {
        const fleet = new FleetFolder(await FleetServer.started());
        const backend = await begun();
        Object.assign(fleet.variables, { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" });
        const rows = NAMES.map((tenant) => ({ tenant }));
        const stacks = { project: "tenant", program: "tenant.cjs#tenant", stack: "{tenant}", for: rows };
        // A dead worker is noticed sooner.
        fleet.write([{ ...stacks, config: { holds: "true" } }], { backend, heartbeat: "3s" });
        const lost = fleet.worker("--slots", "3");
        fleet.worker("--slots", "4");
        const run = fleet.detached("up");
        await until(() => fleet.marks("held").length === 7, "stacks that both workers are at");
        await ended(lost, "SIGKILL");
        fleet.letGo();

        const ends = Object.values(fleet.results(run).ends);

        expect(new Set(ends.map(({ outcome }) => outcome))).toEqual(new Set(["done"]));
        // Those that the lost one was at.
        expect(ends.filter(({ attempts }) => attempts > 1)).toHaveLength(3);
        expect(fleet.run(["up"]).counts.unchanged).toBe(NAMES.length);
        expect(fleet.objects()).toEqual(Object.fromEntries(NAMES.map((name) => [name, 3])));
        await fleet.fetchStates(backend, "tenant", NAMES);
        fleet.expectWhole();
    },
);
