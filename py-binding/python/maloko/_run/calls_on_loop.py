"""Calls from other threads onto an event loop, which may end before it begins them."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any

Call = Callable[[], Coroutine[Any, Any, None]]


class CallsOnLoop:
    """The calls that wait for an event loop. Those that it has not begun at its end are handed back: none is lost."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[contextvars.Context, Call]] = {}
        self._number = 0
        self._ended = False

    def begin(self, loop: asyncio.AbstractEventLoop, context: contextvars.Context, call: Call) -> bool:
        """Has the loop begin the call, in that context. False: the loop has ended, and nothing was begun."""
        with self._lock:
            if self._ended:
                return False
            self._number += 1
            number = self._number
            self._waiting[number] = (context, call)
            loop.call_soon_threadsafe(self._begin_now, loop, number, context=context)
            return True

    def _begin_now(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        with self._lock:
            waiting = self._waiting.pop(number, None)
        if waiting is not None:
            loop.create_task(waiting[1]())

    def end(self) -> list[tuple[contextvars.Context, Call]]:
        """The loop runs no longer. Gives the calls that it did not begin; no other call will wait for it."""
        with self._lock:
            self._ended = True
            waiting = list(self._waiting.values())
            self._waiting.clear()
            return waiting
