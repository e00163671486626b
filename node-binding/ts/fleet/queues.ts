// The names of task queues, and of what waits there. Whoever asks for work at a queue gets it, so a queue's name holds all that a worker has to agree with.
// The workflow uses this file, so it reads the version from the package's own JSON, which can be bundled; the addon cannot.

const { version } = require("../../package.json") as { version: string };

/** That of the code which decides what a run does next. */
export const FLOW_LANGUAGE = "nodejs";

/** Is it a queue of this fleet's runs, of whichever language and version? */
export function isFlowQueue(name: string, fleet: string): boolean {
    return name.startsWith(`maloko.${fleet}.flow.`);
}

/** Where the workflows of runs wait: they are replayed by the code that began them, which is of one language and version. */
export function flowQueue(fleet: string, language = FLOW_LANGUAGE): string {
    return `maloko.${fleet}.flow.${language}.${version}`;
}

/** Where stacks wait, for workers that have this code. */
export function stackQueue(fleet: string, queue: string, language: string, code: string): string {
    return `maloko.${fleet}.${queue}.${language}.${code}`;
}

/** What a worker has, as the name says by which it asks for the workflows of runs. The server lists such names. */
export interface WorkerPrograms {
    worker: string;
    code: string;
    queues: string[];
}

/** The name that says so. */
export function nameOfWorker({ worker, code, queues }: WorkerPrograms): string {
    return [worker, code, queues.join(",")].join(" ");
}

/** What such a name says; undefined where it is another one. */
export function programsOfName(name: string): WorkerPrograms | undefined {
    const [, worker = "", code = "", queues = ""] = /^(\S+) (\S+) (.+)$/.exec(name) ?? [];
    return worker === "" ? undefined : { worker, code, queues: queues.split(",") };
}

/** The name under which the server has the work on a stack and on so many others after it. */
export function batchId(first: string, others: number): string {
    return `${first} +${others}`;
}

/** Of which stack the server tells by such a name, and how many others are there after it. */
export function stackOf(activityId: string): { stack: string; others: number } {
    const [name = "", others = 0] = activityId.split(" +");
    // The number of a start that is not the first one.
    const isNumbered = name.split("/").length > 2;
    return { stack: isNumbered ? name.slice(0, name.lastIndexOf("/")) : name, others: Number(others) };
}
