"""What the laws hand to the engine's side, which has the words for both languages (`engine-kit/src/laws`)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from maloko._maloko import law_text


def text_of(law: str, title: str, provider: str, outcome: str, found: Mapping[str, Any]) -> str:
    """A result in words."""
    return law_text(law, title, provider, json.dumps({"outcome": outcome, **plain(found)}))


def error_text(error: BaseException | None) -> str:
    """An error as sentences have it."""
    return f"{type(error).__name__}: {error}"


def error_without_secrets(error: BaseException | None, hide: Callable[[str], str]) -> BaseException | None:
    """An error without what is secret: itself, or one that says and shows the same without it.

    :param hide: takes what is secret out of a text.
    """
    if error is None or hide(f"{error} {error!r}") == f"{error} {error!r}":
        return error
    kind = type(type(error).__name__, (Exception,), {"__module__": type(error).__module__})
    copy: BaseException = kind(hide(str(error)))
    return copy.with_traceback(error.__traceback__)


def plain(value: Any) -> Any:
    """A value as JSON has it; what JSON has not is shown as Python does."""
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, str) and not any(0xD800 <= ord(letter) <= 0xDFFF for letter in value):
        return value
    return repr(value)
