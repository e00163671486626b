"""What the limits of a run leave room for: in all, and among the stacks with the same value of a label."""

from __future__ import annotations

import heapq

from maloko.fleet._wire import Limits, StackSpec

AT_A_TIME = 200
"""How many stacks are begun at a time where nobody says."""

Group = tuple[str, str]
"""A label and its value."""


class Room:
    """Slots, and the stacks for which another one with the same value of a label has to end.

    Whatever takes a slot counts as one stack.
    """

    def __init__(self, limits: Limits) -> None:
        self._each = limits["each"]
        self._slots = limits["atATime"] or AT_A_TIME
        self._taken = 0
        self._in_group: dict[Group, int] = {}
        self._parked: dict[Group, list[int]] = {}

    @property
    def has_slot(self) -> bool:
        """May one more begin, by the limit for all?"""
        return self._taken < self._slots

    def groups(self, stack: StackSpec) -> list[Group]:
        """The groups of a stack for which there are limits."""
        return [(label, stack["labels"][label]) for label in self._each if label in stack["labels"]]

    def slots_of(self, stack: StackSpec) -> int:
        """How many like this one may go on at a time."""
        return min([self._slots, *(self._each[label] for label, _ in self.groups(stack))])

    def take(self, stack: StackSpec) -> None:
        """A stack begins."""
        self._taken += 1
        for group in self.groups(stack):
            self._in_group[group] = self._in_group.get(group, 0) + 1

    def leave(self, stack: StackSpec) -> list[int]:
        """It has ended; gives the places of parked stacks that may begin in its stead."""
        self._taken -= 1
        for group in self.groups(stack):
            self._in_group[group] -= 1
        return self.drawn_for(stack)

    def park(self, place: int, stack: StackSpec) -> bool:
        """Takes a stack in for which there is no room among those like it; gives whether that is so."""
        full = next((group for group in self.groups(stack) if not self._has_room(group)), None)
        if full is None:
            return False
        heapq.heappush(self._parked.setdefault(full, []), place)
        return True

    def drawn_for(self, stack: StackSpec) -> list[int]:
        """A stack leaves room to others like it: takes out one of each of its groups."""
        groups = [group for group in self.groups(stack) if self._parked.get(group) and self._has_room(group)]
        return [heapq.heappop(self._parked[group]) for group in groups]

    def parked_with(self, stack: StackSpec) -> list[int]:
        """The longest heap of parked places among a stack's groups."""
        return max((self._parked.get(group, []) for group in self.groups(stack)), key=len, default=[])

    def _has_room(self, group: Group) -> bool:
        return self._in_group.get(group, 0) < self._each[group[0]]
