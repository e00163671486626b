"""A plugin that stands before another one, and cuts one call off: what users have when a plugin's process dies.

Run as `cut.py COMMAND... ENGINE_ADDRESS`. `$CUT` says where, as `Create:answer`. Both processes end at once

* `Create:request`: when the call comes, before the plugin has it;
* `Create:answer`: when the plugin has done it, before its answer leaves;
* `Create:end`: when the answer has left.

With `$SPOIL` in place of it, as `Create:signature`, the answer to a call is spoilt: `garbage` is no message,
`signature` has a value of a kind that nobody knows, `field` has a member that nobody knows, `large` has a text of 300
MiB among its properties, `deep99` has a text in 99 objects. What has such objects already sends them with `Delete`.
"""

import os
import subprocess
import sys
import threading
from concurrent import futures

import grpc
from messages import provider_pb2 as p

LIMIT = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", -1)]
ANSWERS = {"Create": p.CreateResponse, "Update": p.UpdateResponse, "Read": p.ReadResponse}
MEBIBYTES = 300


def sized(tag, data):
    """A field of a message, in bytes."""
    length, size = len(data), b""
    while length > 127:
        size += bytes([length & 127 | 128])
        length >>= 7
    return bytes([tag]) + size + bytes([length]) + data


def deep(levels):
    """The properties `{deep: {deep: ...}}`, in bytes: Python's own library does not write as many levels."""
    value = sized(0x1A, b"text")
    for _ in range(levels):
        value = sized(0x2A, member(value))
    return member(value)


def member(value):
    """The properties `{deep: value}`."""
    return sized(0x0A, sized(0x0A, b"deep") + sized(0x12, value))


def without(data, part):
    """A message without the fields that hold a part: Python's own library reads no more levels than it writes."""
    kept, place = b"", 0
    while place < len(data):
        start = place
        key, place = number(data, place)
        wire_type = key & 7
        if wire_type == 2:
            size, place = number(data, place)
            place += size
        elif wire_type == 0:
            _, place = number(data, place)
        else:
            place += 8 if wire_type == 1 else 4
        if part not in data[start:place]:
            kept += data[start:place]
    return kept


def number(data, place):
    """The number at a place of a message, and the place behind it."""
    value, shift = 0, 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


class Cut(grpc.GenericRpcHandler):
    """Passes every call on, but for the one that is cut off."""

    def __init__(self, real: subprocess.Popen[bytes], channel: grpc.Channel) -> None:
        self.real, self.channel = real, channel
        self.method, _, self.point = os.environ.get("CUT", ":").partition(":")
        self.spoilt, _, self.how = os.environ.get("SPOIL", ":").partition(":")
        self.deep = deep(int(self.how[4:])) if self.how.startswith("deep") else b""

    def die(self) -> None:
        self.real.kill()
        os._exit(9)

    def service(self, details):
        method = details.method.rsplit("/", 1)[-1]
        cut = self.point if method == self.method else ""

        def call(data, context):
            if cut == "request":
                self.die()
            if self.deep and method == "Delete":
                if self.deep not in data:
                    return context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the objects in objects are not sent")
                data = without(data, self.deep)
            try:
                answer = self.channel.unary_unary(details.method)(data)
            except grpc.RpcError as error:
                if cut == "answer":
                    self.die()
                context.set_trailing_metadata(error.trailing_metadata() or ())
                return context.abort(error.code(), error.details())
            if cut == "answer":
                self.die()
            if cut == "end":
                # The answer is written when this has returned.
                context.add_callback(lambda: threading.Thread(target=self.die).start())
            return self.spoil(answer, ANSWERS[method]) if method == self.spoilt else answer

        return grpc.unary_unary_rpc_method_handler(call)

    def spoil(self, data, kind):
        if self.how == "garbage":
            return b"\xff" * 20
        answer = kind.FromString(data)
        if self.how == "signature":
            answer.properties["odd"] = {"4dabf18193072939515e22adb298388d": "nobody knows this"}
        if self.how == "large":
            answer.properties["large"] = "x" * (MEBIBYTES << 20)
        spoilt = answer.SerializeToString()
        if self.deep:
            return spoilt + sized(0x12, self.deep)
        # Field 99, a text of one letter.
        return spoilt + b"\x9a\x06\x01x" if self.how == "field" else spoilt


def main() -> None:
    real = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
    line = real.stdout.readline()
    channel = grpc.insecure_channel(f"127.0.0.1:{int(line)}", options=LIMIT)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=LIMIT)
    server.add_generic_rpc_handlers((Cut(real, channel),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    os._exit(real.wait() & 255)


if __name__ == "__main__":
    main()
