"""Which stacks of a run wait for which others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from maloko.fleet._wire import StackSpec


class Needs:
    """The order of a run; stacks are named by their places in its plan."""

    def __init__(self, stacks: Sequence[StackSpec]) -> None:
        self._place = {stack["id"]: place for place, stack in enumerate(stacks)}
        self._unmet = [0] * len(stacks)
        self._dependents: list[list[int]] = [[] for _ in stacks]
        for place, stack in enumerate(stacks):
            for need in stack["needs"]:
                self.add(place, need)

    def add(self, place: int, need: str) -> None:
        """A stack needs another one. One that is no part of the run is there already, or the program says otherwise."""
        if need in self._place:
            self._unmet[place] += 1
            self._dependents[self._place[need]].append(place)

    def are_met(self, place: int) -> bool:
        """Waits a stack for no other?"""
        return self._unmet[place] == 0

    def meet(self, place: int) -> bool:
        """One that a stack needed has succeeded; gives whether it waits for no other now."""
        self._unmet[place] -= 1
        return self.are_met(place)

    def dependents(self, place: int) -> Sequence[int]:
        """Those that need a stack."""
        return self._dependents[place]

    def is_behind(self, place: int, other: int, has_ended: Callable[[int], bool]) -> bool:
        """Waits a stack for another one, by way of others that have not ended?"""
        seen: set[int] = set()
        waiting = [*self._dependents[other]]
        while waiting:
            following = waiting.pop()
            if following not in seen and not has_ended(following):
                seen.add(following)
                waiting += self._dependents[following]
        return place in seen
