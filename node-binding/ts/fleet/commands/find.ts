// The run that a command is about: the one that is named, or the last one of the fleet.
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { connect, ofRecords } from "../connection";
import { FleetError } from "../ends";
import { isFlowQueue } from "../queues";
import { attachBy, type Run } from "../run";
import { RUN } from "../wire";
import { placeOf, type Request } from "./request";

const MAX_RUNS = 100;

/** Runs that change stacks. */
export const CHANGES = ["up", "refresh", "destroy", "import"];

/**
 * The run of a command. Where it names none, that is the newest one of these verbs; of all when there are none. Throws a `FleetError`
 * when there is none.
 */
export async function runOf(asked: Request, verbs: readonly string[] = []): Promise<Run> {
    const { name, engine } = placeOf(asked);
    const client = await connect(engine);
    const isMeant = (run: KeptRun): boolean => verbs.length === 0 || verbs.includes(verbOfKept(run, name));
    const wanted = asked.run ?? (await newestRuns(client, name)).find(isMeant)?.execution.workflowId;
    if (wanted !== undefined) {
        return attachBy(client, wanted);
    }
    throw new FleetError(`the server keeps no run of the fleet '${name}': begin one with \`maloko fleet up\``);
}

/** What a run's record at the server says of it. */
export interface Memo {
    verb?: string;
    stacks?: number;
    message?: string;
    /** How many stacks failed; of runs that have ended. */
    failed?: number;
    /** `done`, `failed` or `cancelled`; of runs that have ended. */
    outcome?: string;
    paused?: boolean;
}

/** A run that the server keeps. `memo`: what its record says of it; undefined where that is encrypted with another key. */
export interface KeptRun {
    execution: WorkflowExecutionInfo;
    memo: Memo | undefined;
}

/** The verb of a run, which its name has, too: `FLEET-VERB-HASH`. */
export function verbOfKept({ execution: { workflowId }, memo }: KeptRun, fleet: string): string {
    return memo === undefined ? (workflowId.slice(fleet.length + 1).split("-", 1)[0] ?? "") : (memo.verb ?? "");
}

/** `running`, `paused`, or how a run ended. */
export function stateOf({ execution: { status }, memo }: KeptRun): string {
    if (status.name === "COMPLETED") {
        return memo?.outcome ?? "completed";
    }
    if (status.name === "RUNNING" && memo?.paused === true) {
        return "paused";
    }
    return status.name === "CANCELLED" ? "cancelled" : status.name.toLowerCase();
}

/**
 * The last runs of a fleet that the server keeps, at most 100, the one first that was begun last. `underWay`: whether those that have
 * ended are left out.
 */
export async function newestRuns(client: Client, fleet: string, underWay = false): Promise<KeptRun[]> {
    const found: KeptRun[] = [];
    for await (const run of keptRuns(client, fleet, underWay ? " AND ExecutionStatus = 'Running'" : "")) {
        found.push(run);
        if (found.length === MAX_RUNS) {
            break;
        }
    }
    // The server lists those first that go on, and then by their ends.
    const began = ({ execution }: KeptRun): number => execution.startTime.getTime();
    return found.sort((left, right) => began(right) - began(left));
}

// The runs of a fleet that the server keeps; those that went on with a new history count once.
async function* keptRuns(client: Client, fleet: string, more: string): AsyncGenerator<KeptRun> {
    const query = `WorkflowType = '${RUN}' AND WorkflowId STARTS_WITH '${fleet}-'${more}`;
    for await (const execution of ofRecords(client).workflow.list({ query })) {
        if (isFlowQueue(execution.taskQueue, fleet) && execution.status.name !== "CONTINUED_AS_NEW") {
            const memo = execution.memo ?? {};
            yield { execution, memo: memo.fleet === null ? undefined : (memo as Memo) };
        }
    }
}
