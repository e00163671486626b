"""What a program says about providers that cannot be found again by the state alone (step 3 of the lookup)."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable
from types import CoroutineType
from typing import Any

from maloko._errors import MalokoError

Factory = Callable[[dict[str, Any]], Any]

_factories: dict[str, Factory] = {}
_successors: dict[str, tuple[str, str]] = {}
_of_run: contextvars.ContextVar[dict[str, Factory] | None] = contextvars.ContextVar("maloko_by_hand", default=None)
"""What this run's own program has registered: its factories may hold what only this run may use."""


def register_provider(key: type | str, factory: Factory | None = None, *, formerly: str | Iterable[str] = ()) -> None:
    """Says where the provider comes from of a resource that the program does not make any more.

    With a factory: for objects that cannot be rebuilt from the state alone, because the class is local to a function or
    holds what is not plain data (a client, a lock). With `formerly`: for a class that was renamed or moved, while the
    state still names it as it was.

    :param key: the provider class, or `"module:QualifiedName"` as messages name it; the bare name means a class of that
        name in any module.
    :param factory: called with those of the stored attributes that could be kept; returns the object, which is then
        configured like any other.
    :param formerly: what the class was called: `"old_module:OldName"`, or the bare old name; one text or several.
    :raises TypeError: when an argument is of another kind.
    :raises MalokoError: when neither a factory nor `formerly` is given, or a bare name has a former one.
    """
    if isinstance(key, type):
        place = _place(key.__module__, key.__qualname__)
    elif isinstance(key, str) and key:
        place = key
    else:
        raise TypeError(
            f"the key of register_provider is {key!r}; it must be the provider's class or a text such as 'module:Name'"
        )
    if factory is not None and not callable(factory):
        raise TypeError(f"the factory that is registered for '{place}' is {factory!r}; it must be a function")
    names = [formerly] if isinstance(formerly, str) else list(formerly)
    if factory is None and not names:
        raise MalokoError(
            f"register_provider says nothing about '{place}': pass a function that makes the object, or what the class "
            "was called (formerly='old_module:OldName')"
        )
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"formerly of '{place}' is {name!r}; it must be a text such as 'old_module:OldName'")
        module, separator, qualified = place.partition(":")
        if not separator:
            raise MalokoError(
                f"'{place}' was formerly '{name}', but in which module is it now? Pass the class itself, or "
                f"'module:{place}'"
            )
        _successors[name] = (module, qualified)
    if factory is not None:
        _factories[place] = factory
        own = _of_run.get()
        if own is not None:
            own[place] = factory


def begin_run() -> None:
    """From here on this context is a run's: what is registered in it comes before what other runs have registered."""
    _of_run.set({})


def lend(provider: object) -> None:
    """For the run of this context: a resource of the object's class that the program does not make any more has this
    object."""
    own = _of_run.get()
    if own is not None:
        own[_place(type(provider).__module__, type(provider).__qualname__)] = lambda _attributes: provider


def forget() -> None:
    """Forgets all that was registered, for tests that run programs one after the other in one process."""
    _factories.clear()
    _successors.clear()


def factory_of(module: str, name: str) -> Factory | None:
    """What makes objects of a class, for the run of this context."""
    own = _of_run.get() or {}
    key = _place(module, name)
    return own.get(key) or own.get(name) or _factories.get(key) or _factories.get(name)


def today(module: str, name: str) -> tuple[str, str]:
    """Module and name that a class has today, which the state knows by these."""
    seen = {(module, name)}
    while True:
        successor = _successors.get(_place(module, name)) or _successors.get(name)
        if successor is None or successor in seen:
            return module, name
        seen.add(successor)
        module, name = successor


def make(factory: Factory, module: str, name: str, attributes: dict[str, Any]) -> Any:
    """Calls a factory, and looks at what it returns."""
    provider = factory(attributes)
    if isinstance(provider, CoroutineType):
        provider.close()
        provider = "a coroutine"
    elif provider is not None and not isinstance(provider, (str, type)):
        return provider
    raise MalokoError(
        f"the factory registered for '{_place(module, name)}' returned {provider!r}; it must return a provider object"
    )


def _place(module: str, name: str) -> str:
    return f"{module}:{name}"
