"""What is in a world, which the providers of a test talk to: a fake of the service, or a look into the real one."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from maloko._errors import MalokoError

_SHOWN = 10
"""So many objects are named."""


def ids_of(world: Any) -> list[str]:
    """The ids of all that is in a world."""
    objects = getattr(world, "objects", None)
    found = objects() if callable(objects) else world
    if isinstance(found, Iterable) and not isinstance(found, str | bytes):
        return [str(id_) for id_ in found]
    raise MalokoError(
        f"the world {type(world).__qualname__} does not say what is in it: let it have a method objects() that gives "
        "the ids of all objects, as a dict, a set or a list"
    )


def picture_of(world: Any) -> Any:
    """What is in a world, to be compared with what is there later."""
    objects = getattr(world, "objects", None)
    found = objects() if callable(objects) else world
    if isinstance(found, Mapping):
        return {str(id_): copy.deepcopy(found[id_]) for id_ in found}
    return sorted(ids_of(world))


def orphans(world: Any) -> list[str]:
    """What is left in a world after all stacks were torn down, in words."""
    left = ids_of(world)
    if not left:
        return []
    names = ", ".join(repr(item) for item in left[:_SHOWN]) + (
        f" and {len(left) - _SHOWN} more" if left[_SHOWN:] else ""
    )
    return [f"objects that no stack knows of are left in the world: {names}"]
