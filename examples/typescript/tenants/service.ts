// A web service that gives each tenant a stack of their own: deploy, look, remove, cancel, over HTTP.
//
//     POST   /tenants/NAME    {"size": 3}    deploys; the answer is sent when that has ended
//     GET    /tenants/NAME                   the outputs of the stack
//     DELETE /tenants/NAME                   deletes what was deployed
//     POST   /tenants/NAME/cancel            ends what goes on for the tenant
//
// One tenant's requests wait for each other; of all tenants, LIMIT are worked on at a time. A caller that goes away cancels
// nothing: a deployment is not undone by a closed laptop. SIGTERM ends the service when what goes on has ended in order.
//
// Run it: npx tsc --noEmit false --outDir dist
//         MASTER_KEY=... STATE=/srv/state node --import maloko/register dist/service.js 8080
import { createHmac } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

import * as pulumi from "@pulumi/pulumi";
import { CommandError, ConcurrentUpdateError, LocalWorkspace, type Stack } from "maloko/automation";

/** Stacks that are worked on at a time. */
const LIMIT = 16;
const NAME = /^\/tenants\/([a-z][a-z0-9-]{0,30})(\/cancel)?$/;

interface SeatInputs {
    tenant: string;
    number: number;
}

/** Stands for the API of whatever a tenant gets. One object serves all tenants: it keeps nothing of any. */
class Seats implements pulumi.dynamic.ResourceProvider {
    async create(inputs: SeatInputs): Promise<pulumi.dynamic.CreateResult> {
        return { id: `${inputs.tenant}-${inputs.number}`, outs: inputs };
    }
}

const seats = new Seats();

/** One of a tenant's seats. */
class Seat extends pulumi.dynamic.Resource {
    constructor(name: string, inputs: SeatInputs) {
        super(seats, name, inputs);
    }
}

// What each tenant has. Everything that differs comes from the stack's configuration.
async function program(): Promise<Record<string, unknown>> {
    const size = new pulumi.Config().requireNumber("size");
    const tenant = pulumi.getStack();
    const made = Array.from({ length: size }, (_, number) => new Seat(`seat-${number}`, { tenant, number }));
    return { seats: made.map(({ id }) => id) };
}

const state = process.env.STATE ?? "";
const masterKey = process.env.MASTER_KEY ?? "";
const turns = new Map<string, Promise<unknown>>();
const waiting: (() => void)[] = [];
let atWork = 0;

// Each tenant has a key of their own, and the service keeps one: a tenant's key follows from it.
function stackOf(tenant: string): Promise<Stack> {
    const PULUMI_CONFIG_PASSPHRASE = createHmac("sha256", masterKey).update(tenant).digest("hex");
    const envVars = { PULUMI_BACKEND_URL: `file://${state}`, PULUMI_CONFIG_PASSPHRASE };
    return LocalWorkspace.createOrSelectStack({ stackName: tenant, projectName: "tenants", program }, { envVars });
}

async function withPermit<T>(work: () => Promise<T>): Promise<T> {
    if (atWork >= LIMIT) {
        await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
        atWork++;
    }
    try {
        return await work();
    } finally {
        const next = waiting.shift();
        if (next === undefined) {
            atWork--;
        } else {
            next();
        }
    }
}

function inTurn<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const before = turns.get(tenant) ?? Promise.resolve();
    const turn = before.then(() => withPermit(work));
    const over = turn.catch(() => {});
    turns.set(tenant, over);
    void over.then(() => turns.get(tenant) === over && turns.delete(tenant));
    return turn;
}

type Outputs = Record<string, unknown>;

const plain = (outputs: Record<string, { value: unknown }>): Outputs =>
    Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));

const deploy = (tenant: string, size: number): Promise<Outputs> =>
    inTurn(tenant, async () => {
        const stack = await stackOf(tenant);
        await stack.setConfig("size", { value: String(size) });
        return plain((await stack.up()).outputs);
    });

const remove = (tenant: string): Promise<Outputs> =>
    inTurn(tenant, async () => {
        await (await stackOf(tenant)).destroy();
        return {};
    });

class BadRequest extends Error {}

async function sizeIn(request: IncomingMessage): Promise<number> {
    let text = "";
    for await (const part of request) {
        text += String(part);
    }
    try {
        const { size } = JSON.parse(text) as { size?: unknown };
        if (typeof size === "number" && Number.isInteger(size)) {
            return size;
        }
    } catch {}
    throw new BadRequest('send {"size": NUMBER}');
}

async function answer(request: IncomingMessage): Promise<Outputs> {
    const [, tenant, cancel] = NAME.exec(request.url ?? "") ?? [];
    if (tenant === undefined) {
        throw new BadRequest("there are /tenants/NAME and /tenants/NAME/cancel");
    }
    if (cancel !== undefined) {
        await (await stackOf(tenant)).cancel();
        return {};
    }
    switch (request.method) {
        case "GET":
            return plain(await (await stackOf(tenant)).outputs());
        case "DELETE":
            return remove(tenant);
        default:
            return deploy(tenant, await sizeIn(request));
    }
}

function statusOf(error: unknown): number {
    if (error instanceof BadRequest) {
        return 400;
    }
    return error instanceof ConcurrentUpdateError ? 409 : 500;
}

mkdirSync(state, { recursive: true });
const server = createServer((request, response) => {
    answer(request).then(
        (body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
        (error: unknown) => {
            const text = error instanceof CommandError || error instanceof BadRequest ? error.message : String(error);
            response.writeHead(statusOf(error), { "content-type": "application/json" });
            response.end(JSON.stringify({ error: text }));
        },
    );
});
process.once("SIGTERM", () => {
    server.close();
    server.closeIdleConnections();
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
