// `fleet page`: a file that shows a run in a browser.
import * as fs from "node:fs";
import { loadAddon } from "../../native";
import { toJsonText } from "../../originals";
import { FleetError } from "../ends";
import { runOf } from "./find";
import type { Request } from "./request";
import { print, progressDocument, rowOf, say } from "./texts";

/** Writes the page of a run as it is now. */
export async function page(asked: Request): Promise<number> {
    const run = await runOf(asked);
    const { plan } = await run.order();
    const progress = await run.progress();
    const ends = await run.allEnds();
    const document = {
        ...progressDocument(progress),
        fleet: plan.fleet,
        outcome: progress.outcome ?? null,
        began: progress.began,
        stacks: plan.stacks.map(({ id, labels, needs, wave, queue }) => ({ id, labels, needs, wave, queue })),
        ends: ends.map((end) => end.wire()),
        atWork: progress.atWork.map((stack) => ({
            ...rowOf(stack),
            retrying: !stack.isRunning && stack.attempt > 1,
        })),
    };
    const text = loadAddon().fleetPage(toJsonText(document));
    if (asked.output === "-") {
        print(text);
        return 0;
    }
    const file = asked.output ?? `${run.id.replace("/", "-")}.html`;
    try {
        await fs.promises.writeFile(file, text);
    } catch (error) {
        const why = (error as NodeJS.ErrnoException).code ?? String(error);
        throw new FleetError(`${file} cannot be written: ${why}; name another file with --output`, { cause: error });
    }
    say(`wrote ${file}`);
    return 0;
}
