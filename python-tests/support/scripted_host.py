"""A language host whose program is a list of steps: `runtime: {name: scripted, options: {steps: [...]}}`.

A step is `[word, argument]`; the words are the methods of `Program`. What the host is asked goes to the file that
SCRIPTED_SEEN names, one JSON object per line. SCRIPTED_START=dies|talks|hangs|two ports: what it does
before it has told its port, or when it has.
SCRIPTED_LACKS: its methods that are not there, with commas between them. `options.packages` is what the program uses.

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
import messages_alone  # noqa: F401  (before the messages)
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import (
    callback_pb2,
    callback_pb2_grpc,
    engine_pb2,
    engine_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    plugin_pb2,
    resource_pb2,
    resource_pb2_grpc,
)

SIGNATURE = "4dabf18193072939515e22adb298388d"
RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"
KINDS = {"Invoke": "ResourceInvoke"}
"""The messages that are not called after their methods."""

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

    def replay(self, file: str) -> None:
        """Asks for what a recorded program asked for, in its order, and notes where the answers differ."""
        calls = json.loads(Path(file).read_text())["calls"]
        begun: list[Any] = []
        answered = 0

        def answer() -> None:
            nonlocal answered
            method, future, recorded = begun[answered]
            given = json_format.MessageToDict(future.result())
            answered += 1
            if method != "GetDeploymentInfo" and given != (recorded or {}):
                note("answers differ", method=method, given=given, recorded=recorded)

        for call in calls:
            while answered < call["after"]:
                answer()
            method = call["method"]
            kind = getattr(resource_pb2, f"{KINDS.get(method, method)}Request", empty_pb2.Empty)
            request = json_format.ParseDict(call["request"], kind())
            begun.append((method, getattr(self.monitor, method).future(request), call["response"]))
        while answered < len(begun):
            answer()

    def exists(self, name: str, token: str = "mini:index:Thing") -> None:
        asked = resource_pb2.ExistsResourceRequest(type=token, id=name)
        answer = self.monitor.ExistsResource(asked)
        note("exists", id=name, exists=answer.exists, unknown=answer.unknown)

    def read(self, name: str, of: str) -> None:
        asked = resource_pb2.ReadResourceRequest(id=of, type="mini:index:Thing", name=name, parent=self.root)
        asked.properties.update({"text": "known"})
        answer = self.monitor.ReadResource(asked)
        note("read", id=answer.id, result=answer.result, unknown=answer.unknown)

    def invoke(self, text: Any, accept: bool = False, token: str = "mini:index:echo") -> None:
        asked = resource_pb2.ResourceInvokeRequest(tok=token, accept_output_values=accept)
        asked.args.update({"text": text})
        answer = self.monitor.Invoke(asked)
        note("invoke", unknown=answer.unknown, returned=json_format.MessageToDict(getattr(answer, "return")))

    def call(self, of: str, accept: bool = False) -> None:
        """Calls a method of a thing."""
        asked = resource_pb2.ResourceCallRequest(tok="mini:index:Thing/count", accept_output_values=accept)
        urn = f"{self.root.rpartition('::')[0].rpartition('::')[0]}::mini:index:Thing::{of}"
        asked.args.update({"__self__": {SIGNATURE: RESOURCE, "urn": urn, "id": f"id-{of}"}})
        answer = self.monitor.Call(asked)
        note("call", returned=json_format.MessageToDict(getattr(answer, "return")))

    def resource_of_outputs(self, name: str, value: Any, property_dependencies: bool = False) -> None:
        """Registers a thing whose inputs say what they depend on, by field 44, which is newer than this SDK."""
        asked = resource_pb2.RegisterResourceRequest(
            type="mini:index:Thing",
            name=name,
            parent=self.root,
            custom=True,
            acceptSecrets=True,
            dependencies=[self.root],
        )
        asked.object.update({"text": value, "plain": "p"})
        if property_dependencies:
            asked.propertyDependencies["text"].urns.append(self.root)
        channel = grpc.insecure_channel(os.environ["SCRIPTED_MONITOR"])
        channel.unary_unary("/pulumirpc.ResourceMonitor/RegisterResource")(asked.SerializeToString() + b"\xe0\x02\x01")

    def hooked(self, name: str, seconds: float) -> None:
        """Registers a thing with a hook before its creation that goes on for a while."""

        def called(request: Any, context: Any) -> Any:
            note("hook begins")
            time.sleep(seconds)
            note("hook ends")
            return callback_pb2.CallbackInvokeResponse()

        server = grpc.server(futures.ThreadPoolExecutor(2))
        servicer = type("Callbacks", (callback_pb2_grpc.CallbacksServicer,), {"Invoke": lambda _, *them: called(*them)})
        callback_pb2_grpc.add_CallbacksServicer_to_server(servicer(), server)
        target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        hook = resource_pb2.RegisterResourceHookRequest(name="slow")
        hook.callback.target, hook.callback.token = target, "slow"
        self.monitor.RegisterResourceHook(hook)
        asked = resource_pb2.RegisterResourceRequest(
            type="mini:index:Thing", name=name, parent=self.root, custom=True, hooks={"before_create": ["slow"]}
        )
        asked.object.update({"text": "t"})
        self.monitor.RegisterResource(asked)

    def connect_twice(self) -> None:
        """Goes on over a connection of its own, beside the first one."""
        self.monitor = resource_pb2_grpc.ResourceMonitorStub(
            grpc.insecure_channel(
                os.environ["SCRIPTED_MONITOR"], options=[*LARGE, ("grpc.use_local_subchannel_pool", 1)]
            )
        )

    def hurry(self, name: str) -> None:
        """Asks for a component and does not wait for the answer."""
        asked = resource_pb2.RegisterResourceRequest(type="test:index:Group", name=name, parent=self.root)
        self.hurried = self.monitor.RegisterResource.future(asked)

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
        self.engine.Log(engine_pb2.LogRequest(severity=int(severity), message=message))

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
        note("GetPluginInfo")
        return plugin_pb2.PluginInfo(version="1.2.3")

    def Handshake(self, request: Any, context: Any) -> Any:
        note("Handshake", root=request.root_directory)
        return language_pb2.LanguageHandshakeResponse()

    def About(self, request: Any, context: Any) -> Any:
        return language_pb2.AboutResponse(executable="/usr/bin/scripted", version="7.8.9")

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:
        note("GetRequiredPackages")
        options = json_format.MessageToDict(request.info.options)
        known = {"packages": options.get("packages", []), "specs": options.get("specs", [])}
        return json_format.ParseDict(known, language_pb2.GetRequiredPackagesResponse())

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:
        note("GetRequiredPlugins", pwd=request.pwd, program=request.program)
        options = json_format.MessageToDict(request.info.options)
        return json_format.ParseDict(
            {"plugins": options.get("packages", [])}, language_pb2.GetRequiredPluginsResponse()
        )

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
    if os.environ.get("SCRIPTED_START") == "two ports":
        print(12345, flush=True)
    signal.signal(
        signal.SIGINT, lambda *_: os._exit(0) if "SIGINT" not in os.environ.get("SCRIPTED_IGNORES", "") else None
    )
    note("begins", directory=str(Path.cwd()), arguments=len(sys.argv) - 1, process=os.getpid())
    server.wait_for_termination()


if __name__ == "__main__":
    by_itself() if sys.argv[1:2] == ["program"] else serve()
