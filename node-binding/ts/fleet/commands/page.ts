// `fleet page`: a file that shows a run in a browser.
import * as fs from "node:fs";
import { loadAddon } from "../../native";
import { toJsonText } from "../../originals";
import { runOf } from "./find";
import type { Request } from "./request";
import { progressDocument, say } from "./texts";

/** Writes the page of a run as it is now. */
export async function page(asked: Request): Promise<number> {
    const run = await runOf(asked);
    const { plan } = await run.order();
    const progress = await run.progress();
    const ends = await run.allEnds();
    const { stacks: atWork, ...shown } = progressDocument(progress);
    const document = {
        ...shown,
        fleet: plan.fleet,
        outcome: progress.outcome ?? null,
        began: progress.began,
        stacks: plan.stacks.map(({ id, labels, needs, wave, queue }) => ({ id, labels, needs, wave, queue })),
        ends: ends.map((end) => end.wire()),
        atWork,
    };
    const file = asked.output ?? `${run.id}.html`;
    await fs.promises.writeFile(file, loadAddon().fleetPage(toJsonText(document)));
    say(`wrote ${file}`);
    return 0;
}
