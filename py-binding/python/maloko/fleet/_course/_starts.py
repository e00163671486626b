"""How often each stack of a run was begun, and what for."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TypedDict

from maloko.fleet._wire import CourseState


class StartsState(TypedDict):
    """The members of a run's state that tell of the stacks which have not ended."""

    tries: dict[str, int]
    awaits: dict[str, list[str]]
    givenUp: list[str]


class Starts:
    """The starts of all stacks, by their names."""

    def __init__(self, state: CourseState | None) -> None:
        self._tries: dict[str, int] = dict(state["tries"]) if state else {}
        self._awaits: dict[str, list[str]] = dict(state["awaits"]) if state else {}
        self._given_up: set[str] = set(state["givenUp"] if state else ())

    def of(self, name: str) -> int:
        """How many there were."""
        return self._tries.get(name, 0)

    def begin(self, name: str) -> int:
        """A stack begins; gives the number of the start."""
        self._tries[name] = self.of(name) + 1
        return self._tries[name]

    def take_back(self, name: str) -> None:
        """It has not begun after all."""
        self._tries[name] -= 1

    def give_up(self, name: str) -> None:
        """The first start of a stack was given up with its batch."""
        self._given_up.add(name)

    def needs(self, name: str) -> list[str]:
        """Other stacks for which a stack was begun once more, the last one last: it had been begun too early."""
        return self._awaits.get(name, [])

    def was_early_for(self, name: str, other: str) -> None:
        """A stack turned out to need another one."""
        self._awaits[name] = [*self.needs(name), other]

    def failures(self, name: str) -> int:
        """Those that failed, once the last one has ended: all that found no other stack, and were not given up."""
        return self.of(name) - len(self.needs(name)) - (name in self._given_up)

    def early(self) -> Iterable[tuple[str, str]]:
        """The stacks that turned out to need others, each with the last one."""
        return [(name, found[-1]) for name, found in self._awaits.items()]

    def state(self, ended: Container[str]) -> StartsState:
        """What the next history has to know."""
        return {
            "tries": {name: tries for name, tries in self._tries.items() if name not in ended},
            "awaits": {name: found for name, found in self._awaits.items() if name not in ended},
            "givenUp": sorted(name for name in self._given_up if name not in ended),
        }
