// Commands about what runs came to.
import { operationsOf, showOperation } from "../beside";
import { connect } from "../connection";
import { FleetError, NoAnswerError } from "../ends";
import type { Run } from "../run";
import type { Plan, StackSpec } from "../wire";
import { newestRuns, runOf, stateOf, verbOfKept } from "./find";
import { waitedFor } from "./interrupts";
import { fleetOf, placeOf, type Request } from "./request";
import { print, progressDocument, say, shown } from "./texts";
import { instant } from "./times";
import { tell } from "./watch";

/** What the list says of a run that this process cannot read. */
const UNREADABLE = "encrypted with another key than MALOKO_FLEET_KEY";

/** `fleet results`: waits for the end of a run, and tells what came of its stacks. */
export async function results(asked: Request): Promise<number> {
    const run = await runOf(asked);
    if (!(await run.hasEnded())) {
        await sayThatItWaits(run, asked);
    }
    return tell(await run.result(), asked);
}

async function sayThatItWaits(run: Run, { columns }: Request): Promise<void> {
    say(`run ${run.id} has not ended: waiting for its end. Ctrl-C leaves it; the run goes on`);
    try {
        const text = shown("progress", progressDocument(await waitedFor(run.progress())), columns);
        say(text.split("\n", 1)[0] ?? "");
    } catch (error) {
        if (!(error instanceof NoAnswerError)) {
            throw error;
        }
        say(`warning: ${error.message}`);
    }
}

/** `fleet history`: the runs that the server keeps; or what they did with a stack. */
export async function history(asked: Request): Promise<number> {
    if (asked.stack !== undefined) {
        return historyOfStack(asked, asked.stack);
    }
    const { name, engine } = placeOf(asked);
    const client = await connect(engine);
    const rows: object[] = [];
    const names = new Set<string>();
    for (const run of await newestRuns(client, name)) {
        const { workflowId, runId, startTime } = run.execution;
        const { stacks = 0, message = "", failed = null } = run.memo ?? { stacks: null, message: UNREADABLE };
        rows.push({
            // The name alone is the newest run of that name.
            run: names.has(workflowId) ? `${workflowId}/${runId}` : workflowId,
            verb: verbOfKept(run, name),
            state: stateOf(run),
            started: instant(startTime),
            stacks,
            failed,
            message,
            readable: run.memo !== undefined,
        });
        names.add(workflowId);
    }
    print(asked.json ? rows : shown("runs", { runs: rows }, asked.columns));
    return 0;
}

/** `fleet logs STACK`: what the last operation of a run on a stack did, from the records beside its state. No server is asked. */
export async function logs(asked: Request): Promise<number> {
    const [plan, stack] = stackOf(asked, asked.stack ?? "");
    print(await showOperation(stack, plan, asked.run));
    return 0;
}

async function historyOfStack(asked: Request, name: string): Promise<number> {
    const [plan, stack] = stackOf(asked, name);
    const operations = await operationsOf(stack, plan);
    print(asked.json ? operations : shown("past", { stack: stack.id, operations }, asked.columns));
    return 0;
}

// The stack that the command names, as the fleet's file has it.
function stackOf(asked: Request, wanted: string): [plan: Plan, stack: StackSpec] {
    const plan = fleetOf(asked).plan("up", { stacks: [wanted] });
    const [found, ...others] = plan.stacks.filter(({ id, stack }) => wanted === id || wanted === stack);
    if (found === undefined) {
        throw new FleetError(`fleet ${plan.fleet} has no stack '${wanted}'`);
    }
    if (others.length > 0) {
        throw new FleetError(`'${wanted}' is several stacks of fleet ${plan.fleet}: write PROJECT/STACK`);
    }
    return [plan, found];
}
