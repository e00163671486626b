// Commands about what runs came to.
import { operationsOf, showOperation } from "../beside";
import { connect } from "../connection";
import { type End, FleetError } from "../ends";
import type { StackSpec } from "../wire";
import { type Memo, newestRuns, runOf } from "./find";
import { fleetOf, placeOf, type Request } from "./request";
import { print, shortUrns, shown } from "./texts";
import { instant } from "./times";
import { tell } from "./watch";

/** `fleet results`: waits for the end of a run, and tells what came of its stacks. */
export async function results(asked: Request): Promise<number> {
    const run = await runOf(asked);
    return tell(await run.result(), asked);
}

/** `fleet history`: the runs that the server keeps; or what they did with a stack. */
export async function history(asked: Request): Promise<number> {
    if (asked.stack !== undefined) {
        return historyOfStack(asked, asked.stack);
    }
    const { name, engine } = placeOf(asked);
    const client = await connect(engine);
    const rows: object[] = [];
    for (const { workflowId, memo, status, startTime } of await newestRuns(client, name)) {
        const known = (memo ?? {}) as Memo;
        const { verb = "", stacks = 0, message = "", failed = null } = known;
        const state = stateOf(status.name, known);
        rows.push({ run: workflowId, verb, state, started: instant(startTime), stacks, failed, message });
    }
    print(asked.json ? rows : shown("runs", { runs: rows }, asked.columns));
    return 0;
}

/** `fleet logs STACK`: what the run said that worked on the stack last, from the records beside its state. */
export async function logs(asked: Request): Promise<number> {
    const run = await runOf(asked);
    const { plan } = await run.order();
    const stack = stackOf(plan.stacks, asked.stack ?? "", `run ${run.id}`);
    const { state } = await run.progress();
    const ends = state === "ended" ? (await run.result()).ends : [];
    const end = ends.find((it) => it.stack === stack.id);
    if (end !== undefined) {
        const why = end.reason === "" ? "" : ` (${end.reason})`;
        print(`${end.stack}: ${end.outcome}${why}${end.text === "" ? "" : `: ${shortUrns(end.text)}`}`);
    }
    print(withPlaceOf(end, await showOperation(stack, plan, run.id)));
    return 0;
}

// The engine keeps an error of a program without its line, which the end has.
function withPlaceOf(end: End | undefined, shownOperation: string): string {
    const [, bare] = /^(.+) \(\S+:\d+\)$/.exec(end?.text ?? "") ?? [];
    const isKept = (line: string): boolean => bare !== undefined && line === `Error: ${bare}`;
    const lines = shownOperation.split("\n");
    return lines.map((line) => (isKept(line) ? `Error: ${end?.text}` : line)).join("\n");
}

function stateOf(status: string, { outcome, paused }: Memo): string {
    const goesOn = status === "RUNNING" && paused === true ? "paused" : status.toLowerCase();
    return status === "COMPLETED" ? (outcome ?? goesOn) : goesOn;
}

async function historyOfStack(asked: Request, name: string): Promise<number> {
    const plan = fleetOf(asked).plan("up");
    const stack = stackOf(plan.stacks, name, `fleet ${plan.fleet}`);
    const operations = await operationsOf(stack, plan);
    print(asked.json ? operations : shown("past", { stack: stack.id, operations }, asked.columns));
    return 0;
}

function stackOf(stacks: readonly StackSpec[], wanted: string, whose: string): StackSpec {
    const [found, ...others] = stacks.filter(({ id, stack }) => wanted === id || wanted === stack);
    if (found === undefined) {
        throw new FleetError(`${whose} has no stack '${wanted}'`);
    }
    if (others.length > 0) {
        throw new FleetError(`'${wanted}' is several stacks of ${whose}: write PROJECT/STACK`);
    }
    return found;
}
