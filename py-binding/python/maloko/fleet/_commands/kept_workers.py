"""Workers in processes of their own: where one ends, another takes its place."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

from maloko.fleet._commands.helpers import end, start_worker, warn_of_environment
from maloko.fleet._commands.request import Request
from maloko.fleet._commands.texts import say
from maloko.fleet._ends import FleetError
from maloko.fleet._signals import uninterrupted
from maloko.fleet._wire import Plan

_STDERR = 2
_EARLY_SECONDS = 10.0
"""A worker that ends so soon after its start may be one that cannot work."""
_MAX_EARLY_ENDS = 3
"""After so many of them in a row nothing is started any more."""


class KeptWorkers:
    """So many workers, until they are told to end.

    :param begin: starts one
    """

    def __init__(self, count: int, begin: Callable[[], subprocess.Popen[bytes]]) -> None:
        self._begin = begin
        self._early_ends = 0
        self._workers: list[tuple[subprocess.Popen[bytes], float]] = []
        for _ in range(count):
            self._start()

    def look(self) -> None:
        """Says which ones have ended since the last look, and starts others in their places.

        :raises FleetError: when they end again and again right after their start
        """
        for worker, began in list(self._workers):
            if worker.poll() is None:
                continue
            self._workers.remove((worker, began))
            self._early_ends = self._early_ends + 1 if time.monotonic() - began < _EARLY_SECONDS else 0
            if self._early_ends == _MAX_EARLY_ENDS:
                raise FleetError(
                    f"workers ended {_MAX_EARLY_ENDS} times within {_EARLY_SECONDS:.0f} s of their start; the last was "
                    f"process {worker.pid}, which {how_it_ended(worker)}\n"
                    "What they wrote above says why: mend it, and start this command again"
                )
            other = self._start()
            say(f"warning: a worker, process {worker.pid}, {how_it_ended(worker)}: process {other.pid} takes its place")

    def end(self) -> None:
        """Ends them in order."""
        with uninterrupted():
            end([worker for worker, _ in self._workers])

    def _start(self) -> subprocess.Popen[bytes]:
        worker = self._begin()
        self._workers.append((worker, time.monotonic()))
        return worker


@contextlib.contextmanager
def workers(asked: Request, plan: Plan) -> Iterator[Callable[[], None]]:
    """The workers that a run was asked to have here (`--workers N`), for its time; gives what looks after them."""
    count = asked.get("workers") or 0
    queues = sorted({stack["queue"] for stack in plan["stacks"]})
    if count:
        warn_of_environment(plan, queues)
    # What programs print is no part of what the command prints.
    kept = KeptWorkers(count, lambda: start_worker(asked["file"], queues, None, _STDERR))
    try:
        yield kept.look
    finally:
        kept.end()


def how_it_ended(process: subprocess.Popen[bytes]) -> str:
    """What a sentence says of a process that has ended, such as `was ended by SIGKILL`."""
    code = process.returncode
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
