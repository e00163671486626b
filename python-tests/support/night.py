"""What is too long for every change: `make nightly` has it (the marker `nightly`)."""

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Row = TypeVar("Row")

LONG = bool(os.environ.get("MALOKO_LONG"))
"""Is this the night's run?"""


def by_day(rows: Iterable[Row], day: Callable[[Row, int], bool]) -> list[Any]:
    """All rows of a table, of which those that `day` refuses are for the night."""
    return [row if day(row, place) else pytest.param(row, marks=pytest.mark.nightly) for place, row in enumerate(rows)]


def rounds(day: int, night: int) -> int:
    """How many examples a test draws, or how many of a kind it has at once."""
    return night if LONG else day
