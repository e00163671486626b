"""A plugin of the package `mini`: a resource `Thing` with a text, a function that echoes, and a method that counts.

What it is asked goes to the file that MINI_SEEN names, as `METHOD NAME` on a line each. It has no objects but those
whose ids begin with `id-`.
"""

import json
import os
import signal
import sys
import threading
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import messages_alone  # noqa: F401  (before the messages)
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

VERSION = os.environ.get("MINI_VERSION", "1.0.0")
TEXT = {"type": "string"}
SCHEMA = {
    "name": "mini",
    "version": VERSION,
    "resources": {
        "mini:index:Thing": {
            "inputProperties": {"text": TEXT},
            "requiredInputs": ["text"],
            "properties": {"text": TEXT, "length": {"type": "integer"}},
            "required": ["text", "length"],
        }
    },
    "functions": {
        "mini:index:echo": {"inputs": {"properties": {"text": TEXT}}, "outputs": {"properties": {"text": TEXT}}}
    },
}
LOCK = threading.Lock()


def note(method: str, name: str = "") -> None:
    if seen := os.environ.get("MINI_SEEN"):
        with LOCK, Path(seen).open("a") as file:
            file.write(f"{method} {name}\n")


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    def Handshake(self, request: Any, context: Any) -> Any:
        note("Handshake")
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True, accept_outputs=True)

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        note("GetPluginInfo")
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetSchema(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetSchemaResponse(schema=json.dumps(SCHEMA))

    def CheckConfig(self, request: Any, context: Any) -> Any:
        note("CheckConfig", request.name)
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.DiffResponse()

    def Configure(self, request: Any, context: Any) -> Any:
        note("Configure", request.name)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, acceptResources=True, acceptOutputs=True
        )

    def Check(self, request: Any, context: Any) -> Any:
        note("Check", request.name)
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request: Any, context: Any) -> Any:
        changed = request.news != request.old_inputs
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DiffChanges.Value(f"DIFF_{NAMES[changed]}"))

    def Create(self, request: Any, context: Any) -> Any:
        note("Create", request.name)
        name = "" if request.preview else f"id-{request.name}"
        return provider_pb2.CreateResponse(id=name, properties=outputs(request.properties))

    def Update(self, request: Any, context: Any) -> Any:
        note("Update", request.name)
        return provider_pb2.UpdateResponse(properties=outputs(request.news))

    def Read(self, request: Any, context: Any) -> Any:
        note("Read", request.id)
        if not request.id.startswith("id-"):
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)

    def Delete(self, request: Any, context: Any) -> Any:
        note("Delete", request.name)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:
        note("Invoke")
        answer = provider_pb2.InvokeResponse()
        getattr(answer, "return").CopyFrom(request.args)
        return answer

    def Call(self, request: Any, context: Any) -> Any:
        note("Call")
        answer = provider_pb2.CallResponse()
        getattr(answer, "return")["count"] = len(request.args)
        answer.returnDependencies["count"].urns.append(str(request.args["__self__"]["urn"]))
        return answer

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()


NAMES = {True: "SOME", False: "NONE"}


def outputs(inputs: struct_pb2.Struct) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.CopyFrom(inputs)
    made["length"] = len(str(inputs["text"])) if "text" in inputs else 0
    return made


def serve() -> None:
    server = grpc.server(futures.ThreadPoolExecutor(16))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    server.wait_for_termination()


if __name__ == "__main__":
    serve()
