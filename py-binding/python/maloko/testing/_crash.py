"""A test that is run again and again, each time cut off at another point."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from maloko._errors import MalokoError
from maloko.testing._judgement import ask
from maloko.testing._kit import Kit
from maloko.testing._operations._outcome import Run

if TYPE_CHECKING:
    from maloko.testing._operations._stack import Stack

KINDS: tuple[str, ...] = tuple(ask("crash_kinds", given=[])["kinds"])
"""What can happen at a point: the process is killed; the call or write fails, and had no effect; it fails, and had its
effect; there is no answer; the disk is full; somebody else takes the stack."""

Test = TypeVar("Test", bound=Callable[..., Any])


@dataclass(frozen=True)
class CrashPoint:
    """Where and how a test is cut off."""

    stack: int
    """The number of the stack among those of the test, from 0."""
    label: str
    """What the point is: `before create of b`, `journal: creating b`, `checkpoint (2)`."""
    kind: str
    """One of `KINDS`."""

    @property
    def id(self) -> str:
        """As `--maloko-crash` takes it: `kill@before create of b`, and for the second stack `kill@2:seal`."""
        stack = f"{self.stack + 1}:" if self.stack else ""
        return f"{self.kind}@{stack}{self.label}"

    @classmethod
    def parse(cls, text: str) -> CrashPoint:
        """The point that `--maloko-crash` names."""
        found = re.fullmatch(r"(\w+)@(?:(\d+):)?(.+)", text)
        if found is None or found[1] not in KINDS:
            raise MalokoError(
                f"--maloko-crash '{text}': a point is written KIND@POINT, as in 'kill@before create of b'; "
                f"kinds: {', '.join(KINDS)}"
            )
        return cls(int(found[2] or 1) - 1, found[3], found[1])


def crash_everywhere(kinds: Sequence[str] = KINDS, *, sample: int | None = None) -> Callable[[Test], Test]:
    """Runs a test once as it is, and then once for each point and kind: each write to the journal, each call of a
    provider on the way there and on the way back. The operation that is cut off is run again, as a user would, and the
    test goes on.

    :param kinds: some of `KINDS`.
    :param sample: so many points at most, evenly spread.
    """
    mistake = ask("crash_kinds", given=list(kinds))["mistake"]
    if mistake is not None:
        raise MalokoError(mistake)

    def mark(test: Test) -> Test:
        import pytest

        return pytest.mark.maloko_crash(kinds=tuple(kinds), sample=sample)(test)  # type: ignore[no-any-return]

    return mark


class CrashKit(Kit):
    """A kit whose stacks crash at one point, or, without one, note the points that there are."""

    def __init__(self, test: str, seed: int, crash: CrashPoint | None) -> None:
        super().__init__(test, seed)
        self.crash = crash
        self.points: list[tuple[int, dict[str, Any]]] = []
        """The number of a stack, and a point of it."""
        self.struck: dict[str, Any] | None = None
        # One call after the other: so the points are the same in every run.
        self.parallel = 1

    def around(self, stack: Stack, verb: str, once: Callable[[dict[str, Any] | None], Run]) -> Run:
        """Crashes where it is to, and then runs the operation again."""
        number = self.stacks.index(stack) if stack in self.stacks else -1
        crash = self.crash
        if crash is None or crash.stack != number or self.struck is not None:
            run = once(None)
            self.points.extend((number, point) for point in run._points)
            return run
        run = once({"label": crash.label, "kind": crash.kind})
        self.points.extend((number, point) for point in run._points)
        if run._struck is None:
            return run
        self.struck = run._struck
        return run if run.outcome == "succeeded" else once(None)

    def close(self, *, keep: bool = False) -> list[str]:
        """Ends the test; a point that was not reached is a problem, too."""
        problems = super().close(keep=keep)
        crash = self.crash
        if crash is not None and self.struck is None and not problems:
            problems.append(
                f"the point '{crash.id}' was not reached: there is none of that name, or the test does not do the same "
                "in every run. Then take what differs out of it: time, randomness, the order in which threads come"
            )
        return problems


def crash_points(
    points: Iterable[tuple[int, dict[str, Any]]], kinds: Sequence[str], sample: int | None
) -> list[CrashPoint]:
    """Every point with every kind that can happen there; of more than `sample` points, that many evenly spread."""
    found = list(points)
    if sample is not None and len(found) > sample > 0:
        found = [found[index * len(found) // sample] for index in range(sample)]
    return [
        CrashPoint(stack, point["label"], kind)
        for stack, point in found
        if stack >= 0
        for kind in kinds
        if kind in point["kinds"]
    ]
