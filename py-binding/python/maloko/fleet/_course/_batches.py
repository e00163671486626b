"""How many stacks a worker is given at once: several where each takes a moment, for each giving costs the server."""

from __future__ import annotations

import math
from collections import deque

from maloko.fleet._wire import Limits, StackEnd, StackSpec, is_success

SECONDS = 1.0
"""How long the stacks that a worker is given at once take together, if they take as long as the last ones."""
MOST = 16
"""Stacks that a worker is given at once."""
_QUICK = SECONDS / 4
"""A stack is quick up to here: nobody minds waiting behind it."""
_JUDGED_BY = 16
"""So many of the last stacks say how long one takes."""
_SLOTS_JUDGED_BY = 64
"""So many say how many are at work at a time."""


class Batches:
    """Judges by the slowest of the last stacks, so that none waits behind a slow one where slow ones are about. Where
    all are quick, some are so only because they had a processor to themselves: then it judges by the median.

    Times are seconds.
    """

    def __init__(self, limits: Limits) -> None:
        # A rate is a matter of single starts.
        self._has_rates = bool(limits["startsPerSecond"])
        self._learned = 0
        self._seconds: deque[float] = deque(maxlen=_JUDGED_BY)
        self._ended: deque[tuple[float, float]] = deque(maxlen=_SLOTS_JUDGED_BY)
        """When each of the last ones ended, and how long it took."""

    def learn(self, end: StackEnd, now: float | None) -> None:
        """A stack has ended so; `None`: before this history of the run."""
        if is_success(end["outcome"]):
            self._learned += 1
            self._seconds.append(end["seconds"])
            if now is not None:
                self._ended.append((now, end["seconds"]))

    def size(self, ready: int, slots: int, now: float) -> int:
        """How many to give at once.

        :param ready: stacks that could begin, with the one that does
        :param slots: how many may be given out at a time
        """
        trusted = self._learned // 2
        if self._has_rates or trusted < 2:
            return 1
        by_time = int(SECONDS / max(self._usual(), SECONDS / MOST))
        share = int(ready / min(slots, self._at_work(now)))
        return max(min(trusted, by_time, share), 1)

    def _usual(self) -> float:
        """How long a stack takes. No mean: what is decided is the same wherever it is replayed, to the last bit."""
        quickest_first = sorted(self._seconds)
        return quickest_first[len(quickest_first) // 2 if quickest_first[-1] <= _QUICK else -1]

    def _at_work(self, now: float) -> float:
        """How many were at work at a time, as the last ends show; workers may have fewer slots than limits allow."""
        since = self._ended[0][0] if self._ended else now
        # What ended in the first moment was worked on before it.
        worked = sum(seconds for at, seconds in self._ended if at > since)
        return max(math.ceil(worked / (now - since)), 1) if worked and now > since else math.inf


def is_for_same_workers(one: StackSpec, other: StackSpec) -> bool:
    """Do the same workers take both?"""
    return (one["queue"], one["language"]) == (other["queue"], other["language"])
