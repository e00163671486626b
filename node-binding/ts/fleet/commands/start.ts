// Commands that begin a run.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { withReferences } from "../beside";
import type { Verb } from "../deploy";
import { ConfigurationError, FleetError } from "../ends";
import { type Run, start } from "../run";
import { type Plan, type RunOptions, verbOf } from "../wire";
import { CHANGES, newestRuns, runOf } from "./find";
import { Interrupt, waitedFor } from "./interrupts";
import { withWorkers } from "./kept-workers";
import { missingWorkers } from "./pollers";
import { fleetOf, type Request } from "./request";
import { print, say, stacksInWords } from "./texts";
import { follow, sayItGoesOn, tell } from "./watch";

/** The exit code where somebody has said no, as of `maloko up`. */
const CANCELLED = 8;

/** `fleet up`, `preview`, `refresh`, `destroy`, `drift`, `import` and `outputs`. */
export async function run(asked: Request): Promise<number> {
    const { command, select = [], stacks = [], atATime, stopAfter } = asked;
    const plan = fleetOf(asked).plan((command === "drift" ? "refresh" : command) as Verb, {
        select,
        stacks,
        ...(atATime === undefined ? {} : { atATime }),
        ...(stopAfter === undefined ? {} : { stopAfter }),
    });
    const options: RunOptions = {
        previewOnly: command === "drift",
        outputs: asked.outputs === true || command === "outputs",
        message: asked.message ?? "",
        importFile: asked.importFile ?? "",
    };
    return begin(await withReferences(plan), options, asked);
}

/** `fleet retry`: a run of what failed, was skipped or was cancelled in another one, as the files are now. */
export async function again(asked: Request): Promise<number> {
    const before = await runOf(asked, CHANGES);
    const { ends } = await before.result();
    const { plan: old, options } = await before.order();
    const names = new Set(ends.filter((end) => !end.succeeded).map(({ stack }) => stack));
    if (names.size === 0) {
        throw new FleetError(`run ${before.id} has nothing left: all its stacks succeeded`);
    }
    const { atATime } = old.limits;
    const verb = old.verb as Verb;
    const asBefore = atATime === null ? {} : { atATime };
    const fleet = fleetOf(asked);
    const there = fleet.plan(verb, asBefore).stacks.flatMap(({ id }) => (names.has(id) ? [id] : []));
    const gone = names.size - there.length;
    if (gone > 0) {
        say(`${gone} of the ${names.size} stacks that are left of run ${before.id} are no longer in the fleet's file`);
    }
    if (there.length === 0) {
        return 0;
    }
    const plan = fleet.plan(verb, { ...asBefore, stacks: there });
    return begin(await withReferences(plan), options, asked);
}

async function begin(plan: Plan, options: RunOptions, asked: Request): Promise<number> {
    const verb = verbOf(plan, options);
    for (const warning of plan.warnings ?? []) {
        say(`warning: ${warning}`);
    }
    if (CHANGES.includes(plan.verb) && !options.previewOnly && !(await isConfirmed(verb, plan, asked))) {
        say("not confirmed; nothing was begun");
        return CANCELLED;
    }
    const begun = await start(plan, options);
    say(`run ${begun.id}: ${verb} of ${stacksInWords(plan)}`);
    for (const other of await waitedFor(othersUnderWay(begun, plan.fleet))) {
        say(`run ${other} goes on, too: a stack that both work on waits until the other run has ended with it`);
    }
    return withWorkers(asked, plan, async (look) => {
        if (asked.detach) {
            if (asked.json) {
                print({ run: begun.id });
            }
            say(`\`maloko fleet watch ${begun.id}\` shows it, \`maloko fleet cancel ${begun.id}\` ends it`);
            return 0;
        }
        if (!asked.workers) {
            for (const message of await waitedFor(missingWorkers(begun, plan))) {
                say(`warning: ${message}`);
            }
        }
        return toTheEnd(begun, asked, look);
    });
}

// The names of other runs of the fleet that have not ended.
async function othersUnderWay({ id, client }: Run, fleet: string): Promise<string[]> {
    const underWay = await newestRuns(client, fleet, true);
    return underWay.map(({ execution }) => execution.workflowId).filter((other) => other !== id);
}

async function toTheEnd(begun: Run, asked: Request, look: () => void): Promise<number> {
    try {
        return tell(await follow(begun, asked, look), asked);
    } catch (error) {
        if (!(error instanceof Interrupt)) {
            throw error;
        }
    }
    if (!(await isToBeCancelled(asked))) {
        sayItGoesOn(begun);
        return 0;
    }
    say("\ncancelling: what is in flight ends in order");
    await waitedFor(begun.cancel());
    return tell(await follow(begun, asked, look), asked);
}

async function isConfirmed(verb: string, plan: Plan, asked: Request): Promise<boolean> {
    if (asked.yes) {
        return true;
    }
    if (!asked.interactive) {
        throw new ConfigurationError(
            `\`maloko fleet ${asked.command}\` asks before it changes ${stacksInWords(plan)}: add --yes`,
        );
    }
    return answer(`${verb} ${stacksInWords(plan)} of ${plan.fleet}?`);
}

async function isToBeCancelled({ cancelOnInterrupt, workers, interactive }: Request): Promise<boolean> {
    // Without the workers that this command has started nothing would go on.
    if (cancelOnInterrupt || workers) {
        return true;
    }
    return interactive === true && answer("\ncancel the run? Otherwise it goes on without this command");
}

async function answer(question: string): Promise<boolean> {
    process.stderr.write(`${question} [y/N] `);
    // The terminal stays as it is: Ctrl-C is a signal, as everywhere.
    const lines = createInterface({ input: process.stdin, terminal: false });
    const given = Promise.race([once(lines, "line"), once(lines, "close").then(() => [""])]);
    try {
        const [line] = (await waitedFor(given)) as [string];
        return ["y", "yes"].includes(line.trim().toLowerCase());
    } finally {
        lines.close();
    }
}
