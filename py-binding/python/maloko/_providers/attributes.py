"""The attributes of a provider object, as they stand for it in the state."""

from __future__ import annotations

import json
from typing import Any

from maloko._providers.constructors import is_made_by_constructor

MAX_ATTRIBUTES = 64 * 1024
"""Bytes of JSON that the attributes of one provider may take in the state."""

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

StoredAttributes = tuple[str | None, str | None]
"""The attributes that stand for an object in the state (JSON), and why those are not all of them."""


def has_own_state(provider: Any) -> bool:
    """Does its class say itself what it consists of?"""
    custom = getattr(type(provider), "__getstate__", None)
    return custom is not None and custom is not getattr(object, "__getstate__", None)


def values_of(provider: Any) -> dict[str, Any]:
    """The attributes of the object itself, with those in slots."""
    values = dict(getattr(provider, "__dict__", {}))
    for kind in type(provider).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and hasattr(provider, slot):
                values[slot] = getattr(provider, slot)
    return values


def attributes_of(provider: Any) -> StoredAttributes:
    """The attributes that can be kept as canonical JSON, and why that is not all of them."""
    if not has_own_state(provider):
        return kept_of(provider, values_of(provider))
    attributes = provider.__getstate__()
    if not isinstance(attributes, dict):
        return None, "its __getstate__ does not return a dict"
    return _kept(provider, attributes)


def kept_of(provider: Any, values: dict[str, Any]) -> StoredAttributes:
    """Those of an object's attributes that can be kept as canonical JSON, and why that is not all of them."""
    # The version is kept by itself, because it says nothing about the one object.
    return _kept(provider, {name: value for name, value in values.items() if name != "provider_version"})


def _kept(provider: Any, attributes: dict[str, Any]) -> StoredAttributes:
    if not attributes:
        return "{}", None
    attributes = {name: it for name, it in attributes.items() if not is_made_by_constructor(provider, name, it)}
    problems = {name: problem for name, value in attributes.items() if (problem := not_plain(value, 0)) is not None}
    kept = {name: value for name, value in attributes.items() if name not in problems}
    text = _canonical(kept)
    size = len(text)
    if size > MAX_ATTRIBUTES:
        return None, f"its attributes take {size} bytes in the state; at most {MAX_ATTRIBUTES} are kept"
    reason = next((f"its attribute '{name}' {problem}" for name, problem in problems.items()), None)
    return text, reason


def not_plain(value: Any, depth: int) -> str | None:
    """Why a value is not plain data; `None` when it is."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return None
    if kind is float:
        return None if value == value and abs(value) != float("inf") else "is not a finite number"
    if depth > 50:
        return "is nested too deeply, or contains itself"
    if kind in (list, tuple):
        return next((problem for item in value if (problem := not_plain(item, depth + 1))), None)
    if kind is dict:
        # A method on another thread may change it meanwhile.
        for key, item in list(value.items()):
            if type(key) is not str:
                return f"has a key that is not a text ({key!r})"
            problem = not_plain(item, depth + 1)
            if problem is not None:
                return problem
        return None
    return f"is (or holds) a {kind.__qualname__}, which cannot be kept in the state"
