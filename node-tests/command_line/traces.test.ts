// What OpenTelemetry gets of a run: one trace from who calls to the spans of provider code, and metrics.
import { expect, test } from "vitest";
import { type Collector, collector, EXPORTER, type Span } from "../support/collector";
import { grpcCollector } from "../support/grpc_collector";
import { type Project, project, succeeded } from "../support/project";

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const CALLER = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
const TRACE_PARENT = `00-${CALLER[0]}-${CALLER[1]}-01`;
const GRPC = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };

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

const FAILING = `
import * as pulumi from "@pulumi/pulumi";

class Failing {
    async create(props: any) {
        throw new Error("the password " + props.password + " is wrong");
    }
}

new pulumi.dynamic.Resource(new Failing() as any, "a", { password: pulumi.secret("hunter2-hunter2") });
`;

const ECHO = `
import * as pulumi from "@pulumi/pulumi";

class Echo {
    async create(props: any) {
        return { id: "made", outs: props };
    }
}

new pulumi.dynamic.Resource(new Echo() as any, "a", {});
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

test("a failed call says so in its span without the secret", async () => {
    const trial = project({ "index.ts": FAILING });
    const seen = await collector();
    expect((await trial.beside(exporting(seen), ...UP)).status).not.toBe(0);
    const call = seen.span("call create", { urn: "::a" });
    expect(call.error).toContain("the password [secret] is wrong");
    expect(call.attributes["error.type"]).toBe("raised");
    expect(seen.span("maloko up").attributes["maloko.outcome"]).toBe("failed");
    expect(seen.span("maloko up").error).toBeDefined();
    expect(seen.requests.filter(({ body }) => body.includes("hunter2"))).toEqual([]);
    const calls = seen.metrics["maloko.provider.calls"] ?? [];
    expect(calls.filter(([point]) => point["maloko.outcome"] === "failed")).not.toEqual([]);
});

test("calls and waits are measured", async () => {
    const trial = project({ "index.ts": ECHO });
    const seen = await collector();
    await ok(trial, exporting(seen, { OTEL_TRACES_EXPORTER: "none" }), ...UP);
    expect(seen.spans).toEqual([]);
    const calls = seen.metrics["maloko.provider.calls"] ?? [];
    expect(calls.filter(([point]) => point["maloko.method"] === "create")).toEqual([
        [expect.objectContaining({ "maloko.outcome": "done", "maloko.project": "test" }), 1],
    ]);
    expect(seen.metrics["maloko.provider.call.duration"]).toBeDefined();
    expect(seen.metrics["maloko.journal.flush.duration"]).toBeDefined();
    const locks = seen.metrics["maloko.lock.wait.duration"] ?? [];
    expect(locks).toEqual([[expect.objectContaining({ "maloko.stack": "dev" }), 1]]);
});

test("the flag sends traces alone", async () => {
    const trial = project({ "index.ts": ECHO });
    const seen = await collector();
    const json = { ...NOTHING_SET, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
    const at = (address: string): string[] => ["--stack", "dev", "--otel-traces", address];
    await ok(trial, json, "up", "--yes", "--skip-preview", ...at(seen.address));
    await ok(trial, json, "preview", ...at(seen.address));
    await ok(trial, json, "refresh", "--yes", "--skip-preview", ...at(`${seen.address}/v1/traces`));
    await ok(trial, json, "destroy", "--yes", "--skip-preview", ...at(seen.address));
    const operations = seen.spans.filter(({ parent }) => parent === "").map(({ name }) => name);
    expect(operations).toEqual(["maloko up", "maloko preview", "maloko refresh", "maloko destroy"]);
    expect(new Set(seen.requests.map(({ path }) => path))).toEqual(new Set(["/v1/traces"]));
    expect(seen.spans[0]?.service).toBe("maloko");
});

test("nothing is sent unless somebody asks", async () => {
    const trial = project({ "index.ts": ECHO });
    const seen = await collector();
    const none = { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" };
    const unsampled = { OTEL_TRACES_SAMPLER: "always_off", OTEL_METRICS_EXPORTER: "none" };
    await ok(trial, { ...NOTHING_SET, TRACEPARENT: TRACE_PARENT }, ...UP);
    await ok(trial, exporting(seen, { OTEL_SDK_DISABLED: "true" }), ...UP);
    await ok(trial, exporting(seen, none), ...UP);
    await ok(trial, exporting(seen, unsampled), ...UP);
    expect(seen.requests).toEqual([]);
});

test("headers go with what is sent and are never shown", async () => {
    const trial = project({ "index.ts": ECHO });
    const seen = await collector();
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abcdefgh" };
    const { output } = await trial.beside(exporting(seen, headers), ...UP);
    expect(new Set(seen.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer abcdefgh"]));
    expect(output).not.toContain("abcdefgh");
});

test("traces and metrics go by gRPC", async () => {
    const trial = project({ "index.ts": ECHO });
    const seen = await grpcCollector();
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abcdefgh" };
    const environment = exporting(seen, { ...GRPC, ...headers, TRACEPARENT: TRACE_PARENT });
    const { status, output } = await trial.beside(environment, ...UP);
    expect(status).toBe(0);
    const operation = seen.span("maloko up");
    expect([operation.trace, operation.parent]).toEqual(CALLER);
    expect(seen.span("call create", { urn: "::a" }).attributes["maloko.outcome"]).toBe("done");
    expect(seen.metrics["maloko.provider.calls"]).toBeDefined();
    expect(new Set(seen.requests.map(({ path }) => path))).toEqual(new Set(["/v1/traces", "/v1/metrics"]));
    expect(new Set(seen.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer abcdefgh"]));
    expect(output).not.toContain("abcdefgh");
    expect(output).not.toContain("OpenTelemetry");
});

test("what is sent may be compressed", async () => {
    const trial = project({ "index.ts": ECHO });
    const [byHttp, byGrpc] = [await collector(), await grpcCollector()];
    for (const [seen, protocol] of [[byHttp, {}] as const, [byGrpc, GRPC] as const]) {
        const compressing = exporting(seen, { ...protocol, OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" });
        expect((await trial.beside(compressing, ...UP)).output).not.toContain("OpenTelemetry");
    }
    const encodings = byHttp.requests.map(({ headers }) => headers["content-encoding"]);
    expect(new Set(encodings)).toEqual(new Set(["gzip"]));
    expect(byHttp.span("maloko up")).toBeDefined();
    expect(byGrpc.span("maloko up")).toBeDefined();
});

test("each signal may have its own protocol", async () => {
    const trial = project({ "index.ts": ECHO });
    const [byHttp, byGrpc] = [await collector(), await grpcCollector()];
    const own = {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: byGrpc.address.replace("http://", ""),
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "grpc",
        OTEL_EXPORTER_OTLP_TRACES_INSECURE: "true",
    };
    await ok(trial, exporting(byHttp, own), ...UP);
    const flag = ["--stack", "dev", "--otel-traces", byGrpc.address];
    await ok(trial, { ...NOTHING_SET, ...GRPC }, "preview", ...flag);
    expect(new Set(byHttp.requests.map(({ path }) => path))).toEqual(new Set(["/v1/metrics"]));
    const operations = byGrpc.spans.filter(({ parent }) => parent === "").map(({ name }) => name);
    expect(operations).toEqual(["maloko up", "maloko preview"]);
});

test.each([
    { hangs: false, protocol: "http/protobuf" },
    { hangs: true, protocol: "http/protobuf" },
    { hangs: false, protocol: "grpc" },
    { hangs: true, protocol: "grpc" },
])("a collector that is away or hangs costs a warning alone", async ({ hangs, protocol }) => {
    const trial = project({ "index.ts": ECHO });
    const hanging = protocol === "grpc" ? grpcCollector : collector;
    const OTEL_EXPORTER_OTLP_ENDPOINT = hangs ? (await hanging(true)).address : "http://127.0.0.1:1";
    const to = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
    const { status, output } = await trial.beside({ ...NOTHING_SET, ...to }, ...UP);
    expect(status).toBe(0);
    const warnings = output.split("\n").filter((line) => line.includes("OpenTelemetry"));
    expect(warnings).toEqual([expect.stringContaining("spans were not exported")]);
    expect(hangs || warnings[0]?.includes("http://127.0.0.1:1")).toBe(true);
});

test("a protocol that maloko does not speak is named", async () => {
    const trial = project({ "index.ts": ECHO });
    const seen = await collector();
    const { status, output } = await trial.beside(exporting(seen, { OTEL_EXPORTER_OTLP_PROTOCOL: "thrift" }), ...UP);
    expect(status).toBe(0);
    expect(seen.requests).toEqual([]);
    expect(output).toContain("OTEL_EXPORTER_OTLP_PROTOCOL is 'thrift'");
});
