// Which worker a stack is at, and for how long.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS, FleetFolder, FleetServer, until } from "../support/fleet-kit";

interface Status {
    state: string;
    seconds: number;
    stacks: { id: string; text: string; worker: string | null; attempt: number }[];
}

function stacksOf(count: number, config: Record<string, string>) {
    const rows = Array.from({ length: count }, (_, number) => ({ tenant: `t${number}` }));
    return [{ project: "tenant", program: "tenant.cjs#tenant", stack: "{tenant}", for: rows, config }];
}

function statusOf(fleet: FleetFolder, run: string): Status {
    return fleet.told<Status>(["status", run]);
}

let server: FleetServer;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
    server = await FleetServer.started((end) => ends.push(end));
});

afterAll(async () => {
    for (const end of ends) {
        await end();
    }
});

test("a stack that takes longer than a worker may be silent stays where it is", async () => {
    const fleet = new FleetFolder(server);
    fleet.write(stacksOf(1, { holds: "true" }), { heartbeat: "8s" });
    const worker = fleet.worker();
    const run = fleet.detached("up");
    await until(() => fleet.marks("held").length > 0, "the stack to be at work");
    const began = statusOf(fleet, run).seconds;

    const waitedFor = (): Status | undefined => {
        const told = statusOf(fleet, run);
        return told.seconds > began + 10 || (told.stacks[0]?.attempt ?? 0) > 1 ? told : undefined;
    };
    const { stacks } = await until(
        waitedFor,
        "the worker to have been at it for longer than that",
        undefined,
        COMMANDS,
    );

    expect(stacks).toMatchObject([{ id: "tenant/t0", attempt: 1 }]);
    expect(stacks[0]?.worker).toMatch(new RegExp(`:${worker.pid}$`));
    expect(stacks[0]?.text, "heartbeats tell how far it is").toContain(" of ");
    fleet.letGo();
    expect(fleet.results(run).ends).toMatchObject({ "tenant/t0": { outcome: "done", attempts: 1 } });
    expect(fleet.objects()).toEqual({ t0: 3 });
});

test("a worker gets no stacks of programs that are others now", async () => {
    const fleet = new FleetFolder(server);
    fleet.write(stacksOf(2, { plan: "gold" }));
    fleet.worker();
    fleet.run(["up"]);
    const program = join(fleet.folder, "tenant.cjs");
    writeFileSync(program, readFileSync(program, "utf8").replace('config.getNumber("files") ?? 3', "4"));

    // The worker of the old programs goes on asking for stacks.
    const run = fleet.detached("up");

    const { stacks } = await until(() => {
        const told = statusOf(fleet, run);
        return told.stacks.length > 0 || told.state === "ended" ? told : undefined;
    }, "the stacks to be offered");
    expect(stacks.map(({ text }) => text)).toEqual(["waits for a worker", "waits for a worker"]);
    const newer = fleet.worker();
    const workers = Object.values(fleet.results(run).ends).map(({ worker }) => worker?.split(":").at(-1));
    expect(new Set(workers)).toEqual(new Set([String(newer.pid)]));
    expect(fleet.objects()).toEqual({ t0: 4, t1: 4 });
    fleet.expectWhole();
});
