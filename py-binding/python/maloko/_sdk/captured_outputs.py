"""Outputs that a provider object has captured.

A provider may call `Output.get()` on an Output that it holds: in an attribute, in a variable that a method closes
over, or in a global of its module. Its registration waits for those, so that the value is there when a method asks.
"""

from __future__ import annotations

import sys
from types import CodeType, FunctionType
from typing import Any

_reachable_names: dict[type, tuple[tuple[FunctionType, tuple[str, ...]], ...]] = {}


def captured_outputs(provider: Any) -> tuple[Any, ...]:
    """The Outputs that methods of the object can reach without calling anything, each once."""
    from pulumi import Output

    found: dict[int, Any] = {}

    def look(value: Any, depth: int = 0) -> None:
        if isinstance(value, Output):
            found[id(value)] = value
        elif depth < 3 and type(value) in (list, tuple):
            for item in value:
                look(item, depth + 1)
        elif depth < 3 and type(value) is dict:
            for item in list(value.values()):
                look(item, depth + 1)

    for value in list(getattr(provider, "__dict__", {}).values()):
        look(value)
    for function, names in _functions(type(provider)):
        for cell in function.__closure__ or ():
            try:
                look(cell.cell_contents)
            except ValueError:
                # The variable has no value yet.
                continue
        for name in names:
            value = function.__globals__.get(name)
            if isinstance(value, Output):
                found[id(value)] = value
    return tuple(found.values())


def _functions(kind: type) -> tuple[tuple[FunctionType, tuple[str, ...]], ...]:
    """The user's functions in a class and its bases, each with the global names that it mentions beside `get`."""
    known = _reachable_names.get(kind)
    if known is None:
        functions = []
        for base in kind.__mro__:
            if base is object or base.__module__.partition(".")[0] == "pulumi":
                continue
            for value in list(vars(base).values()):
                function = getattr(value, "__func__", value)
                function = getattr(function, "__wrapped__", function)
                if isinstance(function, FunctionType):
                    names = _names(function.__code__)
                    if "get" in names:
                        functions.append((function, tuple(sorted(names))))
        known = tuple(functions)
        # Classes made in functions would pile up here.
        if kind.__module__ in sys.modules and "<locals>" not in kind.__qualname__:
            _reachable_names[kind] = known
    return known


def _names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names
