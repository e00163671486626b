"""How far an operation has come, in numbers that the engine counts itself: no event is made for them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

EVERY = 2.5
"""So many seconds after a report comes the next one, where nobody says otherwise."""


class SlowCall(NamedTuple):
    """A provider call that goes on."""

    urn: str
    """The resource."""
    method: str
    """The method, such as `create`."""
    seconds: float
    """How long it has gone on."""


class Progress(NamedTuple):
    """How far an operation has come."""

    done: int
    """Steps that are done, as the summary counts them."""
    total: int
    """The steps that are known so far: of `up` and `preview` more with each resource that the program registers, of
    `refresh` and `destroy` those of the state."""
    failed: int
    """Resources that failed or were refused."""
    reports: int
    """A number that is higher in each report of the operation."""
    slowest: tuple[SlowCall, ...]
    """Up to three provider calls that have gone on for the longest time, the longest first."""


OnProgress: TypeAlias = Callable[[Progress], Any]
"""Takes reports of progress."""


def progress_of(text: str) -> Progress:
    """What the engine tells (JSON), as an object."""
    told = json.loads(text)
    slowest = tuple(SlowCall(*call) for call in told["slowest"])
    return Progress(told["done"], told["total"], told["failed"], told["reports"], slowest)


def interval(every: float) -> float:
    """The seconds between two reports.

    :raises ValueError: when they are no time that can pass
    """
    if not 0 < every < math.inf:
        raise ValueError(f"progress_every is {every!r}; it must be a number of seconds above 0, such as {EVERY}")
    return float(every)
