"""A plugin that stands in for another one, passes every call on and notes it.

Run as `tap.py NAME ENGINE_ADDRESS ...`. `$TAP_REAL` (JSON: name -> command line) says what really runs; `$TAP_LOG` is
appended to, a line of JSON when a call comes in and one when it is answered; who reads from the pipe `$TAP_NOTED`
hears of each. Knows only gRPC and the messages of the pip package `pulumi`, so it records any engine and any plugin
alike.
"""

import contextlib
import fcntl
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent import futures
from pathlib import Path

import grpc
from google.protobuf import empty_pb2, json_format
from google.rpc import status_pb2
from messages import plugin_pb2
from messages import provider_pb2 as p

MESSAGES = {
    "Handshake": (p.ProviderHandshakeRequest, p.ProviderHandshakeResponse),
    "Parameterize": (p.ParameterizeRequest, p.ParameterizeResponse),
    "GetSchema": (p.GetSchemaRequest, p.GetSchemaResponse),
    "CheckConfig": (p.CheckRequest, p.CheckResponse),
    "DiffConfig": (p.DiffRequest, p.DiffResponse),
    "Configure": (p.ConfigureRequest, p.ConfigureResponse),
    "Invoke": (p.InvokeRequest, p.InvokeResponse),
    "Call": (p.CallRequest, p.CallResponse),
    "Check": (p.CheckRequest, p.CheckResponse),
    "Diff": (p.DiffRequest, p.DiffResponse),
    "Create": (p.CreateRequest, p.CreateResponse),
    "Read": (p.ReadRequest, p.ReadResponse),
    "Update": (p.UpdateRequest, p.UpdateResponse),
    "Delete": (p.DeleteRequest, empty_pb2.Empty),
    "Construct": (p.ConstructRequest, p.ConstructResponse),
    "Cancel": (empty_pb2.Empty, empty_pb2.Empty),
    "GetPluginInfo": (empty_pb2.Empty, plugin_pb2.PluginInfo),
    "Attach": (plugin_pb2.PluginAttach, empty_pb2.Empty),
    "GetMapping": (p.GetMappingRequest, p.GetMappingResponse),
    "GetMappings": (p.GetMappingsRequest, p.GetMappingsResponse),
}
LIMIT = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", -1)]
lock = threading.Lock()


def note(entry):
    path = os.environ.get("TAP_LOG")
    if path:
        with lock, Path(path).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json.dumps(entry, sort_keys=True) + "\n")
        tell()


def tell():
    """Tells `$TAP_NOTED`, a pipe, that something was noted, if somebody reads from it."""
    with contextlib.suppress(KeyError, OSError):
        pipe = os.open(os.environ["TAP_NOTED"], os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(pipe, b".")
        finally:
            os.close(pipe)


def readable(kind, data):
    try:
        return json_format.MessageToDict(kind.FromString(data), preserving_proto_field_name=False)
    except Exception as error:
        return {"undecodable": repr(error)}


class Tap(grpc.GenericRpcHandler):
    def __init__(self, name, channel):
        self.name, self.channel, self.count = name, channel, 0

    def service(self, details):
        rpc = details.method.rsplit("/", 1)[-1]
        if not details.method.startswith("/pulumirpc.ResourceProvider/"):
            return None

        def call(data, context):
            with lock:
                self.count += 1
                number = self.count
            kinds = MESSAGES.get(rpc)
            head = {"plugin": self.name, "pid": os.getpid(), "n": number, "rpc": rpc}
            note({**head, "at": "call", "request": readable(kinds[0], data) if kinds else None})
            forward = self.channel.unary_unary(details.method)
            try:
                answer = forward(data)
            except grpc.RpcError as error:
                detail = None
                for key, value in error.trailing_metadata() or ():
                    if key == "grpc-status-details-bin":
                        status = status_pb2.Status.FromString(value)
                        detail = [{"type": any_.type_url, "size": len(any_.value)} for any_ in status.details]
                        for i, any_ in enumerate(status.details):
                            if any_.type_url.endswith("ErrorResourceInitFailed"):
                                detail[i] = {"type": any_.type_url, **readable(p.ErrorResourceInitFailed, any_.value)}
                        context.set_trailing_metadata(((key, value),))
                note({**head, "at": "error", "code": error.code().name, "message": error.details(), "details": detail})
                context.set_code(error.code())
                context.set_details(error.details())
                return b""
            note({**head, "at": "done", "response": readable(kinds[1], answer) if kinds else None})
            return answer

        return grpc.unary_unary_rpc_method_handler(call)


def main():
    name = sys.argv[1]
    command = json.loads(os.environ["TAP_REAL"])[name]
    real = subprocess.Popen([*command, *sys.argv[2:]], stdout=subprocess.PIPE)
    # Only what is passed on is passed on: signals of the group reach the child by themselves.
    line = real.stdout.readline()
    if not line.strip().isdigit():
        signal.signal(signal.SIGINT, lambda *_: real.kill())
        signal.signal(signal.SIGTERM, lambda *_: real.kill())
        for rest in itertools.chain([line], iter(real.stdout.readline, b"")):
            sys.stdout.buffer.write(rest)
            sys.stdout.buffer.flush()
        sys.exit(real.wait() or 1)
    note({"plugin": name, "pid": os.getpid(), "at": "started", "arguments": len(sys.argv) - 2})

    def relay():
        for rest in real.stdout:
            sys.stdout.buffer.write(rest)
            sys.stdout.buffer.flush()
        code = real.wait()
        note({"plugin": name, "pid": os.getpid(), "at": "ended", "code": code})
        os._exit(code if code >= 0 else 128 - code)

    channel = grpc.insecure_channel(f"127.0.0.1:{int(line)}", options=LIMIT)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=LIMIT)
    server.add_generic_rpc_handlers((Tap(name, channel),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    signal.signal(signal.SIGINT, lambda *_: real.send_signal(signal.SIGINT))
    signal.signal(signal.SIGTERM, lambda *_: real.send_signal(signal.SIGTERM))
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    relay()


if __name__ == "__main__":
    main()
