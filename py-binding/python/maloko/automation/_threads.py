"""Waiting for work that has a thread of its own: in a call, where an event loop may be running, and in an `await`."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, Protocol, TypeVar

from maloko._process.event_loops import is_loop_running

R = TypeVar("R")
P = ParamSpec("P")


class Cancellable(Protocol):
    """What can be asked to end early."""

    def cancel(self) -> None:
        """Asks it to end; may be called from any thread."""


class Scope:
    """What one `await` has begun, to be cancelled with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._runs: list[Cancellable] = []

    def enter(self, run: Cancellable) -> None:
        """A run begins."""
        with self._lock:
            self._runs.append(run)
            cancelled = self._cancelled
        if cancelled:
            run.cancel()

    def leave(self, run: Cancellable) -> None:
        """A run is over."""
        with self._lock:
            self._runs.remove(run)

    def cancel(self) -> None:
        """Asks everything to end that was begun and will be."""
        with self._lock:
            self._cancelled = True
            runs = list(self._runs)
        for run in runs:
            run.cancel()


SCOPE: contextvars.ContextVar[Scope | None] = contextvars.ContextVar("maloko-automation-scope", default=None)


class _Outcome:
    """The outcome of work on a thread of its own."""

    def __init__(self, work: Callable[[], Any], name: str, done: Callable[[], None] = lambda: None) -> None:
        self._value: Any = None
        self._error: BaseException | None = None
        context = contextvars.copy_context()

        def run() -> None:
            try:
                self._value = context.run(work)
            except BaseException as error:  # raised again where it is waited for
                self._error = error
            finally:
                done()

        self.thread = threading.Thread(target=run, name=name, daemon=True)

    def get(self) -> Any:
        if self._error is None:
            return self._value
        try:
            raise self._error
        finally:
            # No cycle through the frame of the one who raises.
            self._error = None


def where_no_loop_runs(work: Callable[[], R], cancel: Callable[[], None]) -> R:
    """Does work on this thread or, where an event loop is running, on one of its own, and waits for it.

    An exception that arrives meanwhile (Ctrl-C) cancels the work; it is raised when the work has ended.
    """
    if not is_loop_running():
        return work()
    outcome = _Outcome(work, "maloko-program")
    outcome.thread.start()
    interrupted: BaseException | None = None
    while outcome.thread.is_alive():
        try:
            outcome.thread.join()
        except BaseException as error:  # a signal's handler may raise anything
            interrupted = error
            cancel()
    if interrupted is not None:
        raise interrupted
    value: R = outcome.get()
    return value


async def awaited(work: Callable[[], R]) -> R:
    """Does blocking work on a thread of its own while the event loop goes on.

    If the task is cancelled, what the work runs is cancelled with it and ends in order before the task does; a second
    cancellation no longer waits.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    scope = Scope()

    def set_over() -> None:
        if not over.done():
            over.set_result(None)

    def done() -> None:
        # A loop that was closed meanwhile has nobody who waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(set_over)

    token = SCOPE.set(scope)
    try:
        outcome = _Outcome(work, "maloko-await", done)
    finally:
        SCOPE.reset(token)
    outcome.thread.start()
    try:
        await asyncio.shield(over)
    except asyncio.CancelledError:
        scope.cancel()
        await asyncio.shield(over)
        raise
    outcome.thread.join()
    value: R = outcome.get()
    return value


def twin(function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The `await` form of a function or method that blocks."""

    @functools.wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return await awaited(lambda: function(*args, **kwargs))

    call.__name__ = f"{function.__name__}_async"
    call.__qualname__ = f"{function.__qualname__}_async"
    call.__doc__ = f"The same as `{function.__name__}`, to be awaited."
    return call
