"""A language's host that makes SDKs: a file that says what it was given. A package `faulty` is refused."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2
from pulumi.runtime.proto.codegen import hcl_pb2, loader_pb2


def schema_from(loader, package):
    # The stub of the SDK for this service cannot be imported.
    with grpc.insecure_channel(loader) as channel:
        ask = channel.unary_unary(
            "/codegen.Loader/GetSchema",
            loader_pb2.GetSchemaRequest.SerializeToString,
            loader_pb2.GetSchemaResponse.FromString,
        )
        return ask(loader_pb2.GetSchemaRequest(package=package)).schema


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="9.9.9")

    def GeneratePackage(self, request, context):
        schema = json.loads(request.schema)
        folder = Path(request.directory, f"pulumi_{schema['name']}")
        folder.mkdir()
        folder.joinpath("half.py").write_text("")
        if schema["name"] == "faulty":
            told = hcl_pb2.Diagnostic(severity=hcl_pb2.DIAG_ERROR, summary="faulty package", detail="it is so")
            return language_pb2.GeneratePackageResponse(diagnostics=[told])
        again = json.loads(schema_from(request.loader_target, schema["name"]))
        told = {"version": schema["version"], "resources": [*again["resources"]], "local": request.local}
        Path(request.directory, "setup.py").write_text("")
        folder.joinpath("__init__.py").write_text(f"made = {told!r}\n")
        warning = hcl_pb2.Diagnostic(severity=hcl_pb2.DIAG_WARNING, summary="an old schema")
        return language_pb2.GeneratePackageResponse(diagnostics=[warning])


server = grpc.server(ThreadPoolExecutor())
language_pb2_grpc.add_LanguageRuntimeServicer_to_server(Host(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(port, flush=True)
server.wait_for_termination()
