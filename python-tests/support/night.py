"""What is too long for every change: `make nightly` has it (the marker `nightly`)."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Row = TypeVar("Row")


def by_day(rows: Iterable[Row], day: Callable[[Row, int], bool]) -> list[Any]:
    """All rows of a table, of which those that `day` refuses are for the night."""
    return [row if day(row, place) else pytest.param(row, marks=pytest.mark.nightly) for place, row in enumerate(rows)]
