"""What OpenTelemetry gets of a run: one trace from who calls to the spans of provider code, and metrics."""

import pytest
from cli import Project
from collector import EXPORTER, Collector, Span, collector, grpc_collector
from night import LONG, by_day

UP = ["up", "--yes", "--skip-preview"]
CALLER = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
TRACE_PARENT = f"00-{CALLER[0]}-{CALLER[1]}-01"
GRPC = {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}

PROGRAM = (
    EXPORTER
    + """
import asyncio
import threading

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

BOTH = threading.Barrier(2, timeout=60)
arrived = []


class Plain(ResourceProvider):
    def create(self, props):
        with TRACER.start_as_current_span("own of " + props["name"]):
            BOTH.wait()
            with TRACER.start_as_current_span("below own of " + props["name"]):
                return CreateResult(props["name"], props)


class Async(ResourceProvider):
    async def create(self, props):
        with TRACER.start_as_current_span("own of " + props["name"]):
            arrived.append(props["name"])
            while len(arrived) < 2:
                await asyncio.sleep(0.01)
            with TRACER.start_as_current_span("below own of " + props["name"]):
                return CreateResult(props["name"], props)


class Thing(Resource):
    def __init__(self, provider, name):
        super().__init__(provider, name, {"name": name})


for name in ("a", "b"):
    Thing(Plain(), name)
for name in ("c", "d"):
    Thing(Async(), name)
"""
)

FAILING = """
import pulumi
from pulumi.dynamic import Resource, ResourceProvider


class Failing(ResourceProvider):
    def create(self, props):
        raise ValueError("the password " + props["password"] + " is wrong")


class Thing(Resource):
    def __init__(self, name):
        super().__init__(Failing(), name, {"password": pulumi.Output.secret("hunter2-hunter2")})


Thing("a")
"""

ECHO = """
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Echo(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)


class Thing(Resource):
    def __init__(self, name):
        super().__init__(Echo(), name, {})


Thing("a")
"""


@pytest.fixture
def trial(project: Project) -> Project:
    project.environment = {
        name: value for name, value in project.environment.items() if not name.startswith(("OTEL_", "TRACE"))
    }
    return project


def exporting(to: Collector, **variables: str) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": to.address, "COLLECTOR": to.address, **variables}


def chain(of: Collector, name: str) -> list[Span]:
    """The spans from that of a resource's own code up to the operation."""
    spans = {span.id: span for span in of.spans}
    links = [of.span(f"below own of {name}")]
    while links[-1].parent in spans:
        links.append(spans[links[-1].parent])
    return links


