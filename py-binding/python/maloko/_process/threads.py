"""Threads that a provider method starts know its call: its resource, configuration, stack and log.

Python keeps such things in a context, which a thread does not get from the one that starts it (asyncio.to_thread is
the exception).
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from maloko._current import CURRENT_CALL

OURS = "maloko-"
"""How the names of our own threads begin."""


def start_in_context(original: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    """`Thread.start` that takes the context of a provider call along."""

    def start(self: threading.Thread) -> None:
        if CURRENT_CALL.get() is not None and not self.name.startswith(OURS):
            context, run = contextvars.copy_context(), self.run
            self.run = lambda: context.run(run)  # type: ignore[method-assign]
        original(self)

    return start


def submit_in_context(original: Callable[..., Future[Any]]) -> Callable[..., Future[Any]]:
    """`ThreadPoolExecutor.submit` that takes the context along: the pool's threads may be those of another call."""

    def submit(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return original(self, contextvars.copy_context().run, fn, *args, **kwargs)

    return submit
