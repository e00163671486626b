"""Variables that changed between the making of a resource and the call of its provider.

Pulumi's engine calls a copy of the provider, made when the resource was made. Here the object itself is called, later:
a method that uses the variable of a loop sees the loop's last value, for every resource. That is told.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from maloko._providers.methods import METHODS

_MISSING = object()
_facts: dict[CodeType, _Facts] = {}


class _Facts(NamedTuple):
    """What the code of a function does with names; those of the functions in it included."""

    read: frozenset[str]
    """Global names that it reads."""
    written: frozenset[str]
    """Variables outside of it that it sets."""
    attributes: frozenset[str]
    """Attributes that it sets, of whatever object."""


class CapturedVariable(NamedTuple):
    """One variable that a method uses, as it was when the resource was made."""

    method: str
    kind: str
    name: str
    holder: Any
    value: Any

    def has_changed(self) -> bool:
        """Is it bound to another value of the same kind now?"""
        now = _value_of(self.holder, self.name)
        if now is self.value or type(now) is not type(self.value):
            return False
        try:
            return bool(now != self.value)
        except Exception:  # the comparison of a user's objects may raise anything
            return False


class _Uses(NamedTuple):
    """What the methods of an object use."""

    variables: list[tuple[str, str, Any]]
    """The variables that they read and do not set themselves: method, name, and what holds the value."""
    set_by_methods: frozenset[str]
    """The attributes that they set."""


def _uses_of(functions: list[tuple[str, FunctionType]]) -> _Uses:
    facts = [_facts_of(function.__code__) for _, function in functions]
    written = frozenset[str]().union(*(fact.written for fact in facts))
    variables: list[tuple[str, str, Any]] = []
    for (method, function), fact in zip(functions, facts, strict=True):
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        variables += [(method, name, cell) for name, cell in cells if name not in written]
        variables += [(method, name, function.__globals__) for name in fact.read - written]
    set_by_methods = frozenset[str]().union(
        *(fact.attributes for (method, _), fact in zip(functions, facts, strict=True) if method != "__init__")
    )
    return _Uses(variables, set_by_methods)


def captured_by(provider: Any, known: dict[type, _Uses]) -> list[CapturedVariable]:
    """The variables that the provider's methods use and do not set themselves, and attributes that no method sets.

    :param known: what methods use by class, where no object has functions of its own.
    """
    attributes = getattr(provider, "__dict__", {})
    # Methods of another run may set attributes meanwhile.
    present = list(attributes.items())
    if any(callable(value) for _, value in present):
        uses = _uses_of(list(_functions(provider)))
    else:
        kind = type(provider)
        found_before = known.get(kind)
        uses = known[kind] = _uses_of(list(_functions(provider))) if found_before is None else found_before
    found = []
    for method, name, holder in uses.variables:
        value = _value_of(holder, name)
        if _can_be_a_trap(value):
            found.append(CapturedVariable(method, "variable", name, holder, value))
    for name, value in present:
        if name not in uses.set_by_methods and _can_be_a_trap(value):
            found.append(CapturedVariable("", "attribute", name, attributes, value))
    return found


def _value_of(holder: Any, name: str) -> Any:
    if isinstance(holder, CellType):
        try:
            return holder.cell_contents
        except ValueError:
            # The variable has no value yet, or no longer.
            return _MISSING
    return holder.get(name, _MISSING)


def _can_be_a_trap(value: Any) -> bool:
    # What is filled in later begins as None; what a program defines once is no variable.
    return value is not None and value is not _MISSING and not callable(value) and not isinstance(value, ModuleType)


def _functions(provider: Any) -> Iterator[tuple[str, FunctionType]]:
    seen = set()
    for holder in (getattr(provider, "__dict__", {}), *(vars(base) for base in type(provider).__mro__)):
        if str(holder.get("__module__", "")).partition(".")[0] in ("pulumi", "maloko", "builtins"):
            continue
        for name, value in list(holder.items()):
            function = getattr(value, "__func__", value)
            function = getattr(function, "__wrapped__", function)
            if isinstance(function, FunctionType) and name not in seen:
                seen.add(name)
                yield name, function


def _facts_of(code: CodeType) -> _Facts:
    known = _facts.get(code)
    if known is None:
        read, written, attributes = set(), set(), set()
        for instruction in dis.get_instructions(code):
            name, operation = str(instruction.argval), instruction.opname
            if operation == "LOAD_GLOBAL":
                read.add(name)
            elif operation == "STORE_GLOBAL" or (operation == "STORE_DEREF" and name in code.co_freevars):
                written.add(name)
            elif operation in ("STORE_ATTR", "DELETE_ATTR"):
                attributes.add(name)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                inner = _facts_of(constant)
                read |= inner.read
                written |= inner.written & (set(code.co_freevars) | inner.read | set(code.co_names))
                attributes |= inner.attributes
        known = _facts[code] = _Facts(frozenset(read), frozenset(written), frozenset(attributes))
    return known


class Traps:
    """The variables behind the resources of a run."""

    def __init__(self) -> None:
        self._noted: dict[tuple[str, str], list[CapturedVariable]] = {}
        self._told: set[type] = set()
        self._uses: dict[type, _Uses] = {}

    def note(self, provider: Any, type_token: str, name: str) -> None:
        """Remembers the variables at the making of a resource."""
        if type(provider) not in self._told:
            captured = captured_by(provider, self._uses)
            if captured:
                self._noted[type_token, name] = captured

    def warning(self, provider: Any, urn: str, method: str) -> str | None:
        """What to say of a call, once per class."""
        kind = type(provider)
        if not self._noted or kind in self._told:
            return None
        parts = urn.split("::", 3)
        captured = self._noted.get((parts[2].rpartition("$")[2], parts[3])) if len(parts) == 4 else None
        for one in captured or ():
            if (one.method == method or one.method not in METHODS) and one.has_changed():
                self._told.add(kind)
                user = f"{kind.__qualname__}.{one.method or method}"
                return (
                    f"the {one.kind} '{one.name}', which {user} uses, has changed since this resource was made: the "
                    "method sees the value of now, and so for all resources that share it (a loop is the usual cause). "
                    "Pass it as an input of the resource, or to the provider's constructor. Said once per class"
                )
        return None
