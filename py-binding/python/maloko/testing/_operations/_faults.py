"""Stubs and faults: what happens in the place of a provider's method, or beside it."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko._providers.methods import METHODS

if TYPE_CHECKING:
    from maloko._run.host import Host

_numbers = itertools.count(1)
NOTHING = object()
"""Says that an argument was not given, where `None` is a value."""


class _Stub:
    """Stands for a provider object in one call: whatever its method is called, it does the same."""

    def __init__(self, act: Callable[..., Any]) -> None:
        # Under a name that is no method's; the object is never stored, so that its attributes say nothing.
        self._act = act

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return self._act
        raise AttributeError(name)


@dataclass
class Fault:
    """A fault that is in force. The calls that it struck are `faulted` in the stack's call log."""

    order: dict[str, Any]
    """What is to happen to which calls, as the engine's orders have it."""
    stub: _Stub | None
    """What is called in the provider's place."""
    number: int = field(default_factory=lambda: next(_numbers))

    def order_for(self, host: Host) -> dict[str, Any]:
        """The fault as an order has it, for a run with this host."""
        order = {"id": self.number, **self.order}
        if self.stub is not None:
            order["object"] = host.registry.number(self.stub)
        return order


def make_fault(
    resource: str | None,
    method: str | None,
    *,
    nth: int | None,
    raises: Any,
    returns: Any,
    after: bool,
    type_: str | None = None,
    provider: str | None = None,
    hang: bool = False,
    delay: float | None = None,
) -> Fault:
    """A fault from its description; raises `MalokoError` for one that makes no sense."""
    if method is not None and method not in METHODS:
        raise MalokoError(f"'{method}' is no method of a provider; those are {', '.join(METHODS)}")
    chosen = [
        name
        for name, given in (
            ("raises", raises is not NOTHING),
            ("returns", returns is not NOTHING),
            ("hang", hang),
            ("delay", delay is not None),
        )
        if given
    ]
    if len(chosen) != 1:
        raise MalokoError(
            f"a fault does one thing, and this one has {' and '.join(chosen) or 'none'}: give one of raises=, "
            "returns=, hang=True, delay=SECONDS"
        )
    if nth is not None and nth < 1:
        raise MalokoError(f"nth={nth} names no call; the first one is nth=1")
    order: dict[str, Any] = {"resource": resource, "method": method, "type": type_, "provider": provider, "nth": nth}
    stub = None
    if hang:
        order["do"] = "hang"
    elif delay is not None:
        order.update(do="delay", seconds=float(delay))
    else:
        order["do"] = "callAfter" if after else "call"
        stub = _Stub(_raising(raises) if raises is not NOTHING else _returning(returns))
    return Fault(order, stub)


def _raising(error: Any) -> Callable[..., Any]:
    is_error = isinstance(error, BaseException) or (isinstance(error, type) and issubclass(error, BaseException))
    if not is_error:
        raise MalokoError(f"raises={error!r} is no exception; give an exception, or the class of one")

    def act(*_arguments: Any) -> Any:
        raise error

    return act


def _returning(value: Any) -> Callable[..., Any]:
    if callable(value):
        function: Callable[..., Any] = value
        return function
    return lambda *_arguments: value


def place_of(method: Any, name: str | None) -> tuple[str, str]:
    """The place of a provider class (`module:Class`) and the method's name, from `P.create`, or from `P` and a name."""
    if inspect.isclass(method):
        if name is None:
            raise MalokoError(
                f"say which method of {method.__qualname__} is stubbed, as in s.stub({method.__qualname__}.create, ...)"
            )
        return f"{method.__module__}:{method.__qualname__}", name
    qualified = getattr(method, "__qualname__", "")
    owner, _, own_name = qualified.rpartition(".")
    bound = getattr(method, "__self__", None)
    if bound is not None:
        owner = type(bound).__qualname__
        return f"{type(bound).__module__}:{owner}", own_name
    if not owner or own_name not in METHODS:
        raise MalokoError(f"{method!r} is no method of a provider; write s.stub(MyProvider.create, ...)")
    return f"{method.__module__}:{owner}", own_name


@contextmanager
def in_force(faults: list[Fault], fault: Fault) -> Iterator[Fault]:
    """Keeps a fault in force; the newest counts first."""
    faults.insert(0, fault)
    try:
        yield fault
    finally:
        faults.remove(fault)
