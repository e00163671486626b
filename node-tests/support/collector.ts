// A collector of OpenTelemetry for tests: takes OTLP over HTTP as JSON, and keeps what it was sent.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

/** The beginning of a program that traces itself, and sends its spans to the same collector. */
export const EXPORTER = `
import { trace } from "@opentelemetry/api";
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

const toCollector = {
    export(spans: any, done: any) {
        const body = JsonTraceSerializer.serializeRequest(spans) as any;
        const headers = { "content-type": "application/json" };
        fetch(process.env.COLLECTOR + "/v1/traces", { method: "POST", headers, body })
            .then((answer) => answer.arrayBuffer())
            .then(() => done({ code: 0 }), (error) => done({ code: 1, error }));
    },
    shutdown: async () => {},
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(toCollector as any)] }).register();
const tracer = trace.getTracer("program");
`;

type Attributes = Record<string, unknown>;

/** A span as it arrived. */
export interface Span {
    name: string;
    trace: string;
    id: string;
    parent: string;
    state: string;
    attributes: Attributes;
    /** The words of its status, where that is an error. */
    error: string | undefined;
    service: unknown;
}

/** What was sent, in the order in which it arrived. */
export class Collector {
    readonly requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
    address = "";

    /** All spans. */
    get spans(): Span[] {
        const bodies = this.requests.filter(({ path }) => path === "/v1/traces").map(({ body }) => JSON.parse(body));
        return bodies.flatMap((body) => body.resourceSpans.flatMap(spansOf));
    }

    /** The only span of that name with such attributes; `urn` is the end of one. */
    span(name: string, attributes: Record<string, string> = {}): Span {
        const found = this.spans.filter((span) => span.name === name && has(span, attributes));
        if (found.length !== 1) {
            throw new Error(`${found.length} spans ${name} in ${JSON.stringify(this.spans)}`);
        }
        return found[0] as Span;
    }

    /** The points of each metric, as attributes and value: a number, or the count of a histogram. */
    get metrics(): Record<string, [Attributes, number][]> {
        const found: Record<string, [Attributes, number][]> = {};
        for (const { path, body } of this.requests) {
            if (path !== "/v1/metrics") {
                continue;
            }
            for (const resource of JSON.parse(body).resourceMetrics) {
                for (const metric of resource.scopeMetrics.flatMap((scope: any) => scope.metrics)) {
                    const points = (metric.sum ?? metric.histogram).dataPoints as any[];
                    const told = points.map((point): [Attributes, number] => [
                        attributesOf(point.attributes),
                        Number(point.asInt ?? point.count),
                    ]);
                    found[metric.name] = [...(found[metric.name] ?? []), ...told];
                }
            }
        }
        return found;
    }
}

function has(span: Span, wanted: Record<string, string>): boolean {
    return Object.entries(wanted).every(([name, value]) =>
        String(span.attributes[`maloko.${name}`] ?? "").endsWith(value),
    );
}

function spansOf(resource: any): Span[] {
    const service = attributesOf(resource.resource.attributes)["service.name"];
    return resource.scopeSpans
        .flatMap((scope: any) => scope.spans)
        .map((span: any) => ({
            name: span.name,
            trace: span.traceId,
            id: span.spanId,
            parent: span.parentSpanId ?? "",
            state: span.traceState ?? "",
            attributes: attributesOf(span.attributes),
            error: span.status?.code === 2 ? (span.status.message ?? "") : undefined,
            service,
        }));
}

function attributesOf(pairs: any[] = []): Attributes {
    const value = ({ value }: any): unknown => {
        const told = Object.entries(value)[0];
        return told?.[0] === "intValue" ? Number(told[1]) : told?.[1];
    };
    return Object.fromEntries(pairs.map((pair) => [pair.key, value(pair)]));
}

/** Serves on the loopback interface until the test ends. One that hangs reads what it is sent, and does not answer. */
export async function collector(hangs = false): Promise<Collector> {
    const kept = new Collector();
    const server = createServer((request, response) => {
        const pieces: Buffer[] = [];
        request.on("data", (piece: Buffer) => pieces.push(piece));
        request.on("end", () => {
            const whole = Buffer.concat(pieces);
            const body = (request.headers["content-encoding"] === "gzip" ? gunzipSync(whole) : whole).toString();
            kept.requests.push({ path: request.url ?? "", headers: request.headers, body });
            if (!hangs) {
                response.end("{}");
            }
        });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
        server.closeAllConnections();
        server.close();
    });
    kept.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return kept;
}

const INTO_FILES = `
const { workerData: { folder, port } } = require("node:worker_threads");
const { mkdirSync, writeFileSync } = require("node:fs");
mkdirSync(folder);
let number = 0;
const server = require("node:http").createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
        writeFileSync(folder + "/" + request.url.replaceAll("/", "-") + number++, Buffer.concat(parts));
        response.end("{}");
    });
});
server.listen(0, "127.0.0.1", () => {
    Atomics.store(port, 0, server.address().port);
    Atomics.notify(port, 0);
});
`;

/**
 * Serves on a thread of its own until the test ends, for commands that the test waits for, and writes what it was sent into
 * files of a new folder. Gives its address.
 */
export function collectorInto(folder: string): string {
    const port = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(INTO_FILES, { eval: true, workerData: { folder, port } });
    onTestFinished(() => void worker.terminate());
    Atomics.wait(port, 0, 0);
    return `http://127.0.0.1:${port[0]}`;
}
