"""Starts commands in milliseconds: forked off a Python that has loaded what every program loads.

What runs is a process like another one: it has its own standard streams, environment and directory, and can be killed.
It has only not spent half a second on loading the SDK. In the long form (`MALOKO_LONG`) commands are started anew; so
they are wherever a variable counts while Python or the SDK is loaded.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

SERVER = Path(__file__).with_name("warm_server.py")
COUNTS_WHILE_LOADING = (
    "PYTHON",
    "LC_",
    "LANG",
    "TZ",
    "GRPC_",
    "OTEL_",
    "PULUMI_OTEL_",
    "TRACEPARENT",
    "COVERAGE",
    "LD_",
)
EXCEPT = ("PYTHONFAULTHANDLER", "PYTHONPATH", "OTEL_EXPORTER_OTLP_ENDPOINT")


def counts_while_loading(environment: Mapping[str, str]) -> bool:
    """Does a variable of this environment count while Python and the SDK are loaded, and differ from ours?"""
    names = environment.keys() | os.environ.keys()
    return has_start_module(environment) or any(
        name.startswith(COUNTS_WHILE_LOADING) and name not in EXCEPT and environment.get(name) != os.environ.get(name)
        for name in names
    )


def has_start_module(environment: Mapping[str, str]) -> bool:
    """Does `PYTHONPATH` bring code that runs when Python starts?"""
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    return any(Path(folder, "sitecustomize.py").exists() for folder in folders if folder)


class WarmProcess:
    """A process that was forked off: what tests use of `subprocess.Popen`."""

    stdin = None

    def __init__(
        self, connection: socket.socket, words: Sequence[str], cwd: Path, env: Mapping[str, str], streams: list[int]
    ) -> None:
        self.args = words
        self.returncode: int | None = None
        self._connection = connection
        text = json.dumps([words, str(cwd), dict(env)]).encode() + b"\n"
        sent = socket.send_fds(connection, [text], streams)
        # Not with nothing left: a command that has ended by now has closed the connection.
        if rest := text[sent:]:
            connection.sendall(rest)
        self.pid = self._number()

    def _number(self) -> int:
        text = b""
        while not text.endswith(b"\n"):
            piece = self._connection.recv(1)
            assert piece, f"what forks off {self.args} has ended"
            text += piece
        return int(text)

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = self._number()
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


Process = WarmProcess | subprocess.Popen[str]


class WarmPython:
    """The server of a worker, which is started when it is first asked."""

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._lock = threading.Lock()
        self._address = ""

    def _connected(self) -> socket.socket:
        with self._lock:
            if not self._address:
                self._address = self._start()
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        return connection

    def _start(self) -> str:
        directory = tempfile.TemporaryDirectory(prefix="maloko-warm-")
        address = str(Path(directory.name) / "socket")
        # It ends when its standard input does.
        server = subprocess.Popen(
            [sys.executable, str(SERVER), address, *self._modules],
            # Nothing of ours: each command brings its own.
            env={name: value for name, value in os.environ.items() if not name.startswith(("PULUMI", "MALOKO"))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"

        def end() -> None:
            server.communicate()
            directory.cleanup()

        atexit.register(end)
        return address

    def start(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], stdout: IO[str], stderr: IO[str]
    ) -> WarmProcess:
        """Starts `python -m WORDS`."""
        with Path(os.devnull).open() as nothing:
            return WarmProcess(self._connected(), words, cwd, env, [it.fileno() for it in (nothing, stdout, stderr)])


OF_PROGRAMS = (
    "maloko._command_line.late_host",
    "maloko._providers.configured",
    "maloko._providers.registry",
    "maloko._run.host",
    "maloko._run.program",
    "maloko._run.quiet",
)
"""What every run of a program loads."""

OF_COMMANDS = WarmPython(*OF_PROGRAMS)
OF_FLEETS = WarmPython(
    *OF_PROGRAMS,
    *(f"maloko.fleet._commands.{name}" for name in ("adopt", "dev", "past", "schedules", "start", "steer", "watch")),
    "maloko.fleet._worker",
)
OF_TEST_RUNS = WarmPython("maloko._run.program", "pytest")


def server_for(module: Sequence[str]) -> WarmPython:
    """The one that has loaded what `python -m MODULE` loads."""
    if module[0] == "pytest":
        return OF_TEST_RUNS
    return OF_FLEETS if list(module[:2]) == ["maloko", "fleet"] else OF_COMMANDS


def start(words: Sequence[str], cwd: Path, env: Mapping[str, str], stdout: IO[str], stderr: IO[str]) -> Process:
    """Starts a command, without anything to read, with these outputs."""
    python, *module = words
    if module[0] == "-m":
        del module[0]
    else:
        module[0] = module[0].removeprefix("-m")
    if python != sys.executable or os.environ.get("MALOKO_LONG") or counts_while_loading(env):
        return subprocess.Popen(
            words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, text=True
        )
    return server_for(module).start(module, cwd, env, stdout, stderr)


def start_in_pytester(words: Sequence[str], stdout: IO[str], stderr: IO[str], **_: object) -> Process:
    """Stands for `Pytester.popen`."""
    here = Path.cwd()
    path = os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH", "")]))
    return start([str(it) for it in words], here, {**os.environ, "PYTHONPATH": path}, stdout, stderr)
