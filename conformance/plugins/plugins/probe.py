"""A provider plugin for tests, on nothing but the pip packages `pulumi` and `grpcio`: raw messages, each field in hand.

    probe.py [--name NAME] [--version VERSION] [--flags a,b] ENGINE_ADDRESS

Flags: noHandshake, noSecrets, noResources, noOutputs, noBytes, noPreview, noAutonaming, noDiffConfig, noCheckConfig,
hangStart, exitStart, noPort, badPort, configureFails, missingKeys, quietCancel, watchEngine.
The outside world is a folder, `$PROBE_WORLD`: one file of JSON for each object.
"""

import base64
import json
import os
import signal
import sys
import threading
import time
from concurrent import futures
from pathlib import Path

import grpc
from google.protobuf import any_pb2, empty_pb2, json_format, struct_pb2
from google.rpc import status_pb2
from messages import engine_pb2, engine_pb2_grpc, plugin_pb2, provider_pb2_grpc, resource_status_pb2_grpc
from messages import provider_pb2 as p
from messages import resource_status_pb2 as s

SIG = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e"
BYTES = "803fd3297a5875dc03ca845dda5d2a98"
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


NAME = option("--name", "probe")
VERSION = option("--version", "1.0.0")
FLAGS = {it for flags in (option("--flags", ""), os.environ.get("PROBE_FLAGS", "")) for it in flags.split(",") if it}
WORLD = os.environ.get("PROBE_WORLD", "")
LIMIT = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", -1)]


def plain(struct):
    return json_format.MessageToDict(struct)


def packed(values):
    struct = struct_pb2.Struct()
    json_format.ParseDict(values, struct)
    return struct


def secret(value):
    return {SIG: SECRET, "value": value}


def bare(value):
    """Without the wrappers of secrets and outputs; what is unknown is the sentinel."""
    if isinstance(value, dict):
        if value.get(SIG) == SECRET:
            return bare(value["value"])
        if value.get(SIG) == OUTPUT:
            return bare(value.get("value", UNKNOWN))
        return {key: bare(item) for key, item in value.items()}
    return [bare(item) for item in value] if isinstance(value, list) else value


class EngineWatch:
    """Asks whether the engine is still there, at once and every 100 ms. Plugins of the Go SDK do so every five minutes.

    As they do, the plugin ends at any answer but SERVING and UNIMPLEMENTED.
    """

    SERVING = b"\x08\x01"

    def __init__(self, engine):
        self.check = grpc.insecure_channel(engine).unary_unary("/grpc.health.v1.Health/Check")
        self.answers, self.answered = 0, threading.Condition()
        threading.Thread(target=self.ask, daemon=True).start()

    def ask(self):
        while True:
            try:
                if self.check(b"") != self.SERVING:
                    os._exit(4)
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.UNIMPLEMENTED:
                    print(f"the engine is gone: {error.code()}", file=sys.stderr, flush=True)
                    os._exit(4)
            with self.answered:
                self.answers += 1
                self.answered.notify_all()
            time.sleep(0.1)

    def wait_for(self, more):
        """Waits for this many further answers of the engine."""
        with self.answered:
            enough = self.answers + more
            self.answered.wait_for(lambda: self.answers >= enough)


def part(name, value):
    return s.ViewStepState(type="probe:index:Part", name=name, inputs=packed({"value": value}), outputs=packed({}))


def tell_of_parts(request, wanted, *, fail=None):
    """Tells of the views of an object, by what the engine says of those that there were: the input `parts` by name."""
    if not request.resource_status_address:
        return
    had = {view.name: bare(plain(view.inputs))["value"] for view in getattr(request, "old_views", [])}
    steps = []
    for name in sorted({*had, *wanted}):
        step = s.ViewStep(type="probe:index:Part", name=name)
        verb = "CREATE" if name not in had else "DELETE" if name not in wanted else "UPDATE"
        step.op = s.ViewStep.Op.Value("SAME" if had.get(name) == wanted.get(name) else verb)
        if name in had:
            step.old.CopyFrom(part(name, had[name]))
        if name in wanted:
            step.new.CopyFrom(part(name, wanted[name]))
        if name == fail:
            step.error = "the part is broken"
        steps.append(step)
    if steps:
        told = s.PublishViewStepsRequest(token=request.resource_status_token, steps=steps)
        channel = grpc.insecure_channel(request.resource_status_address)
        resource_status_pb2_grpc.ResourceStatusStub(channel).PublishViewSteps(told)


