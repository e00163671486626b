"""`fleet dev`: a server for tries, and two workers, until Ctrl-C."""

from __future__ import annotations

import os
import time

from maloko.fleet._commands.dev_server import DevServer, place_of_server
from maloko.fleet._commands.helpers import start_worker, warn_of_environment
from maloko.fleet._commands.kept_workers import KeptWorkers
from maloko.fleet._commands.request import Request, fleet_of
from maloko.fleet._commands.texts import say
from maloko.fleet._ends import FleetError
from maloko.fleet._signals import uninterrupted

_WORKERS = 2
_LOOK_SECONDS = 0.3


def run(asked: Request) -> int:
    """Runs until Ctrl-C, or until the server ends. A worker that ends is followed by another."""
    plan = fleet_of(asked).plan("up")
    engine, ui_port = place_of_server(asked, plan["engine"])
    server = DevServer(engine, ui_port)
    kept: KeptWorkers | None = None
    try:
        server.wait_until_ready()
        # Workers without an engine in their file find it by Temporal's own variable.
        os.environ["TEMPORAL_ADDRESS"] = engine["address"]
        queues = sorted({stack["queue"] for stack in plan["stacks"]})
        warn_of_environment(plan, queues)
        kept = KeptWorkers(_WORKERS, lambda: start_worker(asked["file"], queues, asked.get("slots")))
        say(
            f"server {engine['address']} · its page http://127.0.0.1:{ui_port} · {_WORKERS} workers · "
            "Ctrl-C ends all of it"
        )
        if plan["engine"] is None and asked.get("port"):
            say(f"commands find it with TEMPORAL_ADDRESS={engine['address']}, or by `engine` in the fleet's file")
        while True:
            time.sleep(_LOOK_SECONDS)
            server.look()
            kept.look()
    except FleetError as error:
        # Workers without a server take their time to end.
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("\nending")
        return 0
    finally:
        with uninterrupted():
            if kept is not None:
                kept.end()
            server.end()
