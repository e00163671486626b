"""How often stacks may begin that have the same value of a label."""

from __future__ import annotations

from collections.abc import Iterable

from maloko.fleet._wire import NextStart, StackSpec


class Rates:
    """The turns that the rates of a run have given; times are seconds.

    :param per_second: starts by label
    """

    def __init__(self, per_second: dict[str, float], next_starts: Iterable[NextStart] = ()) -> None:
        self._per_second = per_second
        self._next = {(start["label"], start["value"]): start["at"] for start in next_starts}

    def next_turn(self, stack: StackSpec, now: float) -> float:
        """Takes the next turn for a stack; gives when that is."""
        labels = stack["labels"]
        groups = [(label, labels[label]) for label in self._per_second if label in labels]
        at = max((self._next.get(group, now) for group in groups), default=now)
        for group in groups:
            self._next[group] = max(at, now) + 1 / self._per_second[group[0]]
        return at

    def state(self) -> list[NextStart]:
        """When the next stack of each group may begin."""
        return [{"label": label, "value": value, "at": at} for (label, value), at in self._next.items()]
