// The run that a command is about: the one that is named, or the last one of the fleet.
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { connect } from "../connection";
import { FleetError } from "../ends";
import { attachBy, type Run } from "../run";
import { RUN } from "../wire";
import { placeOf, type Request } from "./request";

/** The run of a command. Throws a `FleetError` when there is none. */
export async function runOf(asked: Request): Promise<Run> {
    const { name, engine } = placeOf(asked);
    const client = await connect(engine);
    if (asked.run !== undefined) {
        return attachBy(client, asked.run);
    }
    for await (const { workflowId } of executions(client, name)) {
        return attachBy(client, workflowId);
    }
    throw new FleetError(`the server keeps no run of the fleet '${name}': begin one with \`maloko fleet up\``);
}

/** What a run's record at the server says of it. */
export interface Memo {
    fleet?: string;
    verb?: string;
    stacks?: number;
    message?: string;
    /** How many stacks failed; of runs that have ended. */
    failed?: number;
}

/** The runs of a fleet that the server keeps, the newest first; those that went on with a new history count once. */
export async function* executions(client: Client, fleet: string): AsyncGenerator<WorkflowExecutionInfo> {
    const query = `WorkflowType = '${RUN}' AND WorkflowId STARTS_WITH '${fleet}-'`;
    for await (const execution of client.workflow.list({ query })) {
        const memo = (execution.memo ?? {}) as Memo;
        if (memo.fleet === fleet && execution.status.name !== "CONTINUED_AS_NEW") {
            yield execution;
        }
    }
}
