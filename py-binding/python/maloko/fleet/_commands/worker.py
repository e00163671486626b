"""`fleet worker`: takes stacks, until it is told to end."""

from __future__ import annotations

import logging
import time

from maloko.fleet._commands.helpers import start_worker, warn_of_environment, warn_of_queues
from maloko.fleet._commands.kept_workers import KeptWorkers
from maloko.fleet._commands.request import Request, fleet_of

_LOOK_SECONDS = 0.5


def run(asked: Request) -> int:
    """One worker in this process, or several in processes of their own."""
    fleet = fleet_of(asked)
    plan = fleet.plan("up")
    queues = asked.get("queues") or ["default"]
    warn_of_queues(plan, queues)
    warn_of_environment(plan, queues)
    count = asked.get("processes") or 1
    if count == 1:
        from maloko.fleet._worker import Worker

        _log_stacks()
        Worker(fleet, queues=queues, slots=asked.get("slots") or 8).run()
        return 0
    kept = KeptWorkers(count, lambda: start_worker(asked["file"], queues, asked.get("slots")))
    try:
        while True:
            time.sleep(_LOOK_SECONDS)
            kept.look()
    except KeyboardInterrupt:
        return 0
    finally:
        kept.end()


def _log_stacks() -> None:
    """A line when it is ready, and for each stack that begins or ends; the SDK's own tell of what is a result here."""
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("maloko.fleet").setLevel(logging.INFO)
    logging.getLogger("temporalio").setLevel(logging.CRITICAL)
