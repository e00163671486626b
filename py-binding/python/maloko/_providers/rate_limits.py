"""How often the objects of a provider class may be called, as the class declares it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Limits(NamedTuple):
    """How often the objects of a class may be called; they share it."""

    class_name: str
    """The class that declares it, as `module:QualifiedName`."""
    max_concurrency: int | None
    """How many calls run at a time."""
    min_interval: float
    """Seconds from one call to the next."""


def limits_of(provider: Any) -> Limits | None:
    """What the object's class declares."""
    kind = type(provider)
    at_a_time: Any = getattr(kind, "max_concurrency", None)
    interval: Any = getattr(kind, "min_interval", None)
    if at_a_time is None and interval is None:
        return None
    if at_a_time is not None and (type(at_a_time) is not int or at_a_time < 1):
        raise TypeError(
            f"max_concurrency of {kind.__qualname__} is {at_a_time!r}; it must be a whole number above 0: so many "
            "calls of its objects run at a time"
        )
    is_number = type(interval) in (int, float) and math.isfinite(interval) and interval >= 0
    if interval is not None and not is_number:
        raise TypeError(
            f"min_interval of {kind.__qualname__} is {interval!r}; it must be a number of seconds, such as 0.5"
        )
    # Subclasses that inherit a limit share it: it is most likely that of one service.
    owner = next(base for base in kind.__mro__ if {"max_concurrency", "min_interval"} & vars(base).keys())
    name = f"{owner.__module__}:{owner.__qualname__}"
    return Limits(name, at_a_time, float(interval or 0))
