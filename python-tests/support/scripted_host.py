"""A language host whose program is a list of steps: `runtime: {name: scripted, options: {steps: [...]}}`.

A step is `[word, argument]`; the words are the methods of `Program`. What the host is asked goes to the file that
SCRIPTED_SEEN names, one JSON object per line. SCRIPTED_START=dies|talks|hangs: what it does before it tells its port.
SCRIPTED_LACKS: its methods that are not there, with commas between them.

As a program of its own (`python scripted_host.py program STEPS`) it takes its steps from its arguments, and addresses
from its environment, as programs in Go do.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    plugin_pb2,
    resource_pb2,
    resource_pb2_grpc,
)

LARGE = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", 400 << 20)]


def note(what: str, **more: Any) -> None:
    if seen := os.environ.get("SCRIPTED_SEEN"):
        with Path(seen).open("a") as file:
            file.write(json.dumps({"what": what, **more}) + "\n")


class EndError(Exception):
    """The program ends here."""

    def __init__(self, error: str = "", *, bail: bool = False) -> None:
        self.error, self.bail = error, bail


class Program:
    def __init__(self, monitor: str, engine: str, project: str, stack: str) -> None:
        self.monitor = resource_pb2_grpc.ResourceMonitorStub(grpc.insecure_channel(monitor, options=LARGE))
        self.engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(engine, options=LARGE))
        self.project, self.stack_name = project, stack
        self.root = ""

    def run(self, steps: list[list[Any]]) -> None:
        for word, *arguments in steps:
            try:
                getattr(self, word)(*arguments)
            except grpc.RpcError as error:
                note(f"{word} failed", code=error.code().name, details=error.details())
                if word in ("stack", "resource"):
                    raise EndError(f"{word}: {error.code().name}") from None

    def stack(self) -> None:
        name = f"{self.project}-{self.stack_name}"
        asked = resource_pb2.RegisterResourceRequest(type="pulumi:pulumi:Stack", name=name)
        self.root = self.monitor.RegisterResource(asked).urn
        self.engine.SetRootResource(engine_pb2.SetRootResourceRequest(urn=self.root))

    def resource(self, name: str, token: str = "test:index:Group", properties: dict[str, Any] | None = None) -> None:
        values = struct_pb2.Struct()
        values.update(properties or {})
        custom = properties is not None
        asked = resource_pb2.RegisterResourceRequest(
            type=token, name=name, parent=self.root, custom=custom, object=values, acceptSecrets=True, version="1.0.0"
        )
        answer = self.monitor.RegisterResource(asked)
        note("registered", name=name, id=answer.id, outputs=json_format.MessageToDict(answer.object))

    def large(self, size: int) -> None:
        """Registers a component with a text of so many bytes."""
        values = struct_pb2.Struct()
        values["text"] = "x" * int(size)
        asked = resource_pb2.RegisterResourceRequest(
            type="test:index:Group", name="large", parent=self.root, object=values
        )
        self.monitor.RegisterResource(asked)

    def outputs(self, values: dict[str, Any]) -> None:
        given = struct_pb2.Struct()
        given.update(values)
        self.monitor.RegisterResourceOutputs(resource_pb2.RegisterResourceOutputsRequest(urn=self.root, outputs=given))

    def signal(self) -> None:
        self.monitor.SignalAndWaitForShutdown(empty_pb2.Empty())
        note("shut down")

    def signal_twice(self) -> None:
        first = self.monitor.SignalAndWaitForShutdown.future(empty_pb2.Empty())
        second = self.monitor.SignalAndWaitForShutdown.future(empty_pb2.Empty())
        codes = sorted(str(call.exception() and call.exception().code().name) for call in (first, second))
        note("signalled twice", codes=codes)

    def malformed(self) -> None:
        """Sends what is no message."""
        channel = grpc.insecure_channel(os.environ["SCRIPTED_MONITOR"])
        channel.unary_unary("/pulumirpc.ResourceMonitor/RegisterResource")(b"\xff\xff\xff")

    def unknown(self) -> None:
        channel = grpc.insecure_channel(os.environ["SCRIPTED_MONITOR"])
        channel.unary_unary("/pulumirpc.ResourceMonitor/Fly")(b"")

    def root_resource(self) -> None:
        note("root", urn=self.engine.GetRootResource(engine_pb2.GetRootResourceRequest()).urn)

    def info(self) -> None:
        note("info", answer=json_format.MessageToDict(self.monitor.GetDeploymentInfo(empty_pb2.Empty())))

    def log(self, message: str, severity: int = 1) -> None:
        self.engine.Log(engine_pb2.LogRequest(severity=severity, message=message))

    def print(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def print_error(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def lines(self, length: int) -> None:
        """Prints a long line."""
        self.print("y" * int(length) + "\n")

    def sleep(self, seconds: float) -> None:
        note("sleeps")
        time.sleep(seconds)

    def variables(self) -> None:
        note(
            "variables",
            **{key: value for key, value in os.environ.items() if "PULUMI" in key or "proxy" in key.lower()},
        )

    def exit(self, code: int) -> None:
        os._exit(int(code))

    def kill(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def bail(self) -> None:
        raise EndError(bail=True)

    def error(self, text: str) -> None:
        raise EndError(text)


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version="1.2.3")

    def Handshake(self, request: Any, context: Any) -> Any:
        note("Handshake", root=request.root_directory)
        return language_pb2.LanguageHandshakeResponse()

    def About(self, request: Any, context: Any) -> Any:
        return language_pb2.AboutResponse(executable="/usr/bin/scripted", version="7.8.9")

    def InstallDependencies(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        note("InstallDependencies", directory=request.directory)
        yield language_pb2.InstallDependenciesResponse(stdout=b"fetching a library\n")
        if os.environ.get("SCRIPTED_INSTALL") == "fails":
            context.abort(grpc.StatusCode.INTERNAL, "the library is not there")

    def Cancel(self, request: Any, context: Any) -> Any:
        note("Cancel")
        return empty_pb2.Empty()

    def Run(self, request: Any, context: grpc.ServicerContext) -> Any:
        note("Run", request=json_format.MessageToDict(request))
        os.environ["SCRIPTED_MONITOR"] = request.monitor_address
        program = Program(request.monitor_address, sys.argv[-1], request.project, request.stack)
        try:
            program.run(json_format.MessageToDict(request.info.options).get("steps", []))
        except EndError as end:
            if end.error.startswith("rpc: "):
                context.abort(grpc.StatusCode.INTERNAL, end.error.removeprefix("rpc: "))
            return language_pb2.RunResponse(error=end.error, bail=end.bail)
        return language_pb2.RunResponse()


def by_itself() -> None:
    place = os.environ
    program = Program(place["PULUMI_MONITOR"], place["PULUMI_ENGINE"], place["PULUMI_PROJECT"], place["PULUMI_STACK"])
    try:
        program.run(json.loads(sys.argv[2]))
    except EndError as end:
        print(end.error, file=sys.stderr)
        sys.exit(32 if end.bail else 1)


def serve() -> None:
    for method in filter(None, os.environ.get("SCRIPTED_LACKS", "").split(",")):
        delattr(Host, method)
    match os.environ.get("SCRIPTED_START"):
        case "dies":
            sys.exit("no such luck")
        case "talks":
            print("hello", flush=True)
        case "hangs":
            time.sleep(600)
    server = grpc.server(futures.ThreadPoolExecutor(16), options=LARGE)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(Host(), server)
    port = server.add_insecure_port(f"127.0.0.1:{os.environ.get('SCRIPTED_PORT', '0')}")
    server.start()
    print(port, flush=True)
    signal.signal(
        signal.SIGINT, lambda *_: os._exit(0) if "SIGINT" not in os.environ.get("SCRIPTED_IGNORES", "") else None
    )
    note("begins", directory=str(Path.cwd()), arguments=len(sys.argv) - 1, process=os.getpid())
    server.wait_for_termination()


if __name__ == "__main__":
    by_itself() if sys.argv[1:2] == ["program"] else serve()
