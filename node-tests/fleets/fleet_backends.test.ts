// Fleets whose states are elsewhere than in a directory: what a worker that was killed has begun, the others end.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { FleetFolder, stacksOf } from "../support/fleet-kit";
import { ended, FleetServer, until, VENV } from "../support/fleet-server";
import { atNight } from "../support/night";

const nightly = atNight(test);

const SERVERS = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "engine-stores", "tests");
const NAMES = Array.from({ length: 10 }, (_, number) => `t${number}`);

/** A backend on a server of its own, which ends with the test. A silent holder is replaced after five seconds. */
class Backend {
    readonly #said: AsyncIterator<string>;
    address = "";

    private constructor(private readonly server: ChildProcessByStdio<Writable, Readable, null>) {
        const over = once(server, "exit");
        onTestFinished(async () => {
            server.stdin.end();
            await over;
        });
        this.#said = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    }

    /** One whose address is made of what its server says first. */
    static async of(addressOf: (place: string) => string, command: string, ...words: string[]): Promise<Backend> {
        const made = new Backend(spawn(command, words, { stdio: ["pipe", "pipe", "inherit"] }));
        made.address = addressOf(await made.#line());
        return made;
    }

    /** Has the server end at once, and begin again. */
    async restart(): Promise<void> {
        this.server.stdin.write("restart\n");
        expect(await this.#line()).toBe("restarted");
    }

    async #line(): Promise<string> {
        const { value, done } = await this.#said.next();
        expect(done, "no server; what is missing is said above").not.toBe(true);
        return String(value);
    }
}

const postgresql = () => Backend.of((place) => `${place}&lease=5`, join(SERVERS, "postgres-server"));
const s3 = () =>
    Backend.of(
        (port) => `s3://states/fleet?region=us-east-1&endpoint=http://127.0.0.1:${port}&lease=5`,
        join(VENV, "python"),
        join(SERVERS, "servers", "moto_server.py"),
    );

// What a store does is the same Rust code, which Python asks by day; a killed worker in Node is in fleet_run.test.ts.
nightly.each(Object.entries({ postgresql, s3 }))(
    "a run is whole on another backend although a worker was killed: %s",
    async (_, begun) => {
        const fleet = new FleetFolder(await FleetServer.started());
        const { address: backend } = await begun();
        Object.assign(fleet.variables, { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" });
        // A dead worker is noticed sooner.
        fleet.write(stacksOf(NAMES.length, { holds: "true" }), { backend, heartbeat: "3s" });
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

nightly("a run outlives restarts of its backend", async () => {
    const fleet = new FleetFolder(await FleetServer.started());
    const backend = await postgresql();
    fleet.write(stacksOf(NAMES.length, { holds: "true" }), { backend: backend.address });
    fleet.worker("--slots", "4");
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length === 4, "stacks at work");
    await backend.restart();
    fleet.letGo();
    await until(() => fleet.begun() >= 6, "further stacks");
    await backend.restart();

    const ends = Object.values(fleet.results(run).ends);

    expect(ends.filter(({ outcome }) => outcome !== "done" && outcome !== "unchanged")).toEqual([]);
    expect(fleet.objects()).toEqual(Object.fromEntries(NAMES.map((name) => [name, 3])));
    expect(fleet.run(["up"]).counts.unchanged).toBe(NAMES.length);
    await fleet.fetchStates(backend.address, "tenant", NAMES);
    fleet.expectWhole();
});
