"""How two bags of properties differ, by path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple


class Nothing:
    """Stands for a property that is not there."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING: Final = Nothing()

Same = Callable[[Any, Any], bool]


class Difference(NamedTuple):
    """One property that differs."""

    path: str
    expected: Any
    found: Any


def differences(
    expected: Any, found: Any, ignore: Collection[str] = (), path: str = "", same: Same | None = None
) -> list[Difference]:
    """
    The properties that differ, those within others by their paths; `ignore` has names of whole properties, and `same`
    says of two values whether they are one (without it: whether they are equal).
    """
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        keys = sorted(key for key in {**expected, **found} if path or key not in ignore)
        return [
            line
            for key in keys
            for line in differences(
                expected.get(key, NOTHING), found.get(key, NOTHING), (), f"{path}.{key}" if path else str(key), same
            )
        ]
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple) and len(expected) == len(found):
        return [
            line
            for index, (one, other) in enumerate(zip(expected, found, strict=True))
            for line in differences(one, other, (), f"{path}[{index}]", same)
        ]
    return [] if (same or _equal)(expected, found) else [Difference(path, expected, found)]


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


class Made(NamedTuple):
    """The outputs of an object, and its id."""

    outs: Any
    id: str


def differences_of(expected: Made, found: Made, ignore: Collection[str] = ()) -> list[Difference]:
    """The outputs that differ in two objects, apart from their ids, which are shown as `<id>`."""

    def same(one: Any, other: Any) -> bool:
        if isinstance(one, str) and isinstance(other, str):
            return alike(one, expected.id, other, found.id)
        return _equal(one, other)

    return [
        Difference(path, _without_id(one, expected.id), _without_id(other, found.id))
        for path, one, other in differences(expected.outs, found.outs, ignore, same=same)
    ]


def alike(one: str, id_of_one: str, other: str, id_of_other: str) -> bool:
    """
    Is `other` the text `one`, apart from the ids of the objects that they belong to? An id that stands in a text may be
    meant or be there by chance, as `101` is in the port `41017`: a text may keep it in each place.
    """
    if one == other or not id_of_one or not id_of_other:
        return one == other
    first, *rest = one.split(id_of_one)
    ends = {len(first)} if other.startswith(first) else set()
    for piece in rest:
        begun = {end + len(id_) for end in ends for id_ in (id_of_one, id_of_other) if other.startswith(id_, end)}
        ends = {begin + len(piece) for begin in begun if other.startswith(piece, begin)}
    return len(other) in ends


def _without_id(value: Any, id_: str) -> Any:
    if isinstance(value, str):
        return value.replace(id_, "<id>") if id_ else value
    if isinstance(value, Mapping):
        return {key: _without_id(item, id_) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_id(item, id_) for item in value]
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
