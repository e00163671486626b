"""Exceptions that users meet."""

from __future__ import annotations

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
