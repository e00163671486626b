// `fleet schedules`: runs that begin by themselves. The server keeps the clock.
import type { Client, ScheduleOptions } from "@temporalio/client";
import { connect, ofRecords } from "../connection";
import type { Verb } from "../deploy";
import { temporal } from "../packages";
import type { Fleet } from "../plan";
import { flowQueue } from "../queues";
import { memoOf } from "../run";
import { type Order, RUN, type RunOptions, type Schedule, verbOf } from "../wire";
import { fleetOf, type Request } from "./request";
import { print, say } from "./texts";
import { instant, period } from "./times";

/** Lists what the file says and what the server has; with `--apply` the server gets what the file says. */
export async function run(asked: Request): Promise<number> {
    const fleet = fleetOf(asked);
    const { fleet: fleetName, schedules: wanted, engine } = fleet.plan("up");
    const client = ofRecords(await connect(engine));
    let there = await schedulesOf(client, fleetName, Object.keys(wanted));
    const deleted = asked.apply ? [...there.keys()].filter((name) => !Object.hasOwn(wanted, name)) : [];
    if (asked.apply) {
        for (const [name, entry] of Object.entries(wanted)) {
            await put(client, scheduleOf(fleet, fleetName, name, entry));
        }
        for (const name of deleted) {
            await client.schedule.getHandle(idOf(fleetName, name)).delete();
        }
        there = new Map();
        for (const name of Object.keys(wanted)) {
            there.set(name, (await nextOf(client, fleetName, name)) ?? "");
        }
    }
    const names = [...new Set([...Object.keys(wanted), ...there.keys()])].sort();
    if (asked.json) {
        const rows = names.map((name) => [
            name,
            { file: wanted[name] ?? null, next: there.get(name) ?? null, onServer: there.has(name) },
        ]);
        print(Object.fromEntries(rows) as object);
        return 0;
    }
    for (const name of [...names, ...deleted].sort()) {
        print(`${name}: ${deleted.includes(name) ? "deleted" : lineFor(wanted[name], there.get(name))}`);
    }
    if (names.length + deleted.length === 0) {
        say("there are no schedules: neither in the fleet's file nor on the server");
    }
    if (!asked.apply && names.some((name) => !Object.hasOwn(wanted, name) || !there.has(name))) {
        say("`maloko fleet schedules --apply` makes the server's schedules those of the file");
    }
    return 0;
}

function lineFor(entry: Schedule | undefined, next: string | undefined): string {
    if (entry === undefined) {
        return "only on the server; `--apply` deletes it";
    }
    const where = next === undefined ? "not on the server" : next === "" ? "on the server" : `next ${next}`;
    const verb = `${entry.verb}${entry.previewOnly ? " --preview-only" : ""}`;
    const select = entry.select.length > 0 ? ` of ${entry.select.join(" and ")}` : "";
    const jitter = entry.jitter > 0 ? `, up to ${period(entry.jitter)} later` : "";
    return `${verb}${select} every ${period(entry.every)}${jitter}, ${where}`;
}

// The schedules of the fleet that the server has, each with the time of its next run; empty where that is not known. The server's
// list is late: whether it has one, only that one itself says.
async function schedulesOf(client: Client, fleet: string, wanted: string[]): Promise<Map<string, string>> {
    const prefix = idOf(fleet, "");
    const names = new Set(wanted);
    for await (const { scheduleId } of client.schedule.list()) {
        if (scheduleId.startsWith(prefix)) {
            names.add(scheduleId.slice(prefix.length));
        }
    }
    const found = new Map<string, string>();
    for (const name of names) {
        const next = await nextOf(client, fleet, name);
        if (next !== undefined) {
            found.set(name, next);
        }
    }
    return found;
}

// When a schedule begins its next run; undefined where the server has no such schedule.
async function nextOf(client: Client, fleet: string, name: string): Promise<string | undefined> {
    const { ScheduleNotFoundError } = temporal("client");
    try {
        const { info } = await client.schedule.getHandle(idOf(fleet, name)).describe();
        const [next] = info.nextActionTimes;
        return next === undefined ? "" : instant(next);
    } catch (error) {
        if (error instanceof ScheduleNotFoundError) {
            return undefined;
        }
        throw error;
    }
}

async function put(client: Client, { scheduleId, ...schedule }: ScheduleOptions): Promise<void> {
    const { ScheduleAlreadyRunning } = temporal("client");
    try {
        await client.schedule.create({ scheduleId, ...schedule });
    } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) {
            throw error;
        }
        await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...schedule, state }));
    }
}

function scheduleOf(fleet: Fleet, fleetName: string, name: string, entry: Schedule): ScheduleOptions {
    const plan = fleet.plan(entry.verb as Verb, { select: entry.select });
    const { previewOnly } = entry;
    const options: RunOptions = { previewOnly, outputs: false, message: `schedule ${name}`, importFile: "" };
    const order: Order = { plan, options, began: 0, state: null };
    const verb = verbOf(plan, options);
    return {
        scheduleId: idOf(fleetName, name),
        spec: { intervals: [{ every: entry.every * 1000 }], jitter: entry.jitter * 1000 },
        action: {
            type: "startWorkflow",
            workflowType: RUN,
            args: [order],
            workflowId: `${fleetName}-${verb}-${name}`,
            taskQueue: flowQueue(fleetName),
            memo: memoOf(plan, options),
        },
        policies: { overlap: "SKIP" },
    };
}

function idOf(fleet: string, name: string): string {
    return `${fleet}/schedule/${name}`;
}
