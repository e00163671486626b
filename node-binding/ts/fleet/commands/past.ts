// Commands about what runs came to.
import { showLastRun } from "../beside";
import { connect } from "../connection";
import { FleetError } from "../ends";
import type { Run } from "../run";
import type { StackSpec } from "../wire";
import { executions, type Memo, runOf } from "./find";
import { placeOf, type Request } from "./request";
import { print, shown } from "./texts";
import { instant } from "./times";
import { tell } from "./watch";

/** Runs that `history` lists. */
const MOST = 100;

/** `fleet results`: waits for the end of a run, and tells what came of its stacks. */
export async function results(asked: Request): Promise<number> {
    const run = await runOf(asked);
    return tell(await run.result(), asked);
}

/** `fleet history`: the runs that the server keeps. */
export async function history(asked: Request): Promise<number> {
    const { name, engine } = placeOf(asked);
    const client = await connect(engine);
    const rows: object[] = [];
    for await (const { workflowId, memo, status, startTime } of executions(client, name)) {
        const { verb = "", stacks = 0, message = "" } = (memo ?? {}) as Memo;
        const state = status.name.toLowerCase();
        rows.push({ run: workflowId, verb, state, started: instant(startTime), stacks, failed: null, message });
        if (rows.length === MOST) {
            break;
        }
    }
    print(asked.json ? rows : shown("runs", { runs: rows }, asked.columns));
    return 0;
}

/** `fleet logs STACK`: what the run said that worked on the stack last, from the records beside its state. */
export async function logs(asked: Request): Promise<number> {
    const run = await runOf(asked);
    const { plan } = await run.order();
    const stack = stackOf(run, plan.stacks, asked.stack ?? "");
    const { state } = await run.progress();
    const ends = state === "ended" ? (await run.result()).ends : [];
    const end = ends.find((it) => it.stack === stack.id);
    if (end !== undefined) {
        const why = end.reason === "" ? "" : ` (${end.reason})`;
        print(`${end.stack}: ${end.outcome}${why}${end.text === "" ? "" : `: ${end.text}`}`);
    }
    process.stdout.write(await showLastRun(stack, plan));
    return 0;
}

function stackOf({ id: run }: Run, stacks: readonly StackSpec[], wanted: string): StackSpec {
    const [found, ...others] = stacks.filter(({ id, stack }) => wanted === id || wanted === stack);
    if (found === undefined) {
        throw new FleetError(`run ${run} has no stack '${wanted}'`);
    }
    if (others.length > 0) {
        throw new FleetError(`'${wanted}' is several stacks of run ${run}: write PROJECT/STACK`);
    }
    return found;
}
