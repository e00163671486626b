"""The methods of a provider that the engine calls."""

from __future__ import annotations

import inspect
from typing import Any

METHODS = ("configure", "check", "diff", "create", "read", "update", "delete", "find", "close")
"""Their names, in the order in which `describe` reports them."""


def methods_of(provider: Any) -> tuple[bool, ...]:
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

    return tuple(counts(method) for method in METHODS)


def has_method(provider: Any, name: str) -> bool:
    """Has it that method, so that the engine calls it?"""
    return methods_of(provider)[METHODS.index(name)]


def _takes(method: Any, number: int) -> bool:
    """Can it be called with so many arguments?"""
    try:
        inspect.signature(method).bind(*[None] * number)
    except (TypeError, ValueError):
        return False
    return True
