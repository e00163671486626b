"""The probe plugin, which serves packages that extend its own, too. Both languages' tests start it.

Such a package, made of its name, has one type and one function. The plugin refuses what is of a package that it was not
extended by. Each call is written down in the world's file `.calls`, with the process that took it.
"""

import base64
import json
import os
import sys
from pathlib import Path

import grpc

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance" / "plugins" / "plugins"))

import probe
from messages import provider_pb2 as p

VERSION = "2.5.0"


class Extending(probe.Probe):
    def __init__(self, engine):
        super().__init__(engine)
        self.extensions = {probe.NAME: b""}

    def note(self, method, **told):
        with (Path(probe.WORLD) / ".calls").open("a") as calls:
            calls.write(json.dumps({"method": method, "process": os.getpid(), **told}) + "\n")

    def act(self, method, urn, values, context):
        if urn:
            self.guard(method, urn.split("::")[2].rsplit("$", 1)[-1], context)
        super().act(method, urn, values, context)

    def guard(self, method, token, context):
        self.note(method, token=token)
        package = token.split(":")[0]
        if package not in self.extensions:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"it was not extended by {package}")

    def Parameterize(self, request, context):
        if request.HasField("args"):
            (name,), version, value = request.args.args, VERSION, f"what {request.args.args[0]} is".encode()
        else:
            name, version, value = request.value.name, request.value.version, request.value.value
            self.note("parameterize", name=name, value=value.decode())
        if name == "forbidden":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "there is no such thing")
        self.extensions[name] = value
        return p.ParameterizeResponse(name="other" if name == "swapped" else name, version=version)

    def GetSchema(self, request, context):
        name = request.subpackage_name or probe.NAME
        text = {"type": "string"}
        thing = {"inputProperties": {"text": text}, "properties": {"text": text, "url": text}}
        region = {"outputs": {"type": "object", "properties": {"region": text}, "required": ["region"]}}
        schema = {
            "name": name,
            "version": request.subpackage_version or probe.VERSION,
            "resources": {f"{name}:index:Thing": thing},
            "provider": {"inputProperties": {"region": text}},
            "functions": {f"{name}:index:region": region},
        }
        if name in self.extensions and name != probe.NAME:
            schema["extensionParameterization"] = {
                "baseProvider": {"name": probe.NAME, "version": probe.VERSION},
                "parameter": base64.b64encode(self.extensions[name]).decode(),
            }
        return p.GetSchemaResponse(schema=json.dumps(schema))

    def Invoke(self, request, context):
        self.guard("invoke", request.tok, context)
        return super().Invoke(request, context)


if __name__ == "__main__":
    probe.Probe = Extending
    probe.main()
