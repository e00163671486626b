"""What a method returned, in words, for the record of an object that was made and cannot be read."""

from __future__ import annotations

import reprlib
import uuid
from typing import Any

_MAX_LENGTH = 4000


class _Describer(reprlib.Repr):
    """Describes values of the language, and of all others only the class: their own code is not run."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 8
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = 50
        self.maxstring = self.maxlong = self.maxother = 500

    def repr_instance(self, x: Any, level: int) -> str:
        """An object of some class; a result of the SDK's, or what looks like one, with its members."""
        kind = type(x)
        if x is None or kind in (bool, float, complex, bytes, type(Ellipsis)):
            return repr(x)[: self.maxother]
        try:
            members = vars(x)
        except TypeError:
            members = {}
        shown = [f"{name}={self.repr1(members[name], level - 1)}" for name in ("id", "outs") if name in members]
        return f"{kind.__qualname__}({', '.join(shown)})" if shown else f"<{kind.__qualname__}>"


def describe(value: object) -> str:
    """The value in a few words."""
    try:
        text = _Describer().repr(value)
    except BaseException as error:  # what a user's object does when it is looked at is nobody's promise
        text = f"<{type(value).__qualname__}, which cannot be shown: {type(error).__qualname__}>"
    return text[:_MAX_LENGTH].encode("utf-8", "backslashreplace").decode("utf-8")


def id_in(result: object) -> str:
    """The id that a result seems to tell, in text; empty when there is none."""
    value: object = None
    try:
        value = result.get("id") if type(result) is dict else getattr(result, "id", None)
    except BaseException:  # see above
        return ""
    if type(value) in (int, str, uuid.UUID):
        text = str(value)[:_MAX_LENGTH]
        return "" if _is_unreadable(text) else text
    return ""


def _is_unreadable(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
