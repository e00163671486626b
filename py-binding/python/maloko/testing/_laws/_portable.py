"""What in a value is not the same in every language and in every state."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

EXACT = 2**53
"""The largest whole number that a float has exactly."""


def odd_in(value: Any, path: str = "", above: tuple[int, ...] = ()) -> list[tuple[str, str]]:
    """What in a value is not portable: path and reason."""
    if isinstance(value, bool | None):
        return []
    if isinstance(value, int):
        return [] if -EXACT <= value <= EXACT else [(path, f"{value}, which no float has exactly")]
    if isinstance(value, float):
        return [] if math.isfinite(value) else [(path, f"{_number(value)}, which JSON does not have")]
    if isinstance(value, str):
        odd = any(0xD800 <= ord(letter) <= 0xDFFF for letter in value)
        return [(path, f"{json.dumps(value)}, which is no valid text (a lone surrogate)")] if odd else []
    if isinstance(value, bytes | bytearray):
        return [(path, f"{value!r}, which are bytes")]
    if not isinstance(value, Mapping | list | tuple):
        return []
    if id(value) in above:
        return [(path, "a value that contains itself")]
    inner = (*above, id(value))
    if isinstance(value, Mapping):
        items = [(f"{path}.{key}" if path else str(key), item) for key, item in value.items()]
    else:
        items = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    return [odd for at, item in items for odd in odd_in(item, at, inner)]


def _number(value: float) -> str:
    """A number that JSON does not have."""
    return "not a number" if math.isnan(value) else "infinity" if value > 0 else "minus infinity"
