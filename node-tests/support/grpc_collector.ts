// A collector of OpenTelemetry for tests: takes OTLP over gRPC, and keeps what it was sent as if it had come by HTTP as JSON.
import { createRequire } from "node:module";
import { onTestFinished } from "vitest";
import { Collector } from "./collector";

// What Pulumi's SDK brings along.
const ofSdk = createRequire(createRequire(import.meta.url).resolve("@pulumi/pulumi"));

/** A message's fields by their numbers: how each is called, and read. */
type Message = Record<number, [name: string, how: "text" | "hex" | "varint" | "fixed64" | Message, many?: "many"]>;

const VALUE: Message = { 1: ["stringValue", "text"], 2: ["boolValue", "varint"], 3: ["intValue", "varint"] };
const ATTRIBUTES: Message[number] = ["attributes", { 1: ["key", "text"], 2: ["value", VALUE] }, "many"];
const RESOURCE: Message = { 1: ATTRIBUTES };
const SPAN: Message = {
    1: ["traceId", "hex"],
    2: ["spanId", "hex"],
    3: ["traceState", "text"],
    4: ["parentSpanId", "hex"],
    5: ["name", "text"],
    9: ATTRIBUTES,
    15: ["status", { 2: ["message", "text"], 3: ["code", "varint"] }],
};
const TRACES: Message = {
    1: [
        "resourceSpans",
        { 1: ["resource", RESOURCE], 2: ["scopeSpans", { 2: ["spans", SPAN, "many"] }, "many"] },
        "many",
    ],
};
const SUM: Message = { 1: ["dataPoints", { 7: ATTRIBUTES, 6: ["asInt", "fixed64"] }, "many"] };
const METRIC: Message = {
    1: ["name", "text"],
    7: ["sum", SUM],
    9: ["histogram", { 1: ["dataPoints", { 9: ATTRIBUTES, 4: ["count", "fixed64"] }, "many"] }],
};
const METRICS: Message = {
    1: [
        "resourceMetrics",
        { 1: ["resource", RESOURCE], 2: ["scopeMetrics", { 2: ["metrics", METRIC, "many"] }, "many"] },
        "many",
    ],
};

const EXPORTS: [path: string, service: string, message: Message][] = [
    ["/v1/traces", "trace.v1.TraceService", TRACES],
    ["/v1/metrics", "metrics.v1.MetricsService", METRICS],
];

/** Serves gRPC on the loopback interface until the test ends. One that hangs reads what it is sent, and does not answer. */
export async function grpcCollector(hangs = false): Promise<Collector> {
    const grpc = ofSdk("@grpc/grpc-js");
    const kept = new Collector();
    const server = new grpc.Server();
    for (const [path, service, message] of EXPORTS) {
        const method = {
            path: `/opentelemetry.proto.collector.${service}/Export`,
            requestStream: false,
            responseStream: false,
            requestSerialize: (bytes: Buffer) => bytes,
            requestDeserialize: (bytes: Buffer) => bytes,
            responseSerialize: (bytes: Buffer) => bytes,
            responseDeserialize: (bytes: Buffer) => bytes,
        };
        const export_ = (call: any, done: any): void => {
            const body = JSON.stringify(read(call.request, message));
            kept.requests.push({ path, headers: call.metadata.getMap(), body });
            if (!hangs) {
                done(null, Buffer.alloc(0));
            }
        };
        server.addService({ export: method }, { export: export_ });
    }
    const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error: Error | null, port: number) =>
            error === null ? resolve(port) : reject(error),
        );
    });
    onTestFinished(() => server.forceShutdown());
    kept.address = `http://127.0.0.1:${port}`;
    return kept;
}

function read(bytes: Uint8Array, message: Message): Record<string, any> {
    const { BinaryReader } = ofSdk("google-protobuf");
    const reader = new BinaryReader(bytes);
    const found: Record<string, any> = {};
    while (reader.nextField()) {
        const field = message[reader.getFieldNumber()];
        if (field === undefined) {
            reader.skipField();
            continue;
        }
        const [name, how, many] = field;
        const value = fieldOf(reader, how);
        found[name] = many === undefined ? value : [...(found[name] ?? []), value];
    }
    return found;
}

function fieldOf(reader: any, how: Message[number][1]): unknown {
    switch (how) {
        case "text":
            return reader.readString();
        case "hex":
            return Buffer.from(reader.readBytes()).toString("hex");
        case "varint":
            return reader.readInt64();
        case "fixed64":
            return reader.readFixed64();
        default:
            return read(reader.readBytes(), how);
    }
}
