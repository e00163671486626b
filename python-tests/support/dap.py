"""As much of a debugger's front end as a test needs: the Debug Adapter Protocol over a socket."""

import json
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

SECONDS = 120


class Client:
    """Attaches to a process that listens with debugpy, and lets it go on at every stop."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self._stream = self._socket.makefile("rwb")
        self._number = 0
        self._waiting: list[dict[str, Any]] = []

    @classmethod
    def when_it_listens(cls, told: Path, process: subprocess.Popen[Any]) -> "Client":
        """Connects as soon as the process has written, with an end of line, on which port it takes connections."""
        end = time.monotonic() + SECONDS
        while not told.exists() or not told.read_text().endswith("\n"):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        return cls(int(told.read_text()))

    def attach(self, file: Path, lines: list[int]) -> None:
        """Sets breakpoints, and lets the process begin."""
        self._ask("initialize", adapterID="maloko", pathFormat="path", linesStartAt1=True)
        attach = self._send("attach", justMyCode=False)
        self._event("initialized")
        breakpoints = [{"line": line} for line in lines]
        self._ask("setBreakpoints", source={"path": str(file)}, breakpoints=breakpoints)
        self._ask("configurationDone")
        self._answer(attach)

    def stops(self) -> list[str]:
        """Goes on at every stop, until the process ends; gives the functions in which it stopped."""
        functions = []
        while (event := self._event("stopped", "terminated"))["event"] == "stopped":
            thread = event["body"]["threadId"]
            frames = self._ask("stackTrace", threadId=thread, levels=1)["body"]["stackFrames"]
            functions.append(frames[0]["name"].rpartition(".")[2])
            self._ask("continue", threadId=thread)
        return functions

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def _ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self._answer(self._send(command, **arguments))

    def _send(self, command: str, **arguments: Any) -> int:
        self._number += 1
        message = {"seq": self._number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._stream.flush()
        return self._number

    def _answer(self, number: int) -> dict[str, Any]:
        answer = self._next(lambda it: it["type"] == "response" and it["request_seq"] == number)
        assert answer["success"], answer
        return answer

    def _event(self, *names: str) -> dict[str, Any]:
        return self._next(lambda it: it["type"] == "event" and it["event"] in names)

    def _next(self, wanted: Any) -> dict[str, Any]:
        for message in self._waiting:
            if wanted(message):
                self._waiting.remove(message)
                return message
        while True:
            message = self._read()
            if wanted(message):
                return message
            self._waiting.append(message)

    def _read(self) -> dict[str, Any]:
        length = 0
        while (line := self._stream.readline().strip()) or not length:
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
            elif not line:
                raise EOFError("the process has closed the connection")
        message: dict[str, Any] = json.loads(self._stream.read(length))
        return message
