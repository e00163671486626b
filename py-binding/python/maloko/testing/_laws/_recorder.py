"""Listens to the calls of a provider object, with the very objects that its methods returned."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from maloko._providers.methods import has_method

METHODS = ("configure", "check", "diff", "create", "read", "update", "delete", "close")


@dataclass
class ObservedCall:
    """A call, as the provider saw it."""

    method: str
    result: Any = None
    error: BaseException | None = None
    requests: int = 0
    """How many requests the world counted meanwhile."""


@dataclass
class Recorder:
    """What was heard of one provider object."""

    calls: list[ObservedCall] = field(default_factory=list)
    entering: Callable[[str], Any] | None = None
    """Called with the method's name before a method runs, on its thread or loop."""

    requests: Callable[[], int] = lambda: 0
    """How many requests the world has counted."""

    def of(self, method: str) -> list[ObservedCall]:
        """The calls of a method."""
        return [call for call in self.calls if call.method == method]

    def listen(self, provider: Any) -> Any:
        """Has a provider's calls recorded. Its class becomes one that derives from its own."""
        kind = type(provider)
        methods = {name: self._heard(kind, name) for name in METHODS if defines(kind, name)}
        if not has_method(provider, "close"):
            methods.pop("close", None)
        made = type(kind.__name__, (kind,), {**methods, "__module__": kind.__module__})
        made.__qualname__ = kind.__qualname__
        with suppress(TypeError):  # an object with slots, or of an extension: it works, and is not listened to
            provider.__class__ = made
        return provider

    @contextmanager
    def _hearing(self, name: str) -> Iterator[ObservedCall]:
        """Notes a call for as long as it lasts."""
        heard = ObservedCall(name)
        self.calls.append(heard)
        before = self.requests()
        try:
            with _planning(name):
                if self.entering is not None:
                    self.entering(name)
                yield heard
        except BaseException as error:
            heard.error = error
            raise
        finally:
            heard.requests = self.requests() - before

    def _heard(self, kind: type, name: str) -> Any:
        original = getattr(kind, name)

        async def waited(provider: Any, *arguments: Any) -> Any:
            with self._hearing(name) as heard:
                heard.result = await original(provider, *arguments)
                return heard.result

        def called(provider: Any, *arguments: Any) -> Any:
            with self._hearing(name) as heard:
                heard.result = original(provider, *arguments)
                return heard.result

        return waited if inspect.iscoroutinefunction(original) else called


def defines(kind: type, method: str) -> bool:
    """Does a provider class have the method of its own, rather than what the SDK falls back to?"""
    from pulumi.dynamic import ResourceProvider

    found = getattr(kind, method, None)
    return found is not None and found is not getattr(ResourceProvider, method, None)


_PLANNING: contextvars.ContextVar[str] = contextvars.ContextVar("maloko_planning", default="")


@contextmanager
def _planning(method: str) -> Iterator[None]:
    token = _PLANNING.set(method if method in ("check", "diff") else "")
    try:
        yield
    finally:
        _PLANNING.reset(token)


@contextmanager
def sockets_watched() -> Iterator[list[tuple[str, str]]]:
    """Notes every address to which `check` or `diff` opens a connection, and refuses it."""
    touched: list[tuple[str, str]] = []
    own = {name: socket.socket.__dict__.get(name) for name in ("connect", "connect_ex", "sendto")}
    looked_up = socket.getaddrinfo

    def guarded(name: str) -> Any:
        original = getattr(socket.socket, name)

        def guard(self: socket.socket, *arguments: Any) -> Any:
            method = _PLANNING.get()
            # A pair of sockets in the process is what event loops wake themselves with.
            if method and self.family in (socket.AF_INET, socket.AF_INET6):
                touched.append((method, f"a connection to {arguments[-1]!r}"))
                raise ConnectionRefusedError(f"{method} must not touch the network (maloko's law 10)")
            return original(self, *arguments)

        return guard

    def look_up(*arguments: Any, **named: Any) -> Any:
        method = _PLANNING.get()
        if method:
            touched.append((method, f"the address of the host {arguments[0]!r}"))
            raise socket.gaierror(f"{method} must not touch the network (maloko's law 10)")
        return looked_up(*arguments, **named)

    for name in own:
        setattr(socket.socket, name, guarded(name))
    socket.getaddrinfo = look_up
    try:
        yield touched
    finally:
        socket.getaddrinfo = looked_up
        for name, original in own.items():
            if original is None:
                delattr(socket.socket, name)
            else:
                setattr(socket.socket, name, original)


def is_async(provider: Any, method: str) -> bool:
    """Is a method of a provider to be awaited?"""
    return asyncio.iscoroutinefunction(getattr(type(provider), method, None))
