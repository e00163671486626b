"""What tests see of property values, and how they match them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The key by which Pulumi's JSON tells a special value from an object."""
SECRET_KIND = "1b47061264138c4ac30d75fd1eb44270"
"""What it says of a secret."""
HIDDEN = "[secret]"
"""Stands in files for what is secret."""
_FLOAT = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c"
_UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


class Mark:
    """A value that has no value of its own: `UNKNOWN`, `SECRET`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name}>"

    def __str__(self) -> str:
        """As the engine's texts show it."""
        return f"[{self._name}]"


UNKNOWN: Final = Mark("unknown")
"""Stands in plans for a value that is not known before it is deployed."""
SECRET: Final = Mark("secret")
"""Stands in plans and calls for a value that is secret."""


class Secret:
    """A secret value among the `inputs` of a stack, or among the `references` to others, as `{"key": Secret("x")}`."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Secret(...)"


def plain_of(value: Any) -> Any:
    """What a `Secret` holds; any other value as it is."""
    return value.value if isinstance(value, Secret) else value


class _Any:
    """Equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "<ANY>"


ANY: Final = _Any()
"""Equals everything."""


class Capture:
    """Equals everything (or everything for which `where` holds), and keeps what it was compared with in `values`."""

    def __init__(self, where: Callable[[Any], bool] | None = None) -> None:
        self.values: list[Any] = []
        self._where = where

    @property
    def value(self) -> Any:
        """The last value. Raises `AssertionError` when there was none."""
        if not self.values:
            raise AssertionError("nothing was captured: the capture was compared with no value")
        return self.values[-1]

    def __eq__(self, other: object) -> bool:
        if self._where is not None and not self._where(other):
            return False
        self.values.append(other)
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<capture {self.values[-1]!r}>" if self.values else "<capture>"


def capture(where: Callable[[Any], bool] | None = None) -> Capture:
    """A matcher that keeps what it matches: `args == {"name": (name := capture())}`, then `name.value`."""
    return Capture(where)


def matches(expected: Any, actual: Any) -> bool:
    """Does a value match? A dict needs its own keys only; lists need equal lengths; a compiled pattern is searched."""
    return not mismatches(expected, actual)


def mismatches(expected: Any, actual: Any, path: str = "") -> list[str]:
    """Where a value does not match, one line each; empty when it does."""
    where = path or "the value"
    if isinstance(expected, re.Pattern):
        found = isinstance(actual, str) and expected.search(actual) is not None
        return [] if found else [f"{where} is {actual!r}, which does not match {expected.pattern!r}"]
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        lines = []
        for key, item in expected.items():
            inner = f"{path}.{key}" if path else str(key)
            if key not in actual:
                lines.append(f"{inner} is missing; there are {', '.join(map(str, actual)) or 'no keys'}")
            else:
                lines.extend(mismatches(item, actual[key], inner))
        return lines
    if _is_list(expected) and _is_list(actual):
        if len(expected) != len(actual):
            return [f"{where} has {len(actual)} items, not {len(expected)}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [line for index, (a, b) in pairs for line in mismatches(a, b, f"{path}[{index}]")]
    return [] if expected == actual else [f"{where} is {actual!r}, not {expected!r}"]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def decode(value: Any) -> Any:
    """A value of a report (JSON) as tests see it."""
    if isinstance(value, str):
        return UNKNOWN if value == _UNKNOWN else value
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        kind = value.get(SIGNATURE)
        if kind == SECRET_KIND:
            return SECRET
        if kind == _FLOAT:
            return float(value["value"])
        return {key: decode(item) for key, item in value.items()}
    return value


def encode(value: Any) -> Any:
    """A value of a test's as JSON of an order; `Secret` is a secret."""
    if isinstance(value, Secret):
        return {SIGNATURE: SECRET_KIND, "value": encode(value.value)}
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if _is_list(value):
        return [encode(item) for item in value]
    return value


def plain_json(value: Any) -> Any:
    """A value as JSON has it; what JSON has not is shown as Python does, and marks as the engine's texts show them."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if _is_list(value):
        return [plain_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def text_of(value: Any) -> str:
    """A value of the configuration, as programs and providers get it."""
    return value if isinstance(value, str) else json.dumps(value)
