"""Exceptions that users meet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


class MalokoError(Exception):
    """Something that maloko refuses or could not do; the message says what to do about it."""


class PartialFailure(Exception):  # noqa: N818 it is no error to have an object, even one that did not start
    """Raised by `create`, `update` or `read` when the object exists but is not as it should be.

    The engine keeps the id and the outputs, so that the object is neither lost nor made twice; the next `up` updates
    it.
    """

    def __init__(self, id_: str, outs: Mapping[str, Any] | Any = None, reasons: Sequence[str] = ()) -> None:
        """
        :param id_: the object's id; not looked at after an update.
        :param outs: its outputs so far; of a `TypedProvider` also an object of its class.
        :param reasons: why it did not start, one sentence each.
        """
        super().__init__("; ".join(reasons) or "the resource did not start")
        self.id = id_
        self.outs: Any = dict(outs or {}) if outs is None or isinstance(outs, Mapping) else outs
        self.reasons = list(reasons)


class TryLater(Exception):  # noqa: N818 it is what to do, and no fault of anybody's
    """Raised by a provider's method when the service says "not now", as with HTTP 429.

    The method fails, and whoever runs the operation learns how long to wait before it is run again: `retry_after` of
    the automation API's errors.
    """

    def __init__(self, seconds: float | str, message: str = "") -> None:
        """
        :param seconds: how long to wait; also the text of a `Retry-After` header that has a number. What is negative
            counts as 0.
        :param message: what the service said.
        """
        number = float(seconds)
        self.seconds: float = number if 0 < number < math.inf else 0.0
        super().__init__(message or f"the service asks to be tried again in {self.seconds:g} s")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.seconds, str(self))
