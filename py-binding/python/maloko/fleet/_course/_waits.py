"""Which stacks of a run wait for a time: after a failure, or for the next start that a rate allows."""

from __future__ import annotations

import heapq
from collections.abc import Iterable


class Waits:
    """Until when stacks wait; they are named by their places in the plan, and times are seconds."""

    def __init__(self) -> None:
        self._all: list[tuple[float, int]] = []
        self._retrying: dict[int, float] = {}
        self._turns: dict[int, float] = {}

    @property
    def next(self) -> float | None:
        """When the first wait is over."""
        return self._all[0][0] if self._all else None

    @property
    def retrying(self) -> list[tuple[float, int]]:
        """Those whose provider failed, the first one first."""
        return _in_order(self._retrying)

    @property
    def turns(self) -> list[tuple[float, int]]:
        """Those whose start a rate has put off; once the wait is over, a limit may still hold them up."""
        return _in_order(self._turns)

    def retries(self, place: int, at: float) -> None:
        """A stack is tried again then."""
        self._retrying[place] = at
        heapq.heappush(self._all, (at, place))

    def takes_turn(self, place: int, at: float) -> None:
        """A stack may begin then."""
        self._turns[place] = at
        heapq.heappush(self._all, (at, place))

    def has_turn(self, place: int) -> bool:
        """Was its start put off already?"""
        return place in self._turns

    def over(self, now: float) -> Iterable[int]:
        """Takes out those whose wait is over."""
        while self._all and self._all[0][0] <= now:
            yield heapq.heappop(self._all)[1]

    def leave(self, place: int) -> None:
        """A stack begins, or has ended."""
        self._retrying.pop(place, None)
        self._turns.pop(place, None)

    def go_on_from(self, retrying: dict[int, float], turns: dict[int, float]) -> None:
        """As an earlier history of the run has left them."""
        self._retrying, self._turns = retrying, turns
        # One that was tried again and then put off waits for its turn alone.
        self._all = [(at, place) for place, at in {**retrying, **turns}.items()]
        heapq.heapify(self._all)


def _in_order(places: dict[int, float]) -> list[tuple[float, int]]:
    return sorted((at, place) for place, at in places.items())
