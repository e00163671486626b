// A collector of OpenTelemetry for tests: takes OTLP over HTTP as JSON, and keeps what it was sent.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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
    service: unknown;
}

/** What was sent, in the order in which it arrived. */
export class Collector {
    readonly requests: { path: string; body: string }[] = [];
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

/** Serves on the loopback interface until the test ends. */
export async function collector(): Promise<Collector> {
    const kept = new Collector();
    const server = createServer((request, response) => {
        const pieces: Buffer[] = [];
        request.on("data", (piece: Buffer) => pieces.push(piece));
        request.on("end", () => {
            kept.requests.push({ path: request.url ?? "", body: Buffer.concat(pieces).toString() });
            response.end("{}");
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