class Probe(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, engine):
        self.engine = engine and engine_pb2_grpc.EngineStub(grpc.insecure_channel(engine))
        self.package, self.config, self.cancelled = NAME, {}, threading.Event()
        self.accepts = set()
        self.parameter = None
        self.watch = EngineWatch(engine) if "watchEngine" in FLAGS else None

    # What every call does first
    def act(self, method, urn, values, context):
        if values.get("noise"):
            print(f"a line on stdout in {method}", flush=True)
            print(f"a line on stderr in {method}", file=sys.stderr, flush=True)
        if values.get("log") and self.engine:
            for severity, text in enumerate(("debug", "info", "warning")):
                request = engine_pb2.LogRequest(severity=severity, message=f"{text} from {method}", urn=urn)
                self.engine.Log(request)
            self.engine.Log(engine_pb2.LogRequest(severity=1, message="passing by", urn=urn, ephemeral=True))
        if values.get("say") and self.engine:
            self.engine.Log(engine_pb2.LogRequest(severity=1, message=f"{method} got {values['say']}", urn=urn))
        if values.get("trace") and self.engine:
            told = dict(context.invocation_metadata())
            trace = " of ".join([told.get("traceparent", "no trace"), *filter(None, [told.get("tracestate")])])
            self.engine.Log(engine_pb2.LogRequest(severity=1, message=f"{method} is below {trace}", urn=urn))
        if values.get("crash") == method:
            print("about to crash", file=sys.stderr, flush=True)
            os._exit(3)
        if values.get("untilAnswers"):
            self.watch.wait_for(values["untilAnswers"])
        sleep = values.get("sleepIn", method) == method and values.get("sleep")
        if sleep and self.cancelled.wait(sleep):
            context.abort(grpc.StatusCode.CANCELLED, f"{method} was cancelled")
        if values.get("fail") == method:
            code = getattr(grpc.StatusCode, values.get("code", "UNKNOWN"))
            context.abort(code, f"{method} refused")

    def failed_init(self, context, id_, outputs, inputs=None):
        detail = p.ErrorResourceInitFailed(id=id_, properties=packed(outputs), reasons=["not ready", "still not ready"])
        if inputs is not None:
            detail.inputs.CopyFrom(packed(inputs))
        holder = any_pb2.Any()
        holder.Pack(detail, type_url_prefix="type.googleapis.com/")
        status = status_pb2.Status(code=2, message="did not start", details=[holder])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, "did not start")

    def outputs(self, inputs, id_, preview=False):
        hidden = {"__defaults", *bare(inputs).get("writeOnly", [])}
        result = {key: value for key, value in inputs.items() if key not in hidden}
        result["url"] = UNKNOWN if preview else f"http://{id_}"
        if "noSecrets" not in FLAGS:
            result["token"] = secret(f"token-{id_}") if not preview else UNKNOWN
        if "raw" in result and not preview:
            result["bytes"] = {SIG: BYTES, "value": result["raw"]}
        return result

    def path(self, id_):
        return Path(WORLD) / f"{id_}.json"

    def store(self, id_, inputs):
        if WORLD:
            # Whole or not at all, whenever the process is killed, and beside the world: tests list what is in there.
            new = Path(f"{WORLD}.{id_}.{threading.get_ident()}")
            new.write_text(json.dumps(inputs, sort_keys=True))
            new.replace(self.path(id_))

    # The plugin itself
    def Handshake(self, request, context):
        if "noHandshake" in FLAGS:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no handshake")
        return p.ProviderHandshakeResponse(
            accept_secrets="noSecrets" not in FLAGS,
            accept_resources="noResources" not in FLAGS,
            accept_outputs="noOutputs" not in FLAGS,
            accepts_byte_string="noBytes" not in FLAGS,
            supports_autonaming_configuration="noAutonaming" not in FLAGS,
        )

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version=VERSION)

    def Attach(self, request, context):
        self.engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(request.address))
        return empty_pb2.Empty()

    def Cancel(self, request, context):
        if "quietCancel" in FLAGS:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no cancel")
        self.cancelled.set()
        return empty_pb2.Empty()

    def Parameterize(self, request, context):
        if request.HasField("args"):
            self.package, version = request.args.args[0], VERSION
            self.parameter = " ".join(request.args.args).encode()
        else:
            self.package, version = request.value.name, request.value.version
            self.parameter = request.value.value
        return p.ParameterizeResponse(name=self.package, version=version)

    def GetSchema(self, request, context):
        text = {"type": "string"}
        thing = {
            "inputProperties": {"text": text, "size": {"type": "integer"}, "tags": {"type": "object"}},
            "requiredInputs": ["text"],
            "properties": {"text": text, "size": {"type": "integer"}, "url": text, "token": {**text, "secret": True}},
            "required": ["text", "url", "token"],
        }
        schema = {"name": self.package, "version": VERSION, "resources": {f"{self.package}:index:Thing": thing}}
        if self.parameter is not None:
            made = base64.b64encode(self.parameter).decode()
            schema["parameterization"] = {"baseProvider": {"name": NAME, "version": VERSION}, "parameter": made}
        return p.GetSchemaResponse(schema=json.dumps(schema))

    # Its configuration
    def CheckConfig(self, request, context):
        if "noCheckConfig" in FLAGS:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no CheckConfig")
        news = plain(request.news)
        failures = []
        if bare(news).get("region") == "nowhere":
            failures.append(p.CheckFailure(property="region", reason="there is no such region"))
        return p.CheckResponse(inputs=packed(news), failures=failures)

    def DiffConfig(self, request, context):
        if "noDiffConfig" in FLAGS:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no DiffConfig")
        olds, news = bare(plain(request.old_inputs)), bare(plain(request.news))
        diffs = sorted(key for key in {*olds, *news} if olds.get(key) != news.get(key))
        replaces = [key for key in diffs if key == "region"]
        changes = p.DiffResponse.DIFF_SOME if diffs else p.DiffResponse.DIFF_NONE
        return p.DiffResponse(changes=changes, diffs=diffs, replaces=replaces)

    def Configure(self, request, context):
        if "configureFails" in FLAGS:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the configuration is refused")
        if "missingKeys" in FLAGS:
            key = p.ConfigureErrorMissingKeys.MissingKey(name=f"{NAME}:region", description="where things are made")
            holder = any_pb2.Any()
            holder.Pack(p.ConfigureErrorMissingKeys(missingKeys=[key]))
            status = status_pb2.Status(code=3, message="keys are missing", details=[holder])
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "keys are missing")
        self.config = bare(plain(request.args))
        return p.ConfigureResponse(
            acceptSecrets="noSecrets" not in FLAGS,
            acceptResources="noResources" not in FLAGS,
            acceptOutputs="noOutputs" not in FLAGS,
            supportsPreview="noPreview" not in FLAGS,
            supports_autonaming_configuration="noAutonaming" not in FLAGS,
        )

    # Its resources
    def Check(self, request, context):
        news = plain(request.news)
        values = bare(news)
        self.act("check", request.urn, values, context)
        failures = []
        if isinstance(values.get("size"), (int, float)) and values["size"] < 0:
            failures.append(p.CheckFailure(property="size", reason="must not be negative"))
        if values.get("broken"):
            failures.append(p.CheckFailure(reason="as a whole it is broken"))
        if "color" not in news:
            news["color"] = "blue"
            news["__defaults"] = ["color"]
        if "fullName" not in news and values.get("autoname") and request.HasField("autonaming"):
            news["fullName"] = request.autonaming.proposed_name
        return p.CheckResponse(inputs=packed(news), failures=failures)

    def Diff(self, request, context):
        olds, news = bare(plain(request.old_inputs)), bare(plain(request.news))
        self.act("diff", request.urn, news, context)
        for key in ("__defaults", "fail", "crash", "sleep", "sleepIn", "noise", "log"):
            olds.pop(key, None)
            news.pop(key, None)
        ignored = set(request.ignoreChanges)
        diffs = sorted(key for key in {*olds, *news} if olds.get(key) != news.get(key) and key not in ignored)
        replaces = [key for key in diffs if key in ("size", "kind")]
        kinds = p.PropertyDiff.Kind
        detailed = {}
        for key in diffs:
            verb = "ADD" if key not in olds else "DELETE" if key not in news else "UPDATE"
            kind = kinds.Value(verb + ("_REPLACE" if key in replaces else ""))
            detailed[key] = p.PropertyDiff(kind=kind, inputDiff=True)
        return p.DiffResponse(
            changes=p.DiffResponse.DIFF_SOME if diffs else p.DiffResponse.DIFF_NONE,
            diffs=diffs,
            replaces=replaces,
            detailedDiff=detailed,
            hasDetailedDiff=True,
            deleteBeforeReplace=bool(news.get("fixedName")) and bool(replaces),
        )

    def Create(self, request, context):
        inputs = plain(request.properties)
        values = bare(inputs)
        tell_of_parts(request, values.get("parts", {}), fail=values.get("brokenPart"))
        if request.preview:
            return p.CreateResponse(id="", properties=packed(self.outputs(inputs, "", True)))
        name = request.urn.rsplit("::", 1)[-1]
        size = values.get("size")
        id_ = f"{self.config.get('region', 'here')}-{name}" + (f"-{size:g}" if isinstance(size, (int, float)) else "")
        if values.get("fail") == "init":
            self.store(id_, inputs)
            self.failed_init(context, id_, self.outputs(inputs, id_))
        self.act("create", request.urn, values, context)
        self.store(id_, inputs)
        if values.get("noId"):
            id_ = ""
        return p.CreateResponse(
            id=id_, properties=packed(self.outputs(inputs, id_)), refresh_before_update=bool(values.get("readFirst"))
        )

    def Read(self, request, context):
        inputs, state = plain(request.inputs), plain(request.properties)
        self.act("read", request.urn, {**bare(state), **bare(inputs)}, context)
        if not WORLD or not self.path(request.id).exists():
            return p.ReadResponse()
        real = json.loads(self.path(request.id).read_text())
        tell_of_parts(request, real.get("parts", {}))
        if real.get("echo"):
            return p.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)
        if "unhealthy" in real:
            self.failed_init(context, request.id, self.outputs(real, request.id), real)
        return p.ReadResponse(
            id=request.id,
            properties=packed(self.outputs(real, request.id)),
            inputs=packed(real),
            refresh_before_update=bool(real.get("readFirst")),
        )

    def Update(self, request, context):
        news = plain(request.news)
        values = bare(news)
        tell_of_parts(request, values.get("parts", {}), fail=values.get("brokenPart"))
        if request.preview:
            return p.UpdateResponse(properties=packed(self.outputs(news, request.id, True)))
        if values.get("fail") == "initUpdate":
            self.store(request.id, news)
            self.failed_init(context, request.id, self.outputs(news, request.id))
        self.act("update", request.urn, values, context)
        self.store(request.id, news)
        return p.UpdateResponse(
            properties=packed(self.outputs(news, request.id)), refresh_before_update=bool(values.get("readFirst"))
        )

    def Delete(self, request, context):
        self.act("delete", request.urn, bare(plain(request.old_inputs)), context)
        if not bare(plain(request.old_inputs)).get("quietParts"):
            tell_of_parts(request, {})
        held = plain(request.properties).get("bytes")
        if held and self.engine:
            text = f"delete got {base64.b64decode(held['value'])!r}"
            self.engine.Log(engine_pb2.LogRequest(severity=1, message=text, urn=request.urn))
        if WORLD:
            self.path(request.id).unlink(missing_ok=True)
        return empty_pb2.Empty()

    # Its functions
    def Invoke(self, request, context):
        arguments = plain(request.args)
        values = bare(arguments)
        function = request.tok.rsplit(":", 1)[-1]
        self.act("invoke", "", values, context)
        if function == "add":
            if "a" not in values:
                return p.InvokeResponse(failures=[p.CheckFailure(property="a", reason="is missing")])
            return p.InvokeResponse(**{"return": packed({"sum": values["a"] + values.get("b", 0)})})
        if function == "region":
            return p.InvokeResponse(**{"return": packed({"region": self.config.get("region", "none")})})
        if function == "hidden":
            return p.InvokeResponse(**{"return": packed({"value": secret("well kept"), "open": "for all"})})
        return context.abort(grpc.StatusCode.NOT_FOUND, f"no function {request.tok}")

    def Call(self, request, context):
        arguments = plain(request.args)
        self_ = arguments.get("__self__", {})
        unknown = UNKNOWN in json.dumps(arguments)
        text = UNKNOWN if unknown else f"{bare(arguments).get('prefix', '')}{self_.get('id', '')}"
        if request.tok.endswith("/fail"):
            context.abort(grpc.StatusCode.UNKNOWN, "the method failed")
        if request.tok.endswith("/refuse"):
            return p.CallResponse(failures=[p.CheckFailure(property="prefix", reason="is not nice")])
        return p.CallResponse(**{"return": packed({"text": text})})


def main():
    if "exitStart" in FLAGS:
        print("cannot start: no licence", file=sys.stderr, flush=True)
        sys.exit(7)
    if "hangStart" in FLAGS:
        time.sleep(3600)
    if "badPort" in FLAGS:
        print("hello", flush=True)
        time.sleep(3600)
    address = sys.argv[-1] if ":" in sys.argv[-1] else ""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=LIMIT)
    probe = Probe(address)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(probe, server)
    port = server.add_insecure_port(f"127.0.0.1:{option('--port', '0')}")
    server.start()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
