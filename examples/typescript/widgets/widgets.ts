// Widgets of a REST service as resources, through fetch.
import * as pulumi from "@pulumi/pulumi";
import { currentCall } from "maloko";

const TIMEOUT_MS = 30_000;

/** What the provider's methods are given, resolved. */
interface Inputs {
    title: string;
    size: string;
}

interface Outputs extends Inputs {
    revision: number;
}

/** A widget as the service speaks of it. */
interface WireWidget {
    id: string;
    name: string;
    size: string;
    revision: number;
}

// Talks to the service at WIDGETS_URL with the token of WIDGETS_TOKEN, both read anew for every call: so the token is
// never in the state or the configuration, and a destroy uses today's.
const widgetProvider: pulumi.dynamic.ResourceProvider<Inputs, Outputs> = {
    async diff(_id, olds, news) {
        return { changes: olds.title !== news.title || olds.size !== news.size };
    },

    async create(inputs) {
        // The service makes one widget per key, however often it is asked. The operation key stays the same until this
        // very create is known to have succeeded: it makes one widget even if its process dies before it hears of it.
        const headers = { "Idempotency-Key": currentCall().operationKey };
        const response = await call("POST", "/widgets", bodyOf(inputs), headers);
        const widget = (await response.json()) as WireWidget;
        return { id: widget.id, outs: outputsOf(widget) };
    },

    // By its id alone, which is all that a `get` or an import has. It says what the inputs would be too: an import
    // compares them with the program's.
    async read(id): Promise<pulumi.dynamic.ReadResult> {
        const response = await call("GET", `/widgets/${id}`);
        if (response.status === 404) return { id: "" };
        const props = outputsOf((await response.json()) as WireWidget);
        return { id, props, inputs: { title: props.title, size: props.size } };
    },

    async update(id, _olds, news) {
        const response = await call("PUT", `/widgets/${id}`, bodyOf(news));
        if (response.status === 404) throw new Error(`there is no widget ${id}; maloko refresh forgets it`);
        return { outs: outputsOf((await response.json()) as WireWidget) };
    },

    async delete(id) {
        await call("DELETE", `/widgets/${id}`);
    },
};

/** One request; an answer other than success or "not there" throws with the service's own words. */
async function call(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Response> {
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

function bodyOf({ title, size }: Inputs): object {
    return { name: title, size };
}

function outputsOf({ name, size, revision }: WireWidget): Outputs {
    return { title: name, size, revision };
}

export interface WidgetArgs {
    title: pulumi.Input<string>;
    /** small, medium or large */
    size: pulumi.Input<string>;
}

/** A widget; `revision` counts its edits. */
export class Widget extends pulumi.dynamic.Resource {
    declare readonly title: pulumi.Output<string>;
    declare readonly size: pulumi.Output<string>;
    declare readonly revision: pulumi.Output<number>;

    constructor(name: string, args: WidgetArgs, opts?: pulumi.CustomResourceOptions) {
        super(widgetProvider, name, { revision: undefined, ...args }, opts, undefined, "Widget");
    }

    /** A widget that somebody else looks after: it is read, and never changed or deleted. */
    static get(name: string, id: pulumi.Input<pulumi.ID>): Widget {
        return new Widget(name, { title: undefined, size: undefined } as unknown as WidgetArgs, { id });
    }
}
