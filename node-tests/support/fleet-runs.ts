// Runs of fleets as the server has them.
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { load } from "maloko/fleet";
import { onTestFinished } from "vitest";
import { dataConverter } from "../node_modules/maloko/dist/fleet/codec.js";
import { flowQueue } from "../node_modules/maloko/dist/fleet/queues.js";
import { RUN } from "../node_modules/maloko/dist/fleet/wire.js";
import type { FleetFolder } from "./fleet-kit";
import type { FleetServer } from "./fleet-server";

type History = temporal.api.history.v1.IHistory;

async function clientOf(server: FleetServer): Promise<Client> {
    const connection = await Connection.connect({ address: server.address });
    onTestFinished(() => connection.close());
    return new Client({ connection, dataConverter: dataConverter() });
}

/** What has happened to a run, as the server keeps it. */
export async function historyOf(server: FleetServer, run: string): Promise<History> {
    return (await clientOf(server)).workflow.getHandle(run).fetchHistory();
}

/**
 * Begins an `up` whose first stacks have ended, each in a moment, so that the others are done in batches; gives its name.
 */
export async function detachedAfter(quick: number, fleet: FleetFolder, server: FleetServer): Promise<string> {
    const plan = load(join(fleet.folder, "fleet.yaml")).plan("up");
    const end = { outcome: "unchanged", changes: {}, reason: "", text: "", attempts: 1, seconds: 0.01 };
    const state = {
        ends: plan.stacks.slice(0, quick).map(({ id }) => ({ ...end, id })),
        ...{ tries: {}, awaits: {}, changes: {}, later: [], turns: [], givenUp: [], nextStarts: [] },
        ...{ wave: 0, waveBegins: 0, paused: false, stopped: "" },
    };
    const options = { previewOnly: false, outputs: false, message: "", importFile: "" };
    const order = { plan, options, began: Date.now() / 1000, state };
    const workflowId = `${fleet.name}-up-batches`;
    const taskQueue = flowQueue(fleet.name);
    await (await clientOf(server)).workflow.start(RUN, { args: [order], workflowId, taskQueue });
    return workflowId;
}
