// What OpenTelemetry gets of a run: one trace from who calls to the spans of provider code.
import { expect, test } from "vitest";
import { type Collector, collector, EXPORTER, type Span } from "../support/collector";
import { type Project, project, succeeded } from "../support/project";

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const CALLER = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
const TRACE_PARENT = `00-${CALLER[0]}-${CALLER[1]}-01`;

const PROGRAM = `${EXPORTER}
import * as pulumi from "@pulumi/pulumi";

const arrived: string[] = [];

class Traced {
    async create(props: any) {
        return tracer.startActiveSpan("own of " + props.name, async (own) => {
            arrived.push(props.name);
            while (arrived.length < 2) {
                await new Promise((resolve) => setTimeout(resolve, 5));
            }
            tracer.startActiveSpan("below own of " + props.name, (below) => below.end());
            own.end();
            return { id: props.name, outs: props };
        });
    }
}

class Plain {
    create(props: any) {
        return tracer.startActiveSpan("own of " + props.name, (own) => {
            tracer.startActiveSpan("below own of " + props.name, (below) => below.end());
            own.end();
            return { id: props.name, outs: props };
        });
    }
}

class Thing extends pulumi.dynamic.Resource {
    constructor(provider: any, name: string) {
        super(provider, name, { name });
    }
}

for (const name of ["a", "b"]) {
    new Thing(new Plain(), name);
}
for (const name of ["c", "d"]) {
    new Thing(new Traced(), name);
}
`;

const NOTHING_SET = Object.fromEntries(
    Object.keys(process.env)
        .filter((name) => /^(OTEL_|TRACE)/.test(name))
        .map((name) => [name, undefined]),
);

function exporting({ address }: Collector, variables: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const to = { OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", COLLECTOR: address };
    return { ...NOTHING_SET, ...to, ...variables };
}

async function ok(trial: Project, environment: NodeJS.ProcessEnv, ...args: string[]): Promise<void> {
    succeeded(`maloko ${args.join(" ")}`, await trial.beside(environment, ...args));
}

/** The spans from that of a resource's own code up to the operation. */
function chain(of: Collector, name: string): Span[] {
    const spans = new Map(of.spans.map((span) => [span.id, span]));
    const links: Span[] = [];
    let link: Span | undefined = of.span(`below own of ${name}`);
    while (link !== undefined) {
        links.push(link);
        link = spans.get(link.parent);
    }
    return links;
}

test("one trace goes from the caller to the spans of provider code", async () => {
    const trial = project({ "index.ts": PROGRAM });
    const seen = await collector();
    const caller = { TRACEPARENT: TRACE_PARENT, TRACESTATE: "vendor=carried" };
    await ok(trial, exporting(seen, { ...caller, OTEL_SERVICE_NAME: "deploys" }), ...UP);
    const operation = seen.span("maloko up");
    expect([operation.trace, operation.parent]).toEqual(CALLER);
    expect(operation.service).toBe("deploys");
    expect(operation.attributes).toMatchObject({
        "maloko.project": "test",
        "maloko.stack": "dev",
        "maloko.kind": "update",
        "maloko.outcome": "succeeded",
        "maloko.changes.create": 5,
    });
    // Each has its own above it, although the calls of both kinds are made side by side.
    for (const name of ["a", "b", "c", "d"]) {
        const [below, own, call, step, top, ...more] = chain(seen, name);
        expect([below?.name, own?.name]).toEqual([`below own of ${name}`, `own of ${name}`]);
        expect(call?.name).toBe("call create");
        expect(call?.attributes).toMatchObject({
            "maloko.urn": expect.stringMatching(`::${name}$`),
            "maloko.method": "create",
            "maloko.attempt": 1,
            "maloko.outcome": "done",
        });
        expect(step?.attributes).toMatchObject({
            "maloko.op": "create",
            "maloko.urn": call?.attributes["maloko.urn"],
            "maloko.outcome": "done",
        });
        expect(top).toEqual(operation);
        expect(more).toEqual([]);
    }
    const carried = seen.spans.map(({ trace, state }) => `${trace} ${state}`);
    expect(new Set(carried)).toEqual(new Set([`${CALLER[0]} vendor=carried`]));
    expect(seen.span("wait for the lock").parent).toBe(operation.id);
    const ids = new Set(seen.spans.map(({ id }) => id));
    const journal = seen.spans.filter(({ name }) => name === "wait for the journal");
    expect(journal).not.toEqual([]);
    expect(journal.filter(({ parent }) => !ids.has(parent))).toEqual([]);
});
