"""`fleet worker`: takes stacks, until it is told to end."""

from __future__ import annotations

import time

from maloko.fleet._commands.helpers import end, start_worker
from maloko.fleet._commands.request import Request, fleet_of
from maloko.fleet._commands.texts import say
from maloko.fleet._worker import Worker

_LOOK_SECONDS = 0.5


def run(asked: Request) -> int:
    """One worker in this process, or several in processes of their own."""
    queues = asked.get("queues") or ["default"]
    count = asked.get("processes") or 1
    if count == 1:
        worker = Worker(fleet_of(asked), queues=queues, slots=asked.get("slots") or 8)
        say(f"worker {worker.identity}: {asked.get('slots') or 8} stacks at a time at the queues {', '.join(queues)}")
        worker.run()
        return 0
    processes = [start_worker(asked["file"], queues, asked.get("slots")) for _ in range(count)]
    try:
        while all(process.poll() is None for process in processes):
            time.sleep(_LOOK_SECONDS)
    finally:
        # One that ends alone takes the others with it: whoever started this one starts it again.
        end(processes)
    return 1
