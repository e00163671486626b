"""The time of a stack."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maloko._maloko import TestStack


class Clock:
    """The time by which the engine goes: limits of calls, spacing of calls, leases, times in the state.

    It stands still, but for two things: `advance`, and calls that only wait (hanging or delayed by a fault, or spaced
    by `min_interval`), for which it is moved at once.
    """

    def __init__(self, state: TestStack) -> None:
        self._state = state

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Lets time pass. May be called while a run goes on, from a provider method too."""
        self._state.advance(timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds())

    @property
    def elapsed(self) -> timedelta:
        """The time since the stack was made."""
        return timedelta(seconds=self._state.elapsed)
