// The programs of the fleet: a region's room, and a tenant's widgets in it.
import * as pulumi from "@pulumi/pulumi";
import { currentCall, TryLater } from "maloko";

const TIMEOUT_MS = 30_000;

/** What the provider's methods are given, resolved. */
interface Inputs {
    name: string;
    size: string;
}

/** A widget as the service speaks of it. */
interface WireWidget extends Inputs {
    id: string;
}

// Talks to the service at WIDGETS_URL with the token of WIDGETS_TOKEN, which are the worker's.
const widgetProvider: pulumi.dynamic.ResourceProvider<Inputs, Inputs> = {
    // By what was read last: so a drift is found, and after a `refresh` an `up` puts it right.
    async diff(_id, olds, news) {
        return { changes: olds.name !== news.name || olds.size !== news.size };
    },

    async create(inputs) {
        // However often this create is begun, on whatever machine: the key stays, so there is one widget.
        const headers = { "Idempotency-Key": currentCall().operationKey };
        const response = await call("POST", "/widgets", inputs, headers);
        const { id } = (await response.json()) as WireWidget;
        return { id, outs: inputs };
    },

    async read(id): Promise<pulumi.dynamic.ReadResult<Inputs>> {
        const response = await call("GET", `/widgets/${id}`);
        if (response.status === 404) return {};
        const { name, size } = (await response.json()) as WireWidget;
        return { id, props: { name, size } };
    },

    async update(id, _olds, news) {
        const response = await call("PUT", `/widgets/${id}`, news);
        if (response.status === 404) throw new Error(`there is no widget ${id}; maloko fleet refresh forgets it`);
        return { outs: news };
    },

    async delete(id) {
        await call("DELETE", `/widgets/${id}`);
    },
};

/** One request; an answer other than success or "not there" throws. To a busy service the fleet comes back when it says. */
async function call(method: string, path: string, body?: Inputs, headers?: Record<string, string>): Promise<Response> {
    const response = await fetch(setting("WIDGETS_URL") + path, {
        method,
        headers: {
            authorization: `Bearer ${setting("WIDGETS_TOKEN")}`,
            "content-type": "application/json",
            ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 429) {
        throw new TryLater(response.headers.get("retry-after") ?? 5, "the widget service is busy");
    }
    if (!response.ok && response.status !== 404) {
        throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    }
    return response;
}

function setting(name: string): string {
    const value = process.env[name];
    if (!value) throw new Error(`the environment variable ${name} is not set`);
    return value;
}

/** A widget. */
class Widget extends pulumi.dynamic.Resource {
    constructor(name: string, title: pulumi.Input<string>, size: string) {
        super(widgetProvider, name, { name: title, size }, undefined, undefined, "Widget");
    }
}

/** What the tenants of a region share. */
export function region() {
    const room = `room of ${pulumi.getStack()}`;
    new Widget("room", room, "large");
    return { room };
}

/** A tenant's widgets, in the room of its region. */
export function tenant() {
    const config = new pulumi.Config();
    const room = new pulumi.StackReference(`organization/region/${config.require("region")}`).requireOutput("room");
    for (let number = 0; number < config.requireNumber("widgets"); number++) {
        const title = pulumi.interpolate`${pulumi.getStack()} ${number} in ${room}`;
        new Widget(`widget-${number}`, title, config.require("size"));
    }
    return { room };
}
