"""The methods of a provider that the engine calls."""

from __future__ import annotations

import inspect
import operator
from typing import Any, NamedTuple


class Methods(NamedTuple):
    """Which methods an object has that the engine calls."""

    configure: bool
    check: bool
    diff: bool
    create: bool
    read: bool
    update: bool
    delete: bool
    find: bool
    close: bool


METHODS = Methods._fields
"""Their names."""


class MethodsByClass:
    """The methods of objects, read once for each class: a program may make an object for every resource."""

    def __init__(self) -> None:
        self._known: dict[type, tuple[list[Any], Methods]] = {}

    def of(self, provider: Any) -> Methods:
        """Which methods the object has."""
        kind = type(provider)
        own = getattr(provider, "__dict__", None)
        if own and not own.keys().isdisjoint(METHODS):
            return methods_of(provider)
        found = [getattr(kind, method, None) for method in METHODS]
        known = self._known.get(kind)
        # A class may get another method while the program runs.
        if known is not None and all(map(operator.is_, known[0], found)):
            return known[1]
        methods = methods_of(provider)
        self._known[kind] = (found, methods)
        return methods


def methods_of(provider: Any) -> Methods:
    """Which methods the object really has: those of the SDK's base class do nothing and do not count."""
    from pulumi.dynamic import ResourceProvider

    kind = type(provider)
    own = getattr(provider, "__dict__", {})

    def has(method: str) -> bool:
        found = getattr(kind, method, None)
        if method in own:
            return callable(own[method])
        return found is not None and found is not getattr(ResourceProvider, method, None)

    def counts(method: str) -> bool:
        # These are no methods of the SDK's: a helper of that name may be something else.
        takes = {"find": 2, "close": 0}.get(method)
        return has(method) and (takes is None or _takes(getattr(provider, method), takes))

    return Methods(*(counts(method) for method in METHODS))


def has_method(provider: Any, name: str) -> bool:
    """Has it that method, so that the engine calls it?"""
    return bool(getattr(methods_of(provider), name))


def _takes(method: Any, number: int) -> bool:
    """Can it be called with so many arguments?"""
    try:
        inspect.signature(method).bind(*[None] * number)
    except (TypeError, ValueError):
        return False
    return True
