"""How two bags of properties differ, by path."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple


class Nothing:
    """Stands for a property that is not there."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING: Final = Nothing()


class Difference(NamedTuple):
    """One property that differs."""

    path: str
    expected: Any
    found: Any


def differences(expected: Any, found: Any, ignore: Collection[str] = (), path: str = "") -> list[Difference]:
    """The properties that differ, those within others by their paths; `ignore` has names of whole properties."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        keys = sorted(key for key in {**expected, **found} if path or key not in ignore)
        return [
            line
            for key in keys
            for line in differences(
                expected.get(key, NOTHING), found.get(key, NOTHING), (), f"{path}.{key}" if path else str(key)
            )
        ]
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple) and len(expected) == len(found):
        return [
            line
            for index, (one, other) in enumerate(zip(expected, found, strict=True))
            for line in differences(one, other, (), f"{path}[{index}]")
        ]
    same = expected == found and (isinstance(expected, bool) == isinstance(found, bool))
    return [] if same else [Difference(path, expected, found)]


def without_id(value: Any, id_: str) -> Any:
    """A value with the object's own id replaced in its texts: two objects differ in that."""
    if isinstance(value, str):
        return value.replace(id_, "<id>") if id_ else value
    if isinstance(value, Mapping):
        return {key: without_id(item, id_) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_id(item, id_) for item in value]
    return value


def texts_in(value: Any, path: str = "") -> list[tuple[str, str]]:
    """The texts in a value, with their paths."""
    if isinstance(value, str):
        return [(path, value)]
    if isinstance(value, Mapping):
        return [it for key, item in value.items() for it in texts_in(item, f"{path}.{key}" if path else str(key))]
    if isinstance(value, list | tuple):
        return [it for index, item in enumerate(value) for it in texts_in(item, f"{path}[{index}]")]
    return []
