// Runs of the library while nobody answers for them.
import { createRequire } from "node:module";
import { Client, type ConnectionLike, type WorkflowHandle } from "@temporalio/client";
import { FleetError, load } from "maloko/fleet";
import { expect, test } from "vitest";
import { Run } from "../node_modules/maloko/dist/fleet/run.js";

const END = {
    id: "tenant/t0",
    outcome: "done",
    changes: { create: 1 },
    reason: "",
    text: "",
    attempts: 1,
    seconds: 1,
};
const COUNTS = {
    done: 1,
    unchanged: 0,
    running: 0,
    retrying: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    waiting: 0,
};
const RESULT = { fleet: "f", verb: "up", outcome: "done", stopped: "", seconds: 1, counts: COUNTS, ends: [END] };

// What the package makes of a client and a handle, which is no part of its types.
const MadeRun = Run as unknown as new (client: Client, handle: WorkflowHandle) => Run;

/** What the server answers in place of an answer. */
function refusal(code: number, details: string): Error {
    const metadata = { get: () => [] };
    return Object.assign(new Error(`${code}: ${details}`), { code, details, metadata });
}

const AWAY = refusal(14, "connection refused");
const NOBODY = refusal(9, "no poller seen for task queue recently");
const UNKNOWN = refusal(5, "workflow not found");
const OTHER_KEY = refusal(3, "the run is encrypted, and MALOKO_FLEET_KEY is not set");

const besideClient = createRequire(createRequire(import.meta.url).resolve("@temporalio/client"));
const { temporal } = besideClient("@temporalio/proto") as {
    temporal: { api: { workflowservice: { v1: Record<string, { fromObject(members: object): object }> } } };
};

/** What the server knows of a run that has ended. */
function ended(as: "CANCELED" | "COMPLETED") {
    return temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse?.fromObject({
        workflowExecutionInfo: {
            execution: { workflowId: "f-up-1", runId: "1" },
            type: { name: "maloko.FleetRun" },
            status: `WORKFLOW_EXECUTION_STATUS_${as}`,
            historyLength: 1,
            startTime: { seconds: 1 },
            closeTime: { seconds: 3 },
        },
    });
}

function payloadsOf(value: unknown) {
    const data = Buffer.from(JSON.stringify(value));
    return { payloads: [{ metadata: { encoding: Buffer.from("json/plain") }, data }] };
}

/** A run that has one stack, at a server that refuses so before it answers. `asked`: how often it was asked. */
function runAt(...refusals: Error[]): { run: Run; asked: () => number } {
    // One that was cancelled leaves no result: its workers answer.
    return runThat("CANCELED", refusals);
}

function runThat(how: "CANCELED" | "COMPLETED", refusals: Error[]): { run: Run; asked: () => number } {
    let asked = 0;
    const next = <T>(answer: T): Promise<T> => {
        asked += 1;
        const refused = refusals.shift();
        return refused === undefined ? Promise.resolve(answer) : Promise.reject(refused);
    };
    const last = { workflowExecutionCompletedEventAttributes: { result: payloadsOf(RESULT) } };
    const workflowService = {
        queryWorkflow: ({ query }: { query: { queryArgs: { payloads: [{ data: Uint8Array }] } } }) => {
            const since = Number(Buffer.from(query.queryArgs.payloads[0].data).toString());
            return how === "COMPLETED" ? Promise.reject(NOBODY) : next({ queryResult: payloadsOf([END].slice(since)) });
        },
        getWorkflowExecutionHistory: () => next({ history: { events: [last] } }),
        describeWorkflowExecution: () => Promise.resolve(ended(how)),
    };
    const connection = {
        workflowService,
        plugins: [],
        withDeadline: (_: number, ask: () => Promise<unknown>) => ask(),
    } as unknown as ConnectionLike;
    const client = new Client({ connection });
    return { run: new MadeRun(client, client.workflow.getHandle("f-up-1")), asked: () => asked };
}

async function stacksOf(run: Run): Promise<string[]> {
    const stacks: string[] = [];
    for await (const { stack } of run.ends()) {
        stacks.push(stack);
    }
    return stacks;
}

test("ends and the result wait for whoever answers", async () => {
    const [one, other] = [runAt(NOBODY, OTHER_KEY), runAt(AWAY)];

    const [stacks, result] = await Promise.all([stacksOf(one.run), other.run.result()]);

    expect(stacks).toEqual(["tenant/t0"]);
    expect(one.asked()).toBe(5);
    expect(result.outcome).toBe("done");
    expect(other.asked()).toBe(2);
});

test("what a run came to is told without its workers", async () => {
    const { run } = runThat("COMPLETED", []);

    const told = await run.progress();

    expect(await stacksOf(run)).toEqual(["tenant/t0"]);
    expect(told).toMatchObject({ state: "ended", outcome: "done", stacks: 1, counts: { done: 1 } });
    expect(told).toMatchObject({ seconds: 1, began: 2, wave: 1, waves: 1, failuresInAll: 0, atWork: [] });
});

test("a run that is not there is told without the words of others", async () => {
    const asks = [(run: Run) => run.ends().next(), (run: Run) => run.result()];
    for (const ask of asks) {
        const error = await ask(runAt(UNKNOWN).run).catch((it: unknown) => it);
        expect(error).toBeInstanceOf(FleetError);
        expect(String(error)).toContain("the server knows no run 'f-up-1'");
        expect((error as Error).cause).toBeUndefined();
    }
});

// In Node alone: Python refuses an argument that a function does not have.
test("an option that runs do not have is refused", async () => {
    const up = load().up({ stack: "t0" } as object);
    await expect(up).rejects.toThrow("there is no option 'stack': which stacks, and how, say select, stacks");
});
