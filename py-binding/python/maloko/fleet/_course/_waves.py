"""Which wave of a run goes on, and when the next one may begin; times are seconds."""

from __future__ import annotations

from collections.abc import Sequence

from maloko.fleet._wire import CourseState, Wave


class Waves:
    """The waves of a run; stacks are named by their places in its plan."""

    def __init__(self, waves: Sequence[Wave], now: float) -> None:
        self._waves = waves
        self._at = -1
        self._left = 0
        self._begun: set[int] = set()
        self.begins = now + (waves[0]["pause"] if waves else 0.0)
        """When the next one may begin, or when the last one could."""

    @property
    def at(self) -> int:
        """The one that goes on, from 0; -1 before the first."""
        return self._at

    @property
    def following(self) -> Wave | None:
        """The one that comes next, where this one is over."""
        return self._waves[self._at + 1] if self._left == 0 and self._at + 1 < len(self._waves) else None

    def begin(self) -> int:
        """The next one begins; gives which it is."""
        self._at += 1
        return self._at

    def enter(self, place: int) -> None:
        """A stack of the wave that goes on, which has not ended."""
        self._begun.add(place)
        self._left += 1

    def has_begun(self, place: int) -> bool:
        """Has the wave of a stack begun?"""
        return place in self._begun

    def leave(self, place: int) -> None:
        """A stack has ended."""
        self._left -= place in self._begun

    def settle(self, now: float) -> None:
        """Stacks have ended, or a wave has begun: where that was the last of the wave, the next one has its time."""
        following = self.following
        if following is not None:
            self.begins = now + following["pause"]

    def go_on_from(self, state: CourseState) -> None:
        """As an earlier history of the run has left them."""
        self._at, self.begins = state["wave"], state["waveBegins"]