def test_one_trace_goes_from_the_caller_to_the_spans_of_provider_code(trial: Project) -> None:
    trial.write("__main__.py", PROGRAM)
    with collector() as seen:
        caller = {"TRACEPARENT": TRACE_PARENT, "TRACESTATE": "vendor=carried"}
        trial.run(*UP, **exporting(seen, **caller, OTEL_SERVICE_NAME="deploys"))
    operation = seen.span("maloko up")
    assert (operation.trace, operation.parent) == CALLER
    assert operation.service == "deploys"
    assert operation.attributes["maloko.project"] == "trial"
    assert operation.attributes["maloko.stack"] == "dev"
    assert operation.attributes["maloko.kind"] == "update"
    assert operation.attributes["maloko.outcome"] == "succeeded"
    assert operation.attributes["maloko.changes.create"] == 5
    # Each has its own above it, although the calls of both kinds are made side by side.
    for name in ("a", "b", "c", "d"):
        below, own, call, step, top = chain(seen, name)
        assert (below.name, own.name) == (f"below own of {name}", f"own of {name}")
        assert call.name == "call create"
        assert call.attributes["maloko.urn"].endswith(f"::{name}")
        assert call.attributes["maloko.method"] == "create"
        assert call.attributes["maloko.attempt"] == 1
        assert call.attributes["maloko.outcome"] == "done"
        assert step.attributes["maloko.op"] == "create"
        assert step.attributes["maloko.urn"] == call.attributes["maloko.urn"]
        assert step.attributes["maloko.outcome"] == "done"
        assert top == operation
    assert {(span.trace, span.state) for span in seen.spans} == {(CALLER[0], "vendor=carried")}
    assert seen.span("wait for the lock").parent == operation.id
    journal = [span for span in seen.spans if span.name == "wait for the journal"]
    assert journal
    assert all(span.parent in {other.id for other in seen.spans} for span in journal)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_failed_call_says_so_in_its_span_without_the_secret(trial: Project) -> None:
    trial.write("__main__.py", FAILING)
    with collector() as seen:
        trial.run(*UP, code=None, **exporting(seen))
    call = seen.span("call create", urn="::a")
    assert call.error is not None
    assert "the password [secret] is wrong" in call.error
    assert call.attributes["error.type"] == "raised"
    assert seen.span("maloko up").attributes["maloko.outcome"] == "failed"
    assert seen.span("maloko up").error is not None
    assert not any(b"hunter2" in body for _, _, body in seen.requests)
    assert [point for point, _ in seen.metrics["maloko.provider.calls"] if point["maloko.outcome"] == "failed"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_calls_and_waits_are_measured(trial: Project) -> None:
    trial.write("__main__.py", ECHO)
    with collector() as seen:
        trial.run(*UP, **exporting(seen, OTEL_TRACES_EXPORTER="none"))
    assert seen.spans == []
    [(point, number)] = [
        (point, number) for point, number in seen.metrics["maloko.provider.calls"] if point["maloko.method"] == "create"
    ]
    assert number == 1
    assert point["maloko.outcome"] == "done"
    assert point["maloko.project"] == "trial"
    assert seen.metrics["maloko.provider.call.duration"]
    assert seen.metrics["maloko.journal.flush.duration"]
    [(point, number)] = seen.metrics["maloko.lock.wait.duration"]
    assert (point["maloko.stack"], number) == ("dev", 1)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_flag_sends_traces_alone(trial: Project) -> None:
    trial.write("__main__.py", ECHO)
    with collector() as seen:
        trial.run(*UP, "--otel-traces", seen.address)
        trial.run("preview", "--otel-traces", seen.address)
        trial.run("refresh", "--yes", "--skip-preview", "--otel-traces", f"{seen.address}/v1/traces")
        trial.run("destroy", "--yes", "--skip-preview", "--otel-traces", seen.address)
    operations = [span.name for span in seen.spans if span.parent == ""]
    assert operations == ["maloko up", "maloko preview", "maloko refresh", "maloko destroy"]
    assert {path for path, _, _ in seen.requests} == {"/v1/traces"}
    assert seen.spans[0].service == "maloko"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_nothing_is_sent_unless_somebody_asks(trial: Project) -> None:
    trial.write("__main__.py", ECHO)
    with collector() as seen:
        trial.run(*UP, TRACEPARENT=TRACE_PARENT)
        trial.run(*UP, **exporting(seen, OTEL_SDK_DISABLED="true"))
        if LONG:
            trial.run(*UP, **exporting(seen, OTEL_TRACES_EXPORTER="none", OTEL_METRICS_EXPORTER="none"))
            trial.run(*UP, **exporting(seen, OTEL_TRACES_SAMPLER="always_off", OTEL_METRICS_EXPORTER="none"))
    assert seen.requests == []


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_headers_go_with_what_is_sent_and_are_never_shown(trial: Project) -> None:
    trial.write("__main__.py", ECHO)
    with collector() as seen:
        done = trial.run(*UP, **exporting(seen, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20abcdefgh"))
    assert seen.requests
    assert all(headers["authorization"] == "Bearer abcdefgh" for _, headers, _ in seen.requests)
    assert "abcdefgh" not in done.stdout + done.stderr


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_traces_and_metrics_go_by_grpc(trial: Project) -> None:
    trial.write("__main__.py", ECHO)
    headers = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abcdefgh"}
    with grpc_collector() as seen:
        done = trial.run(*UP, **exporting(seen, **GRPC, **headers, TRACEPARENT=TRACE_PARENT))
    operation = seen.span("maloko up")
    assert (operation.trace, operation.parent) == CALLER
    assert seen.span("call create", urn="::a").attributes["maloko.outcome"] == "done"
    assert seen.metrics["maloko.provider.calls"]
    assert {path for path, _, _ in seen.requests} == {"/v1/traces", "/v1/metrics"}
    assert {metadata["authorization"] for _, metadata, _ in seen.requests} == {"Bearer abcdefgh"}
    assert "abcdefgh" not in done.stdout + done.stderr
    assert "OpenTelemetry" not in done.stderr


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_what_is_sent_may_be_compressed(trial: Project) -> None:
    trial.write("__main__.py", ECHO)
    with collector() as by_http, grpc_collector() as by_grpc:
        for seen, protocol in ((by_http, {}), (by_grpc, GRPC)):
            done = trial.run(*UP, **exporting(seen, **protocol, OTEL_EXPORTER_OTLP_COMPRESSION="gzip"))
            assert "OpenTelemetry" not in done.stderr
    assert {headers.get("content-encoding") for _, headers, _ in by_http.requests} == {"gzip"}
    assert by_http.span("maloko up")
    assert by_grpc.span("maloko up")


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_each_signal_may_have_its_own_protocol(trial: Project) -> None:
    trial.write("__main__.py", ECHO)
    with collector() as by_http, grpc_collector() as by_grpc:
        own = {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": by_grpc.address.removeprefix("http://"),
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc",
            "OTEL_EXPORTER_OTLP_TRACES_INSECURE": "true",
        }
        trial.run(*UP, **exporting(by_http, **own))
        trial.run("preview", "--otel-traces", by_grpc.address, **GRPC)
    assert {path for path, _, _ in by_http.requests} == {"/v1/metrics"}
    assert [span.name for span in by_grpc.spans if span.parent == ""] == ["maloko up", "maloko preview"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
@pytest.mark.parametrize("hangs", by_day([False, True], lambda hangs, _: hangs))
def test_a_collector_that_is_away_or_hangs_costs_a_warning_alone(trial: Project, hangs: bool, protocol: str) -> None:
    trial.write("__main__.py", ECHO)
    with (grpc_collector if protocol == "grpc" else collector)(hangs=hangs) as seen:
        address = seen.address if hangs else "http://127.0.0.1:1"
        done = trial.run(*UP, OTEL_EXPORTER_OTLP_ENDPOINT=address, OTEL_EXPORTER_OTLP_PROTOCOL=protocol)
    warnings = [line for line in done.stderr.splitlines() if "OpenTelemetry" in line]
    assert len(warnings) == 1, done.stderr
    assert "spans were not exported" in warnings[0]
    assert hangs or "http://127.0.0.1:1" in warnings[0]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_protocol_that_maloko_does_not_speak_is_named(trial: Project) -> None:
    trial.write("__main__.py", ECHO)
    with collector() as seen:
        done = trial.run(*UP, **exporting(seen, OTEL_EXPORTER_OTLP_PROTOCOL="thrift"))
    assert seen.requests == []
    assert "OTEL_EXPORTER_OTLP_PROTOCOL is 'thrift'" in done.stderr
