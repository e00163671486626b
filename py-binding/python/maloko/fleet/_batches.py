"""How many stacks a worker is given at once: several where each takes a moment, for each giving costs the server."""

from __future__ import annotations

from collections import deque

from maloko.fleet._wire import Limits, StackEnd, StackSpec

MOST = 16
"""Stacks that a worker is given at once."""
SECONDS = 1.0
"""How long those take together, if they take as long as the last ones."""
_JUDGED_BY = 16
"""So many of the last stacks say how long one takes."""


class Batches:
    """Judges by the slowest of the last stacks, so that none waits behind a slow one where slow ones are about."""

    def __init__(self, limits: Limits) -> None:
        # A rate is a matter of single starts.
        self._has_rates = bool(limits["startsPerSecond"])
        self._seconds: deque[float] = deque(maxlen=_JUDGED_BY)

    def learn(self, end: StackEnd) -> None:
        """A stack has ended so."""
        if end["outcome"] in ("done", "unchanged"):
            self._seconds.append(end["seconds"])

    def size(self, ready: int, slots: int) -> int:
        """How many to give at once.

        :param ready: stacks that could begin, with the one that does
        :param slots: how many may be given out at a time: as long as that is not more, each goes by itself
        """
        if self._has_rates or len(self._seconds) < _JUDGED_BY:
            return 1
        by_time = int(SECONDS / max(*self._seconds, SECONDS / MOST))
        return max(min(by_time, ready // slots), 1)


def same_worker(one: StackSpec, other: StackSpec) -> bool:
    """Do the same workers take both?"""
    return (one["queue"], one["language"]) == (other["queue"], other["language"])
