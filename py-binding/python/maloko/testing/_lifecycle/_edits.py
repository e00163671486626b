"""What an edit makes of a resource's inputs. Drawn on their own, two inputs differ in everything, their names as well;
an edit that changes a name replaces the resource as a rule, and `update` is never seen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

EXTENTS = ("one",) * 6 + ("some",) * 2 + ("any",) + ("all",) * 2
"""How much an edit changes, as often as it is to be drawn: one property, some of them, any one (a name, too), all."""

MOST_PICKS = 2**16 - 1

# `name`, `bucketName`, `user_name`, `hostname`; `id`, `parentId`, `parent_id`; `key`, `slug`.
_NAMES = re.compile(r"([Nn]ame|(^|_)id|[a-z]Id|^key|^slug)$")
_NOTHING = object()


def is_name(key: str) -> bool:
    """Does a property of this name say which object is meant?"""
    return _NAMES.search(key) is not None


def edited(now: Mapping[str, Any], drawn: Mapping[str, Any], extent: str, pick: int) -> dict[str, Any]:
    """The inputs `now` with as many of the drawn properties as the extent says; `pick` says which."""
    keys = _differing(now, drawn)
    if extent == "all" or len(keys) < 2:
        return dict(drawn)
    if extent != "any":
        keys = [key for key in keys if not is_name(key)] or keys
    if extent == "some":
        taken = [key for at, key in enumerate(keys) if pick >> at & 1] or keys
    else:
        taken = [keys[pick % len(keys)]]
    then = {}
    for key in {**now, **drawn}:
        source = drawn if key in taken else now
        if key in source:
            then[key] = source[key]
    return then


def nearest(
    now: Mapping[str, Any], examples: Sequence[Mapping[str, Any]], drawn: Mapping[str, Any], extent: str, pick: int
) -> dict[str, Any]:
    """The same of examples that an author wrote down: they are taken whole. Those come first that keep the names and
    change little."""
    others = [it for it in examples if _differing(now, it)]
    if extent in ("any", "all") or not others:
        return dict(drawn)
    # One property: the nearest; some of them: any that keeps the names, or most of them.
    counted = 2 if extent == "one" else 1
    least = min(_distance(now, it)[:counted] for it in others)
    near = [it for it in others if _distance(now, it)[:counted] == least]
    return dict(near[pick % len(near)])


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in {**one, **other} if one.get(key, _NOTHING) != other.get(key, _NOTHING))


def _distance(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[int, int]:
    keys = _differing(one, other)
    return sum(map(is_name, keys)), len(keys)
