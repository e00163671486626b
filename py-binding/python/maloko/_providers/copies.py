"""An object of its own for a run whose provider object is in use by another run at the same time."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import json
import logging
import re
import threading
import types
import uuid
from pathlib import PurePath
from typing import Any

from maloko._errors import MalokoError
from maloko._providers import registered
from maloko._providers.attributes import StoredAttributes, has_own_state
from maloko._providers.configured_outside import set_outside
from maloko._providers.constructors import assigns_functions, is_made_by_constructor

_LOCKS = (
    type(threading.Lock()),
    type(threading.RLock()),
    threading.Condition,
    threading.Semaphore,
    threading.Event,
    threading.Barrier,
)
"""What code that runs at the same time is to have in common."""

_VALUES = (
    *(
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        range,
        slice,
        type,
        types.ModuleType,
        logging.Logger,
        re.Pattern,
    ),
    *(enum.Enum, decimal.Decimal, fractions.Fraction, uuid.UUID, PurePath, types.BuiltinFunctionType),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
)
"""What nothing can be set in, or what belongs to the process anyhow."""


class User(enum.Enum):
    """Who has an object: how a message names it, who else cannot have it, and what is to have one of its own."""

    RUN = ("another run is using", "this run", "stack")
    ABANDONED = ("a method that an earlier run has given up still runs on", "this run", "stack")
    CONFIGURATION = ("the inputs of another provider configure", "this resource's provider", "explicit provider")


class ProviderInUse(MalokoError):  # noqa: N818 it is what is wrong with the object
    """A provider object is in use by another run, and this one cannot have one of its own."""

    @classmethod
    def of(cls, provider: Any, reason: str, who: User) -> ProviderInUse:
        """What is said to the user."""
        user, other, each = who.value
        return cls(
            f"{user} this object of {type(provider).__qualname__}, and {other} cannot have one of its own: {reason}.\n"
            f"Ways out: make and set it in `configure`, on `self`; give each {each} a provider object of its own; or "
            "register what makes one (maloko.register_provider)"
        )


def factory_made(provider: Any, taken: StoredAttributes) -> Any:
    """What the factory makes that is registered by hand for the object's class; `None` without one."""
    kind = type(provider)
    factory = registered.factory_of(kind.__module__, kind.__qualname__)
    if factory is None:
        return None
    return registered.make(factory, kind.__module__, kind.__qualname__, json.loads(taken[0] or "{}"))


def copy_for_run(provider: Any, values: dict[str, Any], contents: dict[str, Any]) -> Any:
    """An object of the same class, made without the constructor unless that makes its methods, with the attributes that
    the first one had before its first `configure`. Raises `ProviderInUse` with the reason why there can be none.

    :param values: the attributes.
    :param contents: what the plain lists and dicts among them held.
    """
    outside = set_outside(provider, values)
    if outside is not None:
        raise ProviderInUse(f"its `configure` sets {outside}, which all runs have in common")
    if has_own_state(provider):
        raise ProviderInUse("its class has a `__getstate__`, so that only it knows what it consists of")
    kind = type(provider)
    new: Any = kind.__new__
    try:
        copied = kind() if assigns_functions(kind) else new(kind)
    except TypeError as error:
        raise ProviderInUse(f"an object of it cannot be made without its constructor ({error})") from None
    for name, value in values.items():
        if is_made_by_constructor(provider, name, value):
            continue
        own = contents.get(name, value)
        problem = _problem(own, provider, 0)
        if problem is not None:
            raise ProviderInUse(f"its attribute '{name}' {problem}")
        object.__setattr__(copied, name, copy_of(own))
    return copied


def _problem(value: Any, provider: Any, depth: int, holder: type | None = None) -> str | None:
    """Why a value cannot be another object's, too; `None` when it can.

    :param holder: of what the value is a part that is not copied, so that all that is in it is had in common.
    """
    if value is provider:
        return "is the object itself"
    if isinstance(value, (*_VALUES, *_LOCKS)):
        return None
    if isinstance(value, types.MethodType):
        return "is a method of an object, which would go on using that one"
    if isinstance(value, types.FunctionType):
        cells = [cell for cell in value.__closure__ or () if _holds(cell, provider)]
        return "is a function that uses the object in which it was made" if cells else None
    if isinstance(value, functools.partial):
        parts: list[Any] = [value.func, *value.args, *value.keywords.values()]
        holder = functools.partial
    elif type(value) in (list, set, dict) and holder is not None:
        what = f"{type(value).__qualname__} inside of a {holder.__qualname__}"
        return f"holds a {what} that was made before `configure`, which both runs would change"
    elif type(value) in (list, tuple, set, frozenset):
        parts = list(value)
    elif type(value) is dict:
        parts = [*value.keys(), *value.values()]
    elif dataclasses.is_dataclass(value) and _is_frozen(type(value)):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
        holder = type(value)
    elif isinstance(value, tuple):
        parts = list(value)
        holder = type(value)
    else:
        return f"holds a {type(value).__qualname__} that was made before `configure`, which both runs would change"
    if depth > 50:
        return "is nested too deeply, or contains itself"
    problems = (_problem(part, provider, depth + 1, holder) for part in parts)
    return next((problem for problem in problems if problem is not None), None)


def _is_frozen(kind: Any) -> bool:
    return bool(kind.__dataclass_params__.frozen)


def _holds(cell: types.CellType, provider: Any) -> bool:
    try:
        held = cell.cell_contents
    except ValueError:  # empty
        return False
    return held is provider or getattr(held, "__self__", None) is provider


def copy_of(value: Any) -> Any:
    """The value for another object: containers are its own, what is in them may be had in common.

    A method on another thread may change a container meanwhile: the copy has it as it was before or after that.
    """
    if type(value) in (list, set, tuple):
        return type(value)([copy_of(item) for item in list(value)])
    if type(value) is dict:
        return {key: copy_of(item) for key, item in list(value.items())}
    return value
