// The run that a command is about: the one that is named, or the last one of the fleet.
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { connect } from "../connection";
import { FleetError } from "../ends";
import { attachBy, type Run } from "../run";
import { RUN } from "../wire";
import { placeOf, type Request } from "./request";

const MAX_RUNS = 100;

/** The run of a command. Throws a `FleetError` when there is none. */
export async function runOf(asked: Request): Promise<Run> {
    const { name, engine } = placeOf(asked);
    const client = await connect(engine);
    const wanted = asked.run ?? (await newestRuns(client, name))[0]?.workflowId;
    if (wanted !== undefined) {
        return attachBy(client, wanted);
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
    /** `done`, `failed` or `cancelled`; of runs that have ended. */
    outcome?: string;
    paused?: boolean;
}

/** The last runs of a fleet that the server keeps, at most 100, the one first that was begun last. */
export async function newestRuns(client: Client, fleet: string): Promise<WorkflowExecutionInfo[]> {
    const found: WorkflowExecutionInfo[] = [];
    for await (const execution of executions(client, fleet)) {
        found.push(execution);
        if (found.length === MAX_RUNS) {
            break;
        }
    }
    // The server lists those first that go on, and then by their ends.
    return found.sort((left, right) => right.startTime.getTime() - left.startTime.getTime());
}

// The runs of a fleet that the server keeps; those that went on with a new history count once.
async function* executions(client: Client, fleet: string): AsyncGenerator<WorkflowExecutionInfo> {
    const query = `WorkflowType = '${RUN}' AND WorkflowId STARTS_WITH '${fleet}-'`;
    for await (const execution of client.workflow.list({ query })) {
        const memo = (execution.memo ?? {}) as Memo;
        if (memo.fleet === fleet && execution.status.name !== "CONTINUED_AS_NEW") {
            yield execution;
        }
    }
}
