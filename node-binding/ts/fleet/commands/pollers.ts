// Does anybody ask for the work of a run?
import type { Client } from "@temporalio/client";
import { FLOW_LANGUAGE, flowQueue, programsOfName, stackQueue } from "../queues";
import type { Run } from "../run";
import type { Plan } from "../wire";

/** How the server calls the two kinds of work. */
const WORKFLOWS = 1;
const ACTIVITIES = 2;

/** Seconds. A worker asks each minute; the server lists dead ones for longer. */
const ASKS_AGAIN_WITHIN = 90;

/** What to tell of the queues of a run at which no worker asks. */
export async function missingWorkers({ client }: Run, plan: Plan): Promise<string[]> {
    const messages: string[] = [];
    const flow = flowQueue(plan.fleet);
    if ((await pollersOf(client, flow, WORKFLOWS)).length === 0) {
        messages.push(
            `no worker serves the runs of this fleet (${flow}): start one with \`maloko fleet worker\`, of ` +
                `${FLOW_LANGUAGE} and this version`,
        );
    }
    return [...messages, ...(await missingPrograms(client, plan))];
}

/** The same of the queues of its stacks. */
export async function missingPrograms(client: Client, { fleet, stacks, code: codes }: Plan): Promise<string[]> {
    const messages: string[] = [];
    const places = new Map(stacks.map(({ queue, language }) => [`${queue} ${language}`, { queue, language }]));
    for (const [, { queue, language }] of [...places].sort(([left], [right]) => (left < right ? -1 : 1))) {
        const code = codes[language] ?? "";
        if ((await pollersOf(client, stackQueue(fleet, queue, language, code), ACTIVITIES)).length > 0) {
            continue;
        }
        const missing = `no worker for ${language} at the queue '${queue}' has these programs (code ${code})`;
        const names = await pollersOf(client, flowQueue(fleet, language), WORKFLOWS);
        const others = names.flatMap((name) => programsOfName(name) ?? []);
        const other = others.find((it) => it.queues.includes(queue) && it.code !== code);
        messages.push(
            other === undefined
                ? `${missing}: the stacks wait for \`maloko fleet worker --queue ${queue}\` where the programs are as here`
                : `${missing}, and ${other.worker} is there with other programs (code ${other.code}): restart it where ` +
                      "the programs are as here.\nWhat a run writes beside its program counts, too, and the directory where the backend is " +
                      "below it (`maloko help fleet-file`)",
        );
    }
    return messages;
}

// The names of the workers that ask there, the one first that asked last.
async function pollersOf(client: Client, name: string, taskQueueType: number): Promise<string[]> {
    const { namespace } = client.options;
    const asked = { namespace, taskQueue: { name }, taskQueueType };
    const { pollers } = await client.workflowService.describeTaskQueue(asked);
    const since = Date.now() / 1000 - ASKS_AGAIN_WITHIN;
    return (pollers ?? [])
        .map(({ identity, lastAccessTime }) => ({ name: identity ?? "", time: Number(lastAccessTime?.seconds ?? 0) }))
        .filter(({ time }) => time > since)
        .sort((left, right) => right.time - left.time)
        .map(({ name }) => name);
}
