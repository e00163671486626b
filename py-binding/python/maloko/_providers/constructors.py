"""Providers whose constructor assigns their methods (`self.create = create`).

Functions cannot be stored, but a constructor without parameters makes them again.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, MethodType
from typing import Any

from maloko._providers.methods import METHODS


def is_made_by_constructor(provider: Any, name: str, value: Any) -> bool:
    """Is what an object has under a name a function that its constructor makes, whoever calls it?"""
    kind = type(provider)
    if not isinstance(value, (FunctionType, MethodType)) or not assigns_functions(kind):
        return False
    if not any(name in _stored(init.__code__) for init in _inits(kind)):
        return False
    if isinstance(value, MethodType):
        return name in METHODS and value.__self__ is provider
    return any(value.__code__ in _functions_in(init.__code__) for init in _inits(kind))


def assigns_functions(kind: type) -> bool:
    """Does a class make functions of its objects in a constructor that takes no arguments?"""
    inits = list(_inits(kind))
    own = next((base.__dict__["__init__"] for base in kind.__mro__ if "__init__" in base.__dict__), None)
    if not isinstance(own, FunctionType):
        return False
    code = own.__code__
    takes = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return takes == 1 and any(_stored(it.__code__).intersection(METHODS) or _functions_in(it.__code__) for it in inits)


def _inits(kind: type) -> Iterator[FunctionType]:
    for base in kind.__mro__:
        init = base.__dict__.get("__init__")
        if isinstance(init, FunctionType):
            yield init


@lru_cache(maxsize=1000)
def _stored(code: CodeType) -> frozenset[str]:
    """The names of attributes to which a function assigns."""
    return frozenset(step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR")


@lru_cache(maxsize=1000)
def _functions_in(code: CodeType) -> frozenset[CodeType]:
    """The functions that are written inside of a function."""
    inner = [it for it in code.co_consts if isinstance(it, CodeType)]
    named = {it for it in inner if it.co_name == "<lambda>" or not it.co_name.startswith("<")}
    return frozenset(named.union(*(_functions_in(it) for it in inner)))
