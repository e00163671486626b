"""A collector of OpenTelemetry for tests: takes OTLP over HTTP or gRPC, and keeps what it was sent."""

import contextlib
import gzip
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Status

EXPORTER = """
import os
import urllib.request

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult


class ToCollector(SpanExporter):
    def export(self, spans):
        address = os.environ["COLLECTOR"] + "/v1/traces"
        urllib.request.urlopen(urllib.request.Request(address, encode_spans(spans).SerializeToString())).close()
        return SpanExportResult.SUCCESS


provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ToCollector()))
trace.set_tracer_provider(provider)
TRACER = trace.get_tracer("program")
"""
"""The beginning of a program that traces itself, and sends its spans to the same collector."""


@dataclass(frozen=True)
class Span:
    """A span as it arrived."""

    name: str
    trace: str
    id: str
    parent: str
    state: str
    attributes: dict[str, Any]
    error: str | None
    service: str


class Collector:
    """What was sent, in the order in which it arrived."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.address = ""

    @property
    def spans(self) -> list[Span]:
        """All spans."""
        bodies = [body for path, _, body in self.requests if path == "/v1/traces"]
        return [span for body in bodies for span in _spans(body)]

    def span(self, name: str, **attributes: str) -> Span:
        """The only span of that name with such attributes; `urn` is the end of one."""
        found = [span for span in self.spans if span.name == name and _has(span, attributes)]
        assert len(found) == 1, f"{name} {attributes}: {found} of {self.spans}"
        return found[0]

    @property
    def metrics(self) -> dict[str, list[tuple[dict[str, Any], Any]]]:
        """The points of each metric, as attributes and value: a number, or the count of a histogram."""
        found: dict[str, list[tuple[dict[str, Any], Any]]] = {}
        for path, _, body in self.requests:
            if path != "/v1/metrics":
                continue
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                    sums = [(_attributes(point.attributes), point.as_int) for point in metric.sum.data_points]
                    counts = [(_attributes(point.attributes), point.count) for point in metric.histogram.data_points]
                    found.setdefault(metric.name, []).extend(sums + counts)
        return found


def _has(span: Span, wanted: dict[str, str]) -> bool:
    return all(str(span.attributes.get(f"maloko.{name}", "")).endswith(value) for name, value in wanted.items())


def _spans(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = _attributes(resource.resource.attributes)["service.name"]
        for span in (span for scope in resource.scope_spans for span in scope.spans):
            error = span.status.message if span.status.code == Status.STATUS_CODE_ERROR else None
            ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
            yield Span(span.name, *ids, span.trace_state, _attributes(span.attributes), error, service)


def _attributes(pairs: Any) -> dict[str, Any]:
    def value(pair: KeyValue) -> Any:
        kind = pair.value.WhichOneof("value")
        return getattr(pair.value, kind) if kind else None

    return {pair.key: value(pair) for pair in pairs}


@contextlib.contextmanager
def collector(*, hangs: bool = False) -> Iterator[Collector]:
    """Serves on the loopback interface. One that hangs reads what it is sent, and does not answer."""
    kept = Collector()
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers["content-encoding"] == "gzip":
                body = gzip.decompress(body)
            kept.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            if hangs:
                over.wait()
                return
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kept.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield kept
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


_SERVICES = {
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export": "/v1/traces",
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": "/v1/metrics",
}


class _Export(grpc.GenericRpcHandler):
    """Keeps what is sent by gRPC as if it had come by HTTP, and answers with an empty message, unless it hangs."""

    def __init__(self, kept: Collector, over: threading.Event, *, hangs: bool) -> None:
        self.kept, self.over, self.hangs = kept, over, hangs

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes] | None":
        path = _SERVICES.get(details.method)
        if path is None:
            return None

        def export(body: bytes, context: grpc.ServicerContext) -> bytes:
            self.kept.requests.append((path, {key: str(value) for key, value in context.invocation_metadata()}, body))
            if self.hangs:
                self.over.wait()
            return b""

        return grpc.unary_unary_rpc_method_handler(export)


@contextlib.contextmanager
def grpc_collector(*, hangs: bool = False) -> Iterator[Collector]:
    """Serves gRPC on the loopback interface. One that hangs reads what it is sent, and does not answer."""
    kept = Collector()
    over = threading.Event()
    server = grpc.server(ThreadPoolExecutor(max_workers=4), handlers=[_Export(kept, over, hangs=hangs)])
    kept.address = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield kept
    finally:
        over.set()
        server.stop(grace=None).wait()
