// Does anybody ask for the work of a run?
import type { Client } from "@temporalio/client";
import { FLOW_LANGUAGE, flowQueue, stackQueue } from "../queues";
import type { Run } from "../run";
import type { Plan } from "../wire";

/** How the server calls the two kinds of work. */
const WORKFLOWS = 1;
const ACTIVITIES = 2;

/** Seconds. A worker asks each minute; the server lists dead ones for longer. */
const ASKS_AGAIN_WITHIN = 90;

/** What to tell of the queues of a run at which no worker asks. */
export async function missingWorkers({ client }: Run, { fleet, stacks, code: codes }: Plan): Promise<string[]> {
    const messages: string[] = [];
    const flow = flowQueue(fleet);
    if (!(await isPolled(client, flow, WORKFLOWS))) {
        messages.push(
            `no worker serves the runs of this fleet (${flow}): start one with \`maloko fleet worker\`, of ` +
                `${FLOW_LANGUAGE} and this version`,
        );
    }
    const places = new Map(stacks.map(({ queue, language }) => [`${queue} ${language}`, { queue, language }]));
    for (const [, { queue, language }] of [...places].sort(([left], [right]) => (left < right ? -1 : 1))) {
        const code = codes[language] ?? "";
        if (!(await isPolled(client, stackQueue(fleet, queue, language, code), ACTIVITIES))) {
            messages.push(
                `no worker for ${language} at the queue '${queue}' has these programs (code ${code}): the stacks wait ` +
                    `for \`maloko fleet worker --queue ${queue}\` where the programs are as here`,
            );
        }
    }
    return messages;
}

async function isPolled(client: Client, name: string, taskQueueType: number): Promise<boolean> {
    const { namespace } = client.options;
    const asked = { namespace, taskQueue: { name }, taskQueueType };
    const { pollers } = await client.workflowService.describeTaskQueue(asked);
    const since = Date.now() / 1000 - ASKS_AGAIN_WITHIN;
    return (pollers ?? []).some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > since);
}
